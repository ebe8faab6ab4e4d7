"""Explainers that follow attention weights: raw attention, rollout, and GAME."""

from collections.abc import Iterator

import torch
from jaxtyping import Float
from torch import Tensor

from cuescope_saliency.explainers.tracing import (
    Case,
    differentiate,
    heads_gradient,
    heads_of,
    record_attention,
    weights_gradient,
)
from cuescope_sdk import UserError
from cuescope_sdk.torch import ImageTower


def raw_attention(case: Case) -> Tensor:
    """How much the last block's class token attends to each patch, mean over heads.

    The text has no part. With average pooling, the mean over the patches that attend.
    """
    _refuse_attention_pooling(case.tower, "raw-attention")
    [attention] = _mean_attention(case, 1)
    return _flow_map(case, attention)


def rollout(case: Case) -> Tensor:
    """Attention rollout (Abnar and Zuidema, 2020): the product of the blocks' mean attention.

    Each is halved with the identity, for the residual path, which keeps its rows at sum 1. The
    text has no part.
    """
    _refuse_attention_pooling(case.tower, "rollout")
    # without padding: its tokens would take a part of the flow
    identity = torch.eye(case.tokens, device=case.tower.device)
    flow = identity
    for mean in _mean_attention(case, case.settings.layers):
        # Later blocks from the left: a token of the last block asks its way back to the patches.
        flow = (0.5 * mean + 0.5 * identity) @ flow
    return _flow_map(case, flow)


def game(case: Case) -> Tensor:
    """GAME (Chefer et al., 2021, eqs. 5 and 6): R += mean over heads of relu(A * dS/dA), times R.

    Published code for CLIP goes through the last block alone; all blocks, as the paper has it,
    where `form` is "stock".
    """
    _refuse_attention_pooling(case.tower, "game")
    layers = case.settings.layers
    if layers is None and case.settings.form == "published":
        # their notebook for CLIP goes through the last block alone
        layers = 1
    score, calls = differentiate(case, case.last_blocks(layers))
    gradients = torch.autograd.grad(score, [call.output for call in calls])
    relevance = torch.eye(case.tokens, device=case.tower.device)
    for call, gradient in zip(calls, gradients, strict=True):
        # Detached: the weights are a factor here, and no gradient is taken through them again.
        heads = heads_of(call.block, call.input.detach(), case.tokens)
        answers = heads_gradient(call.block, gradient, heads)
        contribution = heads.weights * weights_gradient(answers, heads)
        # relu before the mean: what one head denies must not cancel what another one says
        step = contribution.relu().mean(dim=0)
        relevance = relevance + step @ relevance
    return _flow_map(case, relevance)


def _mean_attention(
    case: Case, count: int | None
) -> Iterator[Float[Tensor, "token token"]]:
    """Attention weights of the last `count` blocks, mean over heads."""
    _, calls = record_attention(case, case.last_blocks(count))
    for call in calls:
        heads = heads_of(call.block, call.input, case.tokens)
        yield heads.weights.mean(dim=0)


def _flow_map(case: Case, flow: Float[Tensor, "token token"]) -> Tensor:
    """What the tokens that make the embedding take from each patch, (row, col)."""
    # with average pooling all patches make the embedding: their mean
    taken = flow[case.embedding_tokens, case.patches]
    return case.patch_map(taken.mean(dim=0))


def _refuse_attention_pooling(tower: ImageTower, name: str) -> None:
    """What an attention pool takes from the tokens is in none of the blocks."""
    if tower.pooling.kind == "attention":
        raise UserError(
            f"saliency: {name} cannot follow attention through the pooling of {tower.name}",
            expected="a class token or average pooling",
            got="attention pooling",
            remedy="Take grad-cam, grad-eclip, maskclip, clip-surgery, m2ib or rise.",
        )
