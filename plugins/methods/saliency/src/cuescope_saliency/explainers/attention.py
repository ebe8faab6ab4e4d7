"""Explainers that follow attention weights: raw attention, rollout, and GAME."""

import torch
from jaxtyping import Float
from torch import Tensor

from cuescope_saliency.explainers.tracing import (
    Texts,
    count_tokens,
    differentiate,
    embedding_tokens,
    heads_gradient,
    heads_of,
    last_blocks,
    record_attention,
    weights_gradient,
)
from cuescope_saliency.options import Settings
from cuescope_sdk import UserError
from cuescope_sdk.torch import ImageTower, Inputs


def raw_attention(tower: ImageTower, inputs: Inputs, texts: Texts, settings: Settings) -> Tensor:
    """How much the last block's class token attends to each patch, mean over heads.

    The text has no part. With average pooling, the mean over the patches that attend.
    """
    _refuse_attention_pooling(tower, "raw-attention")
    (attention,) = _mean_attention(tower, inputs, 1)
    return _patch_map(tower, inputs, attention)


def rollout(tower: ImageTower, inputs: Inputs, texts: Texts, settings: Settings) -> Tensor:
    """Attention rollout (Abnar and Zuidema, 2020): the product of the blocks' mean attention.

    Each is halved with the identity, for the residual path, which keeps its rows at sum 1. The
    text has no part.
    """
    _refuse_attention_pooling(tower, "rollout")
    identity = torch.eye(count_tokens(tower, inputs), device=tower.device)
    flow = identity
    for mean in _mean_attention(tower, inputs, settings.layers):
        # Later blocks from the left: a token of the last block asks its way back to the patches.
        flow = (0.5 * mean + 0.5 * identity) @ flow
    return _patch_map(tower, inputs, flow)


def game(tower: ImageTower, inputs: Inputs, texts: Texts, settings: Settings) -> Tensor:
    """GAME (Chefer et al., 2021, eqs. 5 and 6): R += mean over heads of relu(A * dS/dA), times R.

    Published code for CLIP goes through the last block alone; all blocks, as the paper has it,
    where `form` is "stock".
    """
    _refuse_attention_pooling(tower, "game")
    layers = settings.layers
    if layers is None and settings.form == "published":
        layers = 1
    score, calls = differentiate(tower, inputs, texts.row, last_blocks(tower, layers))
    gradients = torch.autograd.grad(score, [call.output for call in calls])
    tokens = count_tokens(tower, inputs)
    relevance = torch.eye(tokens, device=tower.device)
    for call, gradient in zip(calls, gradients, strict=True):
        # Detached: the weights are a factor here, and no gradient is taken through them again.
        heads = heads_of(call.block, call.input.detach(), tokens)
        answers = heads_gradient(call.block, gradient, heads)
        contribution = heads.weights * weights_gradient(answers, heads)
        step = contribution.relu().mean(dim=0)
        relevance = relevance + step @ relevance
    return _patch_map(tower, inputs, relevance)


def _mean_attention(
    tower: ImageTower, inputs: Inputs, count: int | None
) -> list[Float[Tensor, "token token"]]:
    """Attention weights of the last `count` blocks, mean over heads."""
    tokens = count_tokens(tower, inputs)
    _, calls = record_attention(tower, inputs, last_blocks(tower, count))
    heads = [heads_of(call.block, call.input, tokens) for call in calls]
    return [of_block.weights.mean(dim=0) for of_block in heads]


def _patch_map(tower: ImageTower, inputs: Inputs, matrix: Float[Tensor, "token token"]) -> Tensor:
    """What the tokens that make the embedding take from each patch, (row, col)."""
    rows = embedding_tokens(tower, len(matrix))
    flow = matrix[rows, tower.prefix :].mean(dim=0)
    return flow.reshape(tower.grid(inputs))


def _refuse_attention_pooling(tower: ImageTower, name: str) -> None:
    """What an attention pool takes from the tokens is in none of the blocks."""
    if tower.pooling.kind == "attention":
        raise UserError(
            f"saliency: {name} cannot follow attention through the pooling of {tower.name}",
            expected="a class token or average pooling",
            got="attention pooling",
            remedy="Take grad-cam, grad-eclip, maskclip, clip-surgery, m2ib or rise.",
        )
