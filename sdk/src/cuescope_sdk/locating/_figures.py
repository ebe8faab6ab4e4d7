"""What a picture or a part of it looks like, in figures: light, colour, contrast, detail, lines.

Lines are the directionality by which people tell textures (Tamura, Mori and Yamawaki, 1978).
"""

from dataclasses import astuple, dataclass

import numpy as np
from jaxtyping import Float
from numpy.random import Generator
from PIL import Image

from cuescope_core.types import Frame
from cuescope_sdk.locating._linear import Rows, Training
from cuescope_sdk.locating._masks import Mask, stretch
from cuescope_sdk.locating._pictures import detail_of, opponents
from cuescope_sdk.statistics import Roc

SIZES = (8, 256)  # pixels along a side of a picture that is measured
FAR = 8  # pixels: few blurs reach so far
LEVEL = 1 / 255  # one step of a byte
Pixels = Float[np.ndarray, "row col 3"]


@dataclass(frozen=True)
class Figures:
    """Colours are 0 to 1, contrast and detail are logarithms, and lines are -1 to 1."""

    brightness: float
    red: float
    blue: float
    colour: float
    variety: float
    contrast: float
    detail: float
    upright: float
    rising: float

    @classmethod
    def of(cls, pixels: Pixels, mask: Mask | None = None) -> "Figures":
        """Of a picture's pixels, 0 to 1, or of those in a mask of any size."""
        light = opponents(pixels)
        grey = light[..., 0]
        inside = np.ones(grey.shape, bool)
        if mask is not None and mask.any():
            inside = stretch(mask, grey.shape)
        means = light[inside].mean(axis=0)
        chroma = float(np.hypot(light[inside, 1], light[inside, 2]).mean())
        hue = float(np.hypot(means[1], means[2]))
        down, across = np.gradient(grey)
        down, across = down[inside], across[inside]
        edges = (down**2 + across**2).sum() + LEVEL**2
        return cls(
            brightness=float(means[0]),
            red=float(means[1]),
            blue=float(means[2]),
            colour=chroma,
            # hues that are unlike cancel out
            variety=(chroma - hue) / (chroma + LEVEL),
            contrast=float(np.log(grey[inside].std() + LEVEL)),
            detail=_apart(grey, 1, inside) - _apart(grey, FAR, inside),
            upright=float((across**2 - down**2).sum() / edges),
            rising=float(2 * (across * down).sum() / edges),
        )


def whole_picture(frame: Frame) -> tuple[Figures, np.ndarray]:
    """The figures of all of a frame, and how its own pixels differ by pitch and direction."""
    image = frame.load().convert("RGB")
    size = tuple(np.clip(image.size, *SIZES).tolist())
    pixels = np.asarray(image.resize(size, Image.Resampling.BOX), np.float64) / 255
    return Figures.of(pixels), detail_of(frame)


def auroc_of_wholes(rows: Rows, data: Training, rng: Generator) -> float:
    """How well a linear model tells frames of groups held out by all of them together."""
    scores = data.held_out_scores(rows, rng)
    # a fold that cannot be judged tells nothing
    if np.isnan(scores).any():
        return 0.5
    return Roc(scores, data.shows).auroc(data.labels) or 0.5


def row_of(whole: tuple[Figures, np.ndarray]) -> np.ndarray:
    """A whole picture as a row of numbers."""
    figures, detail = whole
    return np.concatenate([astuple(figures), detail])


def _apart(grey: Float[np.ndarray, "row col"], step: int, inside: Mask) -> float:
    """How much pixels differ from those so many farther on, as a logarithm."""
    steps = []
    for axis in (0, 1):
        width = min(step, grey.shape[axis] - 1)
        steps.append(np.abs(np.roll(grey, -width, axis=axis) - grey)[inside].mean())
    return float(np.log(np.mean(steps) + LEVEL))
