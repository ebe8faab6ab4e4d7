"""A small fusion transformer over video and text tokens, as pure functions of its weights."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial

import torch
from jaxtyping import Bool, Float, Int, Int8
from torch import Tensor
from torch.nn.functional import gelu, layer_norm

from cuescope_sdk.fusion import OTHER, TEXT, VIDEO
from cuescope_sdk.torch import fused_self_attention
from cuescope_toy.loading import Weights
from cuescope_toy.network import Shapes, standardise
from cuescope_toy.options import DIM, HEADS, MLP_RATIO, ToyFusionOptions

Tokens = Float[Tensor, "batch token dim"]

LONGEST_WAVE = 100.0  # tokens in which the slowest position wave turns by a radian


@dataclass(frozen=True, eq=False)
class Batch:
    """Features of the frames and ids of the words, padded to the longest sample.

    A frame that is cut into patches stands as so many frames. Padding is False in `video_mask`,
    and -1 in `word_ids`.
    """

    video: Float[Tensor, "batch frame feature"]
    video_mask: Bool[Tensor, "batch frame"]
    word_ids: Int[Tensor, "batch word"]

    @property
    def modality(self) -> Int8[Tensor, "batch token"]:
        """Of each token: frames, words, and last the answer, which belongs to the text."""
        video = torch.where(self.video_mask, VIDEO, OTHER)
        text = torch.where(self.word_ids >= 0, TEXT, OTHER)
        answer = text.new_full((len(text), 1), TEXT)
        modality = torch.cat([video, text, answer], dim=1)
        return modality.to(torch.int8)


def weight_shapes(
    options: ToyFusionOptions,
    feature: int,
    words: int,
    answers: int,
) -> Shapes:
    """Shape of each weight: ([layer,] input, output), or ([layer,] dim) of a bias or norm."""
    dim = DIM
    wide = MLP_RATIO * dim
    # The shipped checkpoints have these names, and initial weights are drawn in this order.
    attended = ("query", "key") if options.mixing == "attention" else ()
    inner = {
        "attend.norm": (dim,),
        **dict.fromkeys((*attended, "value", "mixed"), (dim, dim)),
        "think.norm": (dim,),
        "widen": (dim, wide),
        "narrow": (wide, dim),
    }
    return {
        "video": (feature, dim),
        "word": (words, dim),
        **{f"layer.{name}": (options.layers, *shape) for name, shape in inner.items()},
        "answer.norm": (dim,),
        "answer": (dim, answers),
    }


def initial_weights(
    shapes: Shapes,
    generator: torch.Generator,
    spread: float = 1.0,
) -> Weights:
    """Matrices uniform within 1/sqrt(inputs), norms one, biases zero, words of unit variance.

    `spread` widens matrices and words.
    """
    weights = {}
    for name, shape in shapes.items():
        if name.endswith("norm"):
            weights[f"{name}.weight"] = torch.ones(shape)
            weights[f"{name}.bias"] = torch.zeros(shape)
            continue
        # A word is looked up, not multiplied: it has no inputs to share its variance among.
        bound = 3**0.5 if name == "word" else shape[-2] ** -0.5
        uniform = torch.rand(shape, generator=generator)
        weights[f"{name}.weight"] = (2 * uniform - 1) * (bound * spread)
        if name != "word":
            weights[f"{name}.bias"] = torch.zeros((*shape[:-2], shape[-1]))
    return weights


def position_waves(count: int, dim: int) -> Float[Tensor, "position dim"]:
    """Sines and cosines of a position, from one radian a token to one in LONGEST_WAVE."""
    rate = LONGEST_WAVE ** -torch.linspace(0, 1, dim // 2)
    angle = torch.arange(count)[:, None] * rate
    return torch.cat([angle.sin(), angle.cos()], dim=1)


def forward(
    weights: Weights,
    batch: Batch,
    *,
    positions: bool,
) -> Float[Tensor, "batch answer"]:
    """Logits of the answers, from the answer token; `positions` as of `embed_tokens`."""
    tokens = embed_tokens(weights, batch, positions=positions)
    mask = batch.modality != OTHER
    for number, layer in enumerate(_layers(weights)):
        inputs = _norm(layer, "attend.norm", tokens)
        tokens = tokens + _attention(layer, inputs, mask, number)
        inputs = _norm(layer, "think.norm", tokens)
        wide = gelu(_linear(layer, "widen", inputs))
        tokens = tokens + _linear(layer, "narrow", wide)
    answer = _norm(weights, "answer.norm", tokens[:, -1])
    return _linear(weights, "answer", answer)


def embed_tokens(weights: Weights, batch: Batch, *, positions: bool) -> Tokens:
    """Tokens before the first layer: frames, words, the answer (the last row of the words).

    Without `positions` the video is a bag of frames.
    """
    table = weights["word.weight"]
    video = _linear(weights, "video", standardise(weights, batch.video))
    if positions:
        video = _add_positions(video)
    words = table[batch.word_ids.clamp_min(0)]  # padding is masked later
    # Words keep their order always: a bag of words would be another question.
    words = _add_positions(words)
    answer = table[-1].expand(len(words), 1, -1)
    return torch.cat([video, words, answer], dim=1)


def _add_positions(tokens: Tokens) -> Tokens:
    waves = position_waves(*tokens.shape[1:])
    return tokens + waves.to(tokens)


def _layers(weights: Weights) -> Iterator[Weights]:
    """The weights of each layer, under their own names."""
    prefix = "layer."
    stacked = {}
    for name, weight in weights.items():
        if name.startswith(prefix):
            stacked[name.removeprefix(prefix)] = weight
    # "value", for a network that mixes by means has no queries and keys
    for layer in range(len(stacked["value.weight"])):
        yield {name: weight[layer] for name, weight in stacked.items()}


def _attention(
    weights: Weights,
    tokens: Tokens,
    mask: Bool[Tensor, "batch token"],
    number: int,
) -> Tokens:
    value = partial(_linear, weights, "value")
    query = key = torch.zeros_like  # every token attends to all alike
    if "query.weight" in weights:
        query = partial(_linear, weights, "query")
        key = partial(_linear, weights, "key")
    mixed = fused_self_attention(
        tokens,
        query,
        key,
        value,
        heads=HEADS,
        layer=number,
        mask=mask,
    )
    return _linear(weights, "mixed", mixed)


def _linear(weights: Weights, name: str, inputs: Tensor) -> Tensor:
    return inputs @ weights[f"{name}.weight"] + weights[f"{name}.bias"]


def _norm(weights: Weights, name: str, inputs: Tensor) -> Tensor:
    weight = weights[f"{name}.weight"]
    return layer_norm(inputs, weight.shape, weight, weights[f"{name}.bias"])
