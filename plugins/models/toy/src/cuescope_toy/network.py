"""The network of `toy` as pure functions of its weights (TRoVe, appendix A)."""

from math import prod

import torch
from jaxtyping import Float
from torch import Tensor

from cuescope_toy.loading import Weights
from cuescope_toy.options import ToyOptions

Shapes = dict[str, tuple[int, ...]]  # of weights, by name
FIXED = ("input.mean", "input.scale")  # set from the training features, never trained


def layer_shapes(options: ToyOptions, frames: int, feature: int, dim: int) -> Shapes:
    """Shape of each weight: ([frame,] input, output). Projection heads have one per frame."""
    hidden, projection, head = options.hidden, options.projection, options.head
    return {
        "project.0": (frames, feature, hidden),
        "project.1": (frames, hidden, projection),
        "head.0": (frames * projection, head),
        "head.1": (head, head),
        "head.2": (head, dim),
    }


def initial_weights(shapes: Shapes, generator: torch.Generator) -> Weights:
    """Uniform within 1/sqrt(inputs), weights and biases, as torch's Linear draws them."""
    weights = {}
    for name, shape in shapes.items():
        bound = shape[-2] ** -0.5  # of the inputs of one head, not of all
        for part, size in (("weight", shape), ("bias", (*shape[:-2], 1, shape[-1]))):
            uniform = torch.rand(prod(size), generator=generator).reshape(size)
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
    return dict(zip(FIXED, (mean, variance.sqrt().clamp_min(1e-6)), strict=True))


def standardise(
    weights: Weights, features: Float[Tensor, "*frame feature"]
) -> Float[Tensor, "*frame feature"]:
    return (features - weights["input.mean"]) / weights["input.scale"]


def embed(
    weights: Weights, inputs: Float[Tensor, "sample frame feature"]
) -> Float[Tensor, "sample dim"]:
    """Unit embeddings of standardised features.

    A head per frame position, concatenation, the sequence head.
    """
    # Frames first: one batched product runs every position through the head of its own.
    frames = inputs.transpose(0, 1)
    frames = torch.baddbmm(weights["project.0.bias"], frames, weights["project.0.weight"]).relu()
    frames = torch.baddbmm(weights["project.1.bias"], frames, weights["project.1.weight"])
    sequence = frames.transpose(0, 1).flatten(1)
    for layer in ("head.0", "head.1"):
        sequence = torch.addmm(
            weights[f"{layer}.bias"], sequence, weights[f"{layer}.weight"]
        ).relu()
    sequence = torch.addmm(weights["head.2.bias"], sequence, weights["head.2.weight"])
    return torch.nn.functional.normalize(sequence, dim=-1)
