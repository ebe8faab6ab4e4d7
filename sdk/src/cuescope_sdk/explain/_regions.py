"""Explainers that say which parts of a sample's frames an answer rests on."""

from abc import ABC, abstractmethod
from collections.abc import Generator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import ClassVar

import numpy as np
from jaxtyping import Bool, Float
from PIL import Image

from cuescope_core.capabilities import Requirements
from cuescope_core.digest import digest
from cuescope_core.plugin import Plugin
from cuescope_core.types import Readout, Sample
from cuescope_sdk.maths import upsample

PerPart = Float[np.ndarray, " part"]
Parts = Bool[np.ndarray, " part"]
Subsets = Bool[np.ndarray, "subset part"]
# what an explainer asks for, and what it is sent: probabilities of subsets, or a readout's array
Steps = Generator[Subsets | Readout, np.ndarray, PerPart]


@dataclass(frozen=True)
class Grid:
    """Parts of a sample that are shown or hidden: cells (frame, row, col), numbered in this order.

    The grid lies over each frame, whatever its size.
    """

    frames: int
    rows: int
    cols: int

    @classmethod
    def over(cls, sample: Sample, parts: int) -> "Grid":
        """A square grid a frame, of about so many parts in all frames."""
        frames = max(len(sample.frames), 1)
        side = max(1, round((parts / frames) ** 0.5))
        return cls(frames, side, side)

    @property
    def shape(self) -> tuple[int, int, int]:
        """Frames, rows, columns."""
        return self.frames, self.rows, self.cols

    @property
    def count(self) -> int:
        """How many parts there are."""
        return self.frames * self.rows * self.cols

    def pool(self, importance: Float[np.ndarray, "..."]) -> PerPart:
        """Mean of a map (row, col) or (frame, row, col) under each part; any resolution."""
        maps = np.asarray(importance, np.float64).reshape(-1, *importance.shape[-2:])
        # a model may look at several frames at once
        frames = np.arange(self.frames) * len(maps) // self.frames
        pooled = [upsample(maps[frame], (self.rows, self.cols)) for frame in frames]
        return np.asarray(pooled, np.float64).ravel()

    def masks(
        self, parts: Parts, sizes: Sequence[tuple[int, int]]
    ) -> tuple[Bool[np.ndarray, "_row _col"], ...]:
        """Pixels under some parts, a mask (row, col) a frame; `sizes` are (rows, cols) of each."""
        cells = parts.reshape(self.shape)
        return tuple(
            _pixels_of(frame, size) for frame, size in zip(cells, sizes, strict=True)
        )

    def show(self, sample: Sample, shown: Parts) -> Sample:
        """The sample with the other parts hidden: they have the frame's mean colour."""
        frames = list(sample.frames)
        for number, cells in enumerate(shown.reshape(self.shape)):
            if not cells.all():
                bits = np.packbits(cells).tobytes()
                name = f"show parts {cells.shape} {digest(bits)}"
                frames[number] = frames[number].derive(name, partial(_hide, ~cells))
        suffix = f"parts-{digest(*(frame.key for frame in frames))[:10]}"
        return sample.with_frames(tuple(frames), suffix)


def _pixels_of(
    cells: Bool[np.ndarray, "row col"], size: tuple[int, int]
) -> Bool[np.ndarray, "height width"]:
    rows, cols = (
        np.arange(pixels) * count // pixels
        for pixels, count in zip(size, cells.shape, strict=True)
    )
    return np.asarray(cells[np.ix_(rows, cols)])


def _hide(hidden: Bool[np.ndarray, "row col"], image: Image.Image) -> Image.Image:
    pixels = np.array(image)
    # of the whole frame: the mean of what is left would tell what that is
    mean = np.rint(pixels.mean(axis=(0, 1))).astype(np.uint8)
    pixels[_pixels_of(hidden, pixels.shape[:2])] = mean
    return Image.fromarray(pixels)


@dataclass(frozen=True, eq=False)
class Explained:
    """An answer to a sample that is explained.

    `answer` is the words, `choice` its number among the sample's choices, None where it is written
    freely. `intact` is its probability with all parts shown. An explainer asks for the answer to
    `budget` subsets at most, and draws from `rng` alone.
    """

    sample: Sample
    answer: str
    choice: int | None
    grid: Grid
    intact: float
    budget: int
    rng: np.random.Generator


class RegionExplainer(Plugin, ABC):
    """Says how much each part of a sample speaks for an answer.

    It knows the model through what it yields: subsets of parts, bool (subset, part), True for what
    is shown, for which it is sent the probability of the answer to each; or a `Readout`, for which
    it is sent the array. It asks for subsets that do not depend on one another in one go: those of
    all samples are answered together. `requires` has the insides that its readouts look at.
    """

    title: ClassVar[str]
    requires: ClassVar[Requirements] = Requirements(outputs=frozenset())

    @abstractmethod
    def explain(self, case: Explained) -> Steps:
        """Yield what is asked; return the importance of each part, more for more important.

        A map that is bool says itself which region it claims; of any other it is found.
        """

    def calls(self, parts: int, budget: int) -> int:
        """How many answers it asks for a sample, at most."""
        return budget
