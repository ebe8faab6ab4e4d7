"""A small fusion transformer over video and text tokens, as pure functions of its weights."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from math import prod

import torch
from jaxtyping import Bool, Float, Int, Int8
from torch import Tensor
from torch.nn.functional import gelu, layer_norm

from cuescope_sdk.fusion import OTHER, TEXT, VIDEO
from cuescope_sdk.torch import fused_self_attention
from cuescope_toy.network import Weights, standardise

HEADS = 4
WIDENING = 4  # of the layers between attention and attention
LONGEST = 100.0  # tokens in which the slowest position wave turns by a radian


@dataclass(frozen=True)
class Sizes:
    """Features of a frame, words and answers that are known, layers and their width."""

    feature: int
    words: int
    answers: int
    layers: int
    dim: int

    @property
    def shapes(self) -> dict[str, tuple[int, ...]]:
        """Shape of each weight: ([layer,] input, output), or ([layer,] dim) of a bias or norm."""
        dim, wide = self.dim, WIDENING * self.dim
        inner = {
            "attend.norm": (dim,), "query": (dim, dim), "key": (dim, dim), "value": (dim, dim),
            "mixed": (dim, dim), "think.norm": (dim,), "widen": (dim, wide), "narrow": (wide, dim),
        }  # fmt: skip
        return {
            "video": (self.feature, dim),
            "word": (self.words, dim),
            **{f"layer.{name}": (self.layers, *shape) for name, shape in inner.items()},
            "answer.norm": (dim,),
            "answer": (dim, self.answers),
        }


@dataclass(frozen=True, eq=False)
class Asked:
    """A batch: features of the frames and ids of the words, -1 where a sample has fewer.

    A frame that is cut into patches stands as so many frames.
    """

    video: Float[Tensor, "batch frame feature"]
    shown: Bool[Tensor, "batch frame"]
    words: Int[Tensor, "batch word"]

    @property
    def modality(self) -> Int8[Tensor, "batch token"]:
        """Of each token: frames, words, and last the answer, which belongs to the text."""
        video = torch.where(self.shown, VIDEO, OTHER)
        text = torch.where(self.words >= 0, TEXT, OTHER)
        answer = torch.full((len(text), 1), TEXT, device=text.device)
        return torch.cat([video, text, answer], dim=1).to(torch.int8)


def initial_weights(sizes: Sizes, generator: torch.Generator, spread: float = 1.0) -> Weights:
    """Matrices uniform within 1/sqrt(inputs), norms one, biases zero, words of unit variance.

    `spread` widens matrices and words.
    """
    return dict(_drawn(sizes, generator, spread))


def _drawn(sizes: Sizes, generator: torch.Generator, spread: float) -> Iterator[tuple[str, Tensor]]:
    for name, shape in sizes.shapes.items():
        if name.endswith("norm"):
            yield f"{name}.weight", torch.ones(shape)
            yield f"{name}.bias", torch.zeros(shape)
            continue
        bound = 3**0.5 if name == "word" else shape[-2] ** -0.5
        drawn = torch.rand(prod(shape), generator=generator).reshape(shape)
        yield f"{name}.weight", (2 * drawn - 1) * (bound * spread)
        if name != "word":
            yield f"{name}.bias", torch.zeros((*shape[:-2], shape[-1]))


def waves(places: int, dim: int) -> Float[Tensor, "place dim"]:
    """Sines and cosines of a place, from one radian a token to one in LONGEST."""
    rate = LONGEST ** -torch.linspace(0, 1, dim // 2)
    angle = torch.arange(places)[:, None] * rate
    return torch.cat([angle.sin(), angle.cos()], dim=1)


def answer(weights: Weights, asked: Asked, *, positions: bool) -> Float[Tensor, "batch answer"]:
    """Logits of the answers, read off the answer token; `positions` as of `embedded`."""
    tokens = embedded(weights, asked, positions=positions)
    visible = asked.modality != OTHER
    for layer, own in enumerate(_layers(weights)):
        tokens = tokens + _attend(own, _normed(own, "attend.norm", tokens), visible, layer)
        tokens = tokens + _think(own, _normed(own, "think.norm", tokens))
    return _linear(weights, "answer", _normed(weights, "answer.norm", tokens[:, -1]))


def embedded(
    weights: Weights, asked: Asked, *, positions: bool
) -> Float[Tensor, "batch token dim"]:
    """Tokens before the first layer: frames, words, the answer (the last row of the words).

    Without `positions` the video is a bag of frames.
    """
    table = weights["word.weight"]
    video = _linear(weights, "video", standardise(weights, asked.video))
    if positions:
        video = video + waves(video.shape[1], table.shape[1]).to(video)
    words = table[asked.words.clamp_min(0)]
    words = words + waves(words.shape[1], table.shape[1]).to(words)
    return torch.cat([video, words, table[-1].expand(len(words), 1, -1)], dim=1)


def _layers(weights: Weights) -> Iterator[Weights]:
    """The weights of each layer, under their own names."""
    stacked = {n.removeprefix("layer."): w for n, w in weights.items() if n.startswith("layer.")}
    for layer in range(len(stacked["query.weight"])):
        yield {name: weight[layer] for name, weight in stacked.items()}


def _attend(
    own: Weights,
    tokens: Float[Tensor, "batch token dim"],
    visible: Bool[Tensor, "batch token"],
    layer: int,
) -> Float[Tensor, "batch token dim"]:
    query, key, value = (partial(_linear, own, name) for name in ("query", "key", "value"))
    mixed = fused_self_attention(tokens, query, key, value, heads=HEADS, layer=layer, mask=visible)
    return _linear(own, "mixed", mixed)


def _think(
    own: Weights, tokens: Float[Tensor, "batch token dim"]
) -> Float[Tensor, "batch token dim"]:
    return _linear(own, "narrow", gelu(_linear(own, "widen", tokens)))


def _linear(weights: Weights, name: str, inputs: Tensor) -> Tensor:
    return inputs @ weights[f"{name}.weight"] + weights[f"{name}.bias"]


def _normed(weights: Weights, name: str, inputs: Tensor) -> Tensor:
    return layer_norm(inputs, inputs.shape[-1:], weights[f"{name}.weight"], weights[f"{name}.bias"])
