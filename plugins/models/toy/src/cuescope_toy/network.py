"""The network as pure functions of its weights (TRoVe, appendix A)."""

from dataclasses import dataclass
from math import prod

import torch
from jaxtyping import Float
from torch import Tensor

Weights = dict[str, Tensor]
FIXED = ("input.mean", "input.scale")  # set from the training features, never trained


@dataclass(frozen=True)
class Sizes:
    """Frames of a sequence, and the dims between the layers."""

    frames: int
    feature: int
    hidden: int
    projection: int
    head: int
    dim: int

    @property
    def layers(self) -> dict[str, tuple[int, ...]]:
        """Shape of each weight: ([frame,] input, output). Projection heads have one per frame."""
        return {
            "project.0": (self.frames, self.feature, self.hidden),
            "project.1": (self.frames, self.hidden, self.projection),
            "head.0": (self.frames * self.projection, self.head),
            "head.1": (self.head, self.head),
            "head.2": (self.head, self.dim),
        }


def initial_weights(sizes: Sizes, generator: torch.Generator) -> Weights:
    """Uniform within 1/sqrt(inputs), weights and biases, as torch's Linear draws them."""
    weights = {}
    for name, shape in sizes.layers.items():
        bound = shape[-2] ** -0.5
        for part, size in (("weight", shape), ("bias", (*shape[:-2], 1, shape[-1]))):
            drawn = torch.rand(prod(size), generator=generator).reshape(size)
            weights[f"{name}.{part}"] = (2 * drawn - 1) * bound
    return weights


def standardising(features: Float[Tensor, "frame feature"]) -> Weights:
    """The frozen input layer: the mean of each feature, and one scale for all of them.

    One scale, because a scale for each would blow up what hardly ever varies.
    """
    mean = features.mean(0)
    scale = (features - mean).square().mean().sqrt().clamp_min(1e-6)
    return dict(zip(FIXED, (mean, scale), strict=True))


def embed(
    weights: Weights, features: Float[Tensor, "sample frame feature"]
) -> Float[Tensor, "sample dim"]:
    """Unit embeddings: a head per frame position, concatenation, the sequence head."""
    frames = ((features - weights["input.mean"]) / weights["input.scale"]).transpose(0, 1)
    frames = _linear(weights, "project.0", frames).relu()
    frames = _linear(weights, "project.1", frames)
    sequence = frames.transpose(0, 1).flatten(1)
    sequence = _linear(weights, "head.0", sequence).relu()
    sequence = _linear(weights, "head.1", sequence).relu()
    return torch.nn.functional.normalize(_linear(weights, "head.2", sequence), dim=-1)


def _linear(
    weights: Weights, name: str, inputs: Float[Tensor, "*frame sample input"]
) -> Float[Tensor, "*frame sample output"]:
    return inputs @ weights[f"{name}.weight"] + weights[f"{name}.bias"]
