"""The network of `toy` as pure functions of its weights (TRoVe, appendix A)."""

from collections.abc import Callable

import torch
from jaxtyping import Float
from torch import Tensor

from cuescope_toy.loading import Weights

HIDDEN = 128  # width of each frame's projection head
PROJECTION = 64  # dim of a projected frame
HEAD = 256  # width of the sequence head

Shapes = dict[str, tuple[int, ...]]  # of weights, by name
Frames = Float[Tensor, "*frame feature"]


def layer_shapes(frames: int, feature: int, dim: int) -> Shapes:
    """Shape of each weight: ([frame,] input, output). Projection heads have one per frame."""
    return {
        "project.0": (frames, feature, HIDDEN),
        "project.1": (frames, HIDDEN, PROJECTION),
        "head.0": (frames * PROJECTION, HEAD),
        "head.1": (HEAD, HEAD),
        "head.2": (HEAD, dim),
    }


def initial_weights(shapes: Shapes, generator: torch.Generator) -> Weights:
    """Uniform within 1/sqrt(inputs), weights and biases, as torch's Linear draws them."""
    weights = {}
    for name, shape in shapes.items():
        bound = shape[-2] ** -0.5  # of the inputs of one head, not of all
        # one row, which baddbmm spreads over the samples
        bias_shape = (*shape[:-2], 1, shape[-1])
        for part, size in (("weight", shape), ("bias", bias_shape)):
            uniform = torch.rand(size, generator=generator)
            weights[f"{name}.{part}"] = (2 * uniform - 1) * bound
    return weights


def input_layer(
    features: Float[Tensor, "distinct feature"], count: Float[Tensor, " distinct"]
) -> Weights:
    """The frozen input layer: the mean of each feature, and one scale for all of them.

    `count` says how often each distinct frame is shown. One scale, because a scale for each
    feature would blow up what hardly ever varies.
    """
    share = count / count.sum()
    mean = share @ features
    variance = share @ (features - mean).square().mean(dim=1)
    # Features that never vary have no scale; the floor keeps the division finite.
    scale = variance.sqrt().clamp_min(1e-6)
    return {"input.mean": mean, "input.scale": scale}


def standardise(weights: Weights, features: Frames) -> Frames:
    return (features - weights["input.mean"]) / weights["input.scale"]


def embed(
    weights: Weights, inputs: Float[Tensor, "sample frame feature"]
) -> Float[Tensor, "sample dim"]:
    """Unit embeddings of standardised features.

    A head per frame position, concatenation, the sequence head.
    """
    # Frames first: one batched product runs every position through the head of its own.
    frames = inputs.transpose(0, 1)
    frames = _linear(weights, "project.0", frames, torch.baddbmm).relu()
    frames = _linear(weights, "project.1", frames, torch.baddbmm)
    sequence = frames.transpose(0, 1).flatten(1)
    sequence = _linear(weights, "head.0", sequence, torch.addmm).relu()
    sequence = _linear(weights, "head.1", sequence, torch.addmm).relu()
    sequence = _linear(weights, "head.2", sequence, torch.addmm)
    return torch.nn.functional.normalize(sequence, dim=-1)


def _linear(
    weights: Weights,
    layer: str,
    inputs: Tensor,
    multiply_add: Callable[..., Tensor],
) -> Tensor:
    return multiply_add(weights[f"{layer}.bias"], inputs, weights[f"{layer}.weight"])
