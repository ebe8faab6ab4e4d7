"""How two answers are compared, and what is changed between them."""

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import numpy as np
from jaxtyping import Bool, UInt8
from pydantic import BaseModel

from cuescope_sdk import Edit, HideTokens, Response, Sample
from cuescope_sdk.fusion import AverageAttention, AverageTokens

TOLERANCE = {"float32": 1e-5, "float16": 1e-2, "bfloat16": 5e-2}
V = TypeVar("V", bound=BaseModel)


def changed(value: V, **update: Any) -> V:
    """The same value with other fields."""
    return value.model_copy(update=update)


def with_choices(sample: Sample, choices: Sequence[str]) -> Sample:
    """The same sample with other choices, and nothing right among them."""
    return changed(sample, choices=tuple(choices), label=None)


def distance(one: Response, other: Response) -> float:
    """Largest difference, relative to the largest figure; infinite where outputs differ in kind."""
    if one.text != other.text:
        return float("inf")
    worst = 0.0
    for first, second in ((one.logits, other.logits), (one.embedding, other.embedding)):
        if first is None or second is None or first.shape != second.shape:
            if first is not second:
                return float("inf")
        elif len(first):
            scale = max(1.0, float(np.abs(first).max()))
            worst = max(worst, float(np.abs(first - second).max()) / scale)
    return worst


def noise_under(
    pixels: UInt8[np.ndarray, "height width 3"],
    mask: Bool[np.ndarray, "row col"],
    rng: np.random.Generator,
) -> UInt8[np.ndarray, "height width 3"]:
    """The pixels of a canvas with noise in the patches under a mask on its grid."""
    cell = [size // patches for size, patches in zip(pixels.shape, mask.shape, strict=False)]
    under = np.zeros(pixels.shape[:2], dtype=bool)
    tiled = np.kron(mask, np.ones(cell, dtype=bool))
    under[: tiled.shape[0], : tiled.shape[1]] = tiled
    noise = rng.integers(0, 256, pixels.shape, dtype=np.uint8)
    return np.where(under[..., None], noise, pixels)


def _hide(sample: Sample, grid: tuple[int, int], whole: bool) -> HideTokens:
    mask = np.zeros((len(sample.frames), *grid), dtype=bool)
    mask[:, : grid[0] // 2] = whole  # half of them: a model may need some token to answer
    return HideTokens.from_mask(mask)


def _average_attention(sample: Sample, grid: tuple[int, int], whole: bool) -> AverageAttention:
    return AverageAttention(quadrants=frozenset(("VV", "VT", "TV", "TT")) if whole else frozenset())


def _average_tokens(sample: Sample, grid: tuple[int, int], whole: bool) -> AverageTokens:
    return AverageTokens(modalities=frozenset(("video", "text")) if whole else frozenset())


EDITS: dict[str, Callable[[Sample, tuple[int, int], bool], Edit]] = {
    "hide-tokens": _hide,
    "average-attention": _average_attention,
    "average-tokens": _average_tokens,
}
