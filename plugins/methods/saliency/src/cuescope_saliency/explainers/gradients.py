"""Explainers that weigh features by gradients: Grad-CAM and Grad-ECLIP."""

from functools import partial

import torch
from jaxtyping import Float
from torch import Tensor
from torch.nn.functional import normalize

from cuescope_saliency.explainers.tracing import (
    AttentionCall,
    Heads,
    Texts,
    as_single_head,
    count_tokens,
    differentiate,
    embedding_tokens,
    heads_gradient,
    heads_of,
    last_blocks,
    single_head,
    weights_gradient,
)
from cuescope_saliency.options import Settings
from cuescope_sdk.torch import ImageTower, Inputs


def grad_cam(tower: ImageTower, inputs: Inputs, texts: Texts, settings: Settings) -> Tensor:
    """Grad-CAM (Selvaraju et al., 2017) on the normed tokens that enter the last attention.

    Behind that attention the patches of a class-token model have no gradient, so these are the
    last features that the embedding still depends on.
    """
    score, (call,) = differentiate(tower, inputs, texts.row, last_blocks(tower, 1))
    (gradient,) = torch.autograd.grad(score, call.input)
    patches = slice(tower.prefix, count_tokens(tower, inputs))
    # A mean of half-precision gradients loses digits, hence float32 first.
    channels = gradient[0, patches].float().mean(dim=0)
    values = call.input[0, patches].float() @ channels
    return values.relu().reshape(tower.grid(inputs))


def grad_eclip(
    tower: ImageTower, inputs: Inputs, texts: Texts, settings: Settings, *, loosened: bool = True
) -> Tensor:
    """Grad-ECLIP (Zhao et al., 2024): relu of gradient . value, times the loosened attention.

    The gradient is that of the attention's answer to the class token; the value is the patch's.
    Lambda is the cosine of the class token's query with the patch's key, rescaled to [0, 1]. The
    published code runs the last attention as a single head, and compares queries and keys behind
    its output projection; with `form` "stock" the heads are the model's own, side by side. With
    another pooling the answers to all patches have a gradient: the maps of all are summed. Without
    lambda (`loosened` is False) all patches count alike.
    """
    published = settings.form == "published"
    tokens = count_tokens(tower, inputs)
    replace = partial(as_single_head, tokens=tokens) if published else None
    layers = last_blocks(tower, settings.layers or 1)
    score, calls = differentiate(tower, inputs, texts.row, layers, replace)
    gradients = torch.autograd.grad(score, [call.output for call in calls])
    rows = embedding_tokens(tower, tokens)
    patches = slice(tower.prefix, tokens)
    total = torch.zeros(tokens - tower.prefix, device=tower.device)
    for call, gradient in zip(calls, gradients, strict=True):
        heads = heads_of(call.block, call.input.detach(), tokens)
        if published:
            heads = single_head(heads)
        answers = heads_gradient(call.block, gradient, heads)
        importance = weights_gradient(answers, heads).sum(dim=0)[rows, patches]
        if loosened:
            queries, keys = project_again(call, heads) if published else join_heads(heads)
            attention = loosened_attention(queries, keys[patches])
            importance = importance * attention[rows]
        # Heads are summed before the relu: what one head says for the text another may deny.
        total = total + importance.relu().sum(dim=0)
    return total.reshape(tower.grid(inputs))


def join_heads(heads: Heads) -> tuple[Float[Tensor, "token dim"], Float[Tensor, "token dim"]]:
    """Queries and keys, heads side by side."""
    queries = heads.queries.transpose(0, 1)
    keys = heads.keys.transpose(0, 1)
    return queries.flatten(1), keys.flatten(1)


def project_again(
    call: AttentionCall, heads: Heads
) -> tuple[Float[Tensor, "token dim"], Float[Tensor, "token dim"]]:
    """Queries, not scaled, and keys of a single head, behind the attention's output projection."""
    weight = call.block.out_weight().float()
    queries, keys = join_heads(heads)
    queries = queries * queries.shape[-1] ** 0.5
    return queries @ weight.T + call.bias, keys @ weight.T + call.bias


def loosened_attention(
    queries: Float[Tensor, "token dim"], keys: Float[Tensor, "patch dim"]
) -> Float[Tensor, "token patch"]:
    """Cosine of query and key over all heads, to [0, 1] by each query's lowest and highest.

    1 for a query to which all patches are equally like.
    """
    # Cosines of the joined heads: softmax weights would leave nothing but the strongest patch.
    cosine = normalize(queries, dim=-1) @ normalize(keys, dim=-1).T
    low = cosine.amin(dim=-1, keepdim=True)
    high = cosine.amax(dim=-1, keepdim=True)
    return torch.where(high > low, (cosine - low) / (high - low), 1.0)
