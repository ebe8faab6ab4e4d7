"""Explainers that weigh features by gradients: Grad-CAM and Grad-ECLIP."""

import torch
from jaxtyping import Float
from torch import Tensor
from torch.nn.functional import normalize

from cuescope_saliency.explainers.tracing import (
    Heads,
    count_tokens,
    differentiate,
    embedding_tokens,
    heads_gradient,
    heads_of,
    last_blocks,
    weights_gradient,
)
from cuescope_saliency.options import Settings
from cuescope_sdk.torch import ImageTower, Inputs


def grad_cam(tower: ImageTower, inputs: Inputs, text: Tensor, settings: Settings) -> Tensor:
    """Grad-CAM (Selvaraju et al., 2017) on the normed tokens that enter the last attention.

    Behind that attention the patches of a class-token model have no gradient, so these are the
    last features that the embedding still depends on.
    """
    score, (call,) = differentiate(tower, inputs, text, last_blocks(tower, 1))
    (gradient,) = torch.autograd.grad(score, call.input)
    patches = slice(tower.prefix, count_tokens(tower, inputs))
    # A mean of half-precision gradients loses digits, hence float32 first.
    channels = gradient[0, patches].float().mean(dim=0)
    return (call.input[0, patches].float() @ channels).relu().reshape(tower.grid(inputs))


def grad_eclip(
    tower: ImageTower, inputs: Inputs, text: Tensor, settings: Settings, *, loosened: bool = True
) -> Tensor:
    """Grad-ECLIP (Zhao et al., 2024): relu of gradient . value, times the loosened attention.

    The gradient is that of the heads' answers to the class token; the value is the patch's.
    Lambda is the cosine of the class token's query with the patch's key, rescaled to [0, 1]. The
    original runs the last block again as a single head; ours keeps the model's own heads, side by
    side, since that is the forward pass to be explained. With another pooling the answers to all
    patches have a gradient: the maps of all are summed. Without lambda (`loosened` is False) all
    patches count alike.
    """
    score, calls = differentiate(tower, inputs, text, last_blocks(tower, settings.layers or 1))
    gradients = torch.autograd.grad(score, [call.output for call in calls])
    tokens = count_tokens(tower, inputs)
    rows, patches = embedding_tokens(tower, tokens), slice(tower.prefix, tokens)
    total = torch.zeros(tokens - tower.prefix, device=tower.device)
    for call, gradient in zip(calls, gradients, strict=True):
        heads = heads_of(call.block, call.input.detach(), tokens)
        answers = heads_gradient(call.block, gradient, heads)
        importance = weights_gradient(answers, heads).sum(dim=0)[rows, patches]
        if loosened:
            importance = importance * loosened_attention(heads, tower.prefix)[rows]
        # Heads are summed before the relu: what one head says for the text another may deny.
        total = total + importance.relu().sum(dim=0)
    return total.reshape(tower.grid(inputs))


def loosened_attention(heads: Heads, prefix: int) -> Float[Tensor, "token patch"]:
    """Cosine of query and key over all heads, to [0, 1] by each query's lowest and highest.

    1 for a query to which all patches are equally like.
    """
    queries, keys = (
        normalize(part.transpose(0, 1).flatten(1), dim=-1) for part in (heads.queries, heads.keys)
    )
    # Cosines of the joined heads: softmax weights would leave nothing but the strongest patch.
    cosine = queries @ keys[prefix:].T
    low, high = cosine.amin(dim=-1, keepdim=True), cosine.amax(dim=-1, keepdim=True)
    return torch.where(high > low, (cosine - low) / (high - low), 1.0)
