"""The transformer of the simulation, as pure functions of its weights (QUAG, appendix A.5).

Pre-norm. Both modalities count their positions from 0, and each token says its own target.
"""

from dataclasses import dataclass
from math import log

import torch
from jaxtyping import Float, Int8
from torch import Tensor
from torch.nn.functional import gelu, layer_norm, linear

from cuescope_quag.simulation.data import DIM, TOKENS
from cuescope_sdk.fusion import TEXT, VIDEO
from cuescope_sdk.torch import fused_attention

Weights = dict[str, Tensor]


@dataclass(frozen=True)
class Sizes:
    """Layers, the width of a token in them, and its attention heads."""

    # 4 layers of width 100, as in appendix A.5
    layers: int = 4
    width: int = 100
    heads: int = 4

    @property
    def shapes(self) -> dict[str, tuple[int, int]]:
        """(output, input) of each linear map; the hidden layer is four times as wide."""
        wide = 4 * self.width
        shapes = {"embedding": (self.width, DIM), "readout": (1, self.width)}
        for layer in range(self.layers):
            shapes[f"{layer}.attention"] = 3 * self.width, self.width
            shapes[f"{layer}.mixed"] = self.width, self.width
            shapes[f"{layer}.hidden"] = wide, self.width
            shapes[f"{layer}.output"] = self.width, wide
        return shapes


@dataclass(frozen=True)
class Dropout:
    """Zeroes a share `rate` of the numbers, and scales up the others; draws are its own."""

    rate: float
    generator: torch.Generator

    def __call__(self, values: Tensor) -> Tensor:
        """The values that are left, while training."""
        noise = torch.rand(values.shape, generator=self.generator, device=values.device)
        return values * (noise >= self.rate) / (1 - self.rate)


def initial_weights(sizes: Sizes, generator: torch.Generator) -> Weights:
    """Linear maps uniform within 1/sqrt(inputs), biases 0, norms as the identity."""
    # Drawn first, then in the order of `shapes`: the order of draws is part of a seed's result.
    weights = {"modality": 0.02 * torch.randn(2, sizes.width, generator=generator)}
    for name, (outputs, inputs) in sizes.shapes.items():
        uniform = torch.rand(outputs, inputs, generator=generator)
        weights[f"{name}.weight"] = (2 * uniform - 1) * inputs**-0.5
        weights[f"{name}.bias"] = torch.zeros(outputs)
    norms = [
        f"{layer}.{part}"
        for layer in range(sizes.layers)
        for part in ("attention", "hidden")
    ]
    for name in (*norms, "readout"):
        weights[f"{name}.scale"] = torch.ones(sizes.width)
        weights[f"{name}.shift"] = torch.zeros(sizes.width)
    return weights


def modalities(samples: int) -> Int8[Tensor, "sample token"]:
    """Which tokens are text and which are video."""
    tokens = torch.tensor([TEXT] * TOKENS + [VIDEO] * TOKENS, dtype=torch.int8)
    return tokens.expand(samples, -1)


def positions(width: int) -> Float[Tensor, "position width"]:
    """Sinusoidal position encoding (Vaswani et al., 2017, section 3.5)."""
    step = torch.exp(torch.arange(0, width, 2) * (-log(10_000.0) / width))
    angle = torch.arange(TOKENS)[:, None] * step
    return torch.stack([angle.sin(), angle.cos()], dim=2).flatten(1)


def predict(
    weights: Weights,
    sizes: Sizes,
    tokens: Float[Tensor, "sample token dim"],
    dropout: Dropout | None = None,
) -> Float[Tensor, "sample token"]:
    """A number for each token; `dropout` after embedding, in attention and before the readout."""
    drop = dropout or torch.nn.Identity()
    position = positions(sizes.width).to(tokens.device) + weights["modality"][:, None]
    # flattened to text first and then video, as the tokens are
    stream = drop(_linear(weights, "embedding", tokens) + position.flatten(0, 1))
    for layer in range(sizes.layers):
        stream = stream + _attention(weights, sizes, layer, stream, dropout)
        name = f"{layer}.hidden"
        hidden = gelu(_linear(weights, name, _norm(weights, name, stream)))
        stream = stream + _linear(weights, f"{layer}.output", hidden)
    return _linear(weights, "readout", drop(_norm(weights, "readout", stream)))[..., 0]


def _attention(
    weights: Weights,
    sizes: Sizes,
    layer: int,
    stream: Tensor,
    dropout: Dropout | None,
) -> Tensor:
    name = f"{layer}.attention"
    projections = _linear(weights, name, _norm(weights, name, stream))
    parts = projections.reshape(*stream.shape[:2], 3, sizes.heads, -1)
    # (query key value, sample, head, token, width of a head)
    query, key, value = parts.permute(2, 0, 3, 1, 4)
    if dropout is None:
        # an attention that averages where a `Fusion` asks for it
        mixed = fused_attention(query, key, value, layer=layer)
    else:
        # Dropout of attention weights needs the weights themselves, which fused kernels never form.
        logits = query @ key.transpose(2, 3) * query.shape[-1] ** -0.5
        mixed = dropout(logits.softmax(dim=-1)) @ value
    return _linear(weights, f"{layer}.mixed", mixed.transpose(1, 2).flatten(2))


def _linear(weights: Weights, name: str, values: Tensor) -> Tensor:
    return linear(values, weights[f"{name}.weight"], weights[f"{name}.bias"])


def _norm(weights: Weights, name: str, values: Tensor) -> Tensor:
    return layer_norm(
        values, values.shape[-1:], weights[f"{name}.scale"], weights[f"{name}.shift"]
    )
