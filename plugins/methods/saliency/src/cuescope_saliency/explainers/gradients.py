"""Explainers that weigh features by gradients: Grad-CAM and Grad-ECLIP."""

from functools import partial

import torch
from jaxtyping import Float
from torch import Tensor
from torch.nn.functional import normalize

from cuescope_saliency.explainers.tracing import (
    AttentionCall,
    Case,
    as_single_head,
    differentiate,
    heads_gradient,
    heads_of,
    join,
    single_head,
    weights_gradient,
)

PerToken = Float[Tensor, "token dim"]


def grad_cam(case: Case) -> Tensor:
    """Grad-CAM (Selvaraju et al., 2017) on the normed tokens that enter the last attention.

    Behind that attention the patches of a class-token model have no gradient, so these are the
    last features that the embedding still depends on.
    """
    score, [call] = differentiate(case, case.last_blocks(1))
    [gradient] = torch.autograd.grad(score, call.input)
    # A mean of half-precision gradients loses digits, hence float32 first.
    channels = gradient[0, case.patches].float().mean(dim=0)
    values = call.input[0, case.patches].float() @ channels
    return case.patch_map(values.relu())


def grad_eclip(case: Case, *, loosened: bool = True) -> Tensor:
    """Grad-ECLIP (Zhao et al., 2024): relu of gradient . value, times the loosened attention.

    The gradient is that of the attention's answer to the class token; the value is the patch's.
    Lambda is the cosine of the class token's query with the patch's key, rescaled to [0, 1]. The
    published code runs the last attention as a single head, and compares queries and keys behind
    its output projection; with `form` "stock" the heads are the model's own, side by side. With
    another pooling the answers to all patches have a gradient: the maps of all are summed. Without
    lambda (`loosened` is False) all patches count alike.
    """
    published = case.settings.form == "published"
    replace = partial(as_single_head, tokens=case.tokens) if published else None
    # as published: the last attention alone
    blocks = case.last_blocks(case.settings.layers or 1)
    score, calls = differentiate(case, blocks, replace)
    gradients = torch.autograd.grad(score, [call.output for call in calls])
    rows = case.embedding_tokens
    maps = []
    for call, gradient in zip(calls, gradients, strict=True):
        heads = heads_of(call.block, call.input.detach(), case.tokens)
        if published:
            heads = single_head(heads)
        answers = heads_gradient(call.block, gradient, heads)
        # Heads are summed before the relu: what one head says for the text another may deny.
        importance = weights_gradient(answers, heads).sum(dim=0)[rows, case.patches]
        if loosened:
            queries = join(heads.queries)
            keys = join(heads.keys)
            if published:
                # the scale is taken off again: the published code projects queries unscaled
                queries = _project_again(call, queries * queries.shape[-1] ** 0.5)
                keys = _project_again(call, keys)
            attention = loosened_attention(queries, keys[case.patches])
            importance = importance * attention[rows]
        maps.append(importance.relu().sum(dim=0))
    return case.patch_map(torch.stack(maps).sum(dim=0))


def _project_again(call: AttentionCall, rows: PerToken) -> PerToken:
    """What the attention's output projection makes of the queries or keys of a single head."""
    return rows @ call.block.out_weight().float().T + call.bias


def loosened_attention(
    queries: PerToken, keys: Float[Tensor, "patch dim"]
) -> Float[Tensor, "token patch"]:
    """Cosine of query and key over all heads, to [0, 1] by each query's lowest and highest.

    1 for a query to which all patches are equally like.
    """
    # Cosines of the joined heads: softmax weights would leave nothing but the strongest patch.
    unit_keys = normalize(keys, dim=-1)
    cosine = normalize(queries, dim=-1) @ unit_keys.T
    low = cosine.amin(dim=-1, keepdim=True)
    high = cosine.amax(dim=-1, keepdim=True)
    # equal patches would be 0 / 0
    return torch.where(high > low, (cosine - low) / (high - low), 1.0)
