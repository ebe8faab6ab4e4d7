"""What pictures look like, without the model: small patches, and figures of the whole."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cache, lru_cache
from typing import ClassVar

import numpy as np
from jaxtyping import Float, Int, UInt8
from numpy.random import Generator
from PIL import Image

from cuescope_core.types import Frame
from cuescope_sdk.locating._linear import Grid, Rows
from cuescope_sdk.locating._vocabulary import Vocabulary, learn_vocabulary
from cuescope_sdk.maths import on_one_thread

SIDE = 64  # pixels, to which a picture is brought
CELLS = 8  # along a side
RINGS = 12  # of spatial frequency
KINDS = 400  # of patches, by which whole pictures are described
MOST_DRAWN_FROM = 200  # frames, whose patches these are learned from
BLOCK = 8  # pixels along a block of JPEG (ITU-T T.81, 1992) and most others
LARGEST = 256  # pixels along a side, of which detail is read; a multiple of BLOCK
BANDS = 6  # of pitch
DIRECTIONS = 3  # of detail: across the frame, aslant, down it
SMALL = 1e-6  # of power: a flat picture has none
MOST_KEPT = 20_000  # frames, of about 4 kB each
MOST_READ = 20_000  # frames that one look remembers, of about 5 kB each
MOST_SQUARES = 4_000  # frames, of 12 kB each
Figures = Float[np.ndarray, " figure"]
# the number of each coefficient's group, and how many coefficients each group has
Grouped = tuple[Int[np.ndarray, " coefficient"], Int[np.ndarray, " group"]]
Square = UInt8[np.ndarray, "row col 3"]
# equal keys are equal pixels
_KEPT: dict[str, Figures] = {}
_SQUARES: dict[str, Square] = {}


@dataclass(frozen=True)
class PixelPatches:
    """Overlapping patches of a picture: pixels along a `side`, and a `step` from patch to patch."""

    side: int
    step: int
    FINE: ClassVar["PixelPatches"]
    WIDE_APART: ClassVar["PixelPatches"]

    @property
    def overlap(self) -> int:
        """How many patches along a side share pixels."""
        return self.side // self.step

    def of(self, frames: Sequence[Frame]) -> list[Grid]:
        """Those of each frame, their colours in 0 to 1: (row, col, dim)."""
        edge = (self.side - self.step) // 2
        window = np.lib.stride_tricks.sliding_window_view
        size = (self.side, self.side)
        grids = []
        for frame in frames:
            pixels = square_pixels(frame, SIDE).astype(np.float32)
            # so each patch stands for the pixels of its own step
            pixels = np.pad(
                pixels, ((edge, edge), (edge, edge), (0, 0)), mode="reflect"
            )
            patches = window(pixels, size, axis=(0, 1))[:: self.step, :: self.step]
            grids.append(patches.reshape(*patches.shape[:2], -1))
        return grids


PixelPatches.FINE = PixelPatches(6, 2)
# no place is told by these: they tell whole pictures as well, in half of the time
PixelPatches.WIDE_APART = PixelPatches(6, 3)


@dataclass(frozen=True, eq=False)
class Look:
    """How whole pictures are described: colours by place, detail, power, kinds of patches.

    Of each kind how much of it there is in all of the frame, and at the place that is likest: a
    small mark is next to nothing of the one, and all of the other.
    """

    vocabulary: Vocabulary
    _read_before: dict[str, Figures] = field(
        default_factory=dict, init=False, repr=False
    )

    @classmethod
    def learn(cls, frames: Sequence[Frame], rng: Generator) -> "Look":
        """With more kinds of patches than tell places, and of another draw."""
        some = rng.permutation(len(frames))[:MOST_DRAWN_FROM].tolist()
        grids = PixelPatches.WIDE_APART.of([frames[number] for number in some])
        return cls(learn_vocabulary(grids, rng, KINDS))

    @on_one_thread
    def read(self, frames: Sequence[Frame]) -> Rows:
        """A row for each frame; equal frames are looked at once."""
        return np.stack([self._remembered(frame) for frame in frames])

    def _remembered(self, frame: Frame) -> Figures:
        row = self._read_before.get(frame.key)
        if row is None:
            row = self._read(frame)
            if len(self._read_before) < MOST_READ:
                self._read_before[frame.key] = row
        return row.astype(np.float64)

    def _read(self, frame: Frame) -> Figures:
        # an edited frame is made once, and looked at up to three times
        frame = replace(frame, loader=cache(frame.load))
        [grid] = PixelPatches.WIDE_APART.of([frame])
        nearness = self.vocabulary.nearness(grid)
        figures = [_kept_figures(frame), nearness.mean(axis=0), nearness.max(axis=0)]
        return np.concatenate(figures, dtype=np.float32)


def _kept_figures(frame: Frame) -> Figures:
    """Figures and detail of a frame, worked out once: each cue looks at the same frames."""
    if frame.key not in _KEPT:
        if len(_KEPT) >= MOST_KEPT:
            _KEPT.clear()
        _KEPT[frame.key] = np.concatenate([figures_of(frame), detail_of(frame)])
    return _KEPT[frame.key]


def figures_of(frame: Frame) -> Figures:
    """Colours and contrast by place, and the power at each spatial frequency."""
    pixels = square_pixels(frame, SIDE)
    size = SIDE // CELLS
    cells = pixels.reshape(CELLS, size, CELLS, size, 3)
    mean = cells.mean(axis=(1, 3))
    spread = cells.std(axis=(1, 3))
    grey = pixels.mean(axis=2)
    power = np.abs(np.fft.rfft2(grey - grey.mean())) ** 2
    ring, sizes = _rings()
    of_ring = np.bincount(ring, power.ravel()) / sizes
    return np.concatenate([mean.ravel(), spread.ravel(), np.log(of_ring + SMALL)])


@cache
def _rings() -> Grouped:
    """The ring of spatial frequency of each coefficient, and how many each ring has."""
    rows = np.fft.fftfreq(SIDE)[:, None]
    ring = np.hypot(rows, np.fft.rfftfreq(SIDE)) * 2 * RINGS
    ring = ring.astype(int).clip(max=RINGS - 1).ravel()
    return ring, np.bincount(ring)


def detail_of(frame: Frame) -> Figures:
    """How strong detail is by pitch and direction, and where in blocks of compression it steps.

    In the frame's own pixels: a smaller picture shows neither noise nor blocks.
    """
    from scipy.fft import dctn

    grey = np.asarray(frame.load().convert("L"), np.float64)
    # whole blocks are left out, so those that are seen begin where they did
    top, left = (max(side - LARGEST, 0) // 2 // BLOCK * BLOCK for side in grey.shape)
    grey = grey[top : top + LARGEST, left : left + LARGEST]
    power = dctn(grey - grey.mean(), norm="ortho") ** 2
    cell, sizes = _bands(*power.shape)
    total = np.bincount(cell, power.ravel(), len(sizes))
    figures = [np.log(total / sizes + SMALL)]
    for axis in (0, 1):
        steps = np.abs(np.diff(grey, axis=axis)).mean(axis=1 - axis)
        phase = np.arange(len(steps)) % BLOCK
        counts = np.bincount(phase, minlength=BLOCK).clip(min=1)
        of_phase = np.bincount(phase, steps, BLOCK) / counts
        # beside each other: how much detail there is was told above
        # a picture of one row has no step down
        mean = steps.sum() / max(len(steps), 1)
        figures.append(np.log(of_phase + 1) - np.log(mean + 1))
    return np.concatenate(figures)


@lru_cache(maxsize=8)
def _bands(rows: int, cols: int) -> Grouped:
    """Pitch and direction of each coefficient, and how many there are of each."""
    down = np.arange(rows)[:, None] / rows
    across = np.arange(cols)[None, :] / cols
    band = (np.hypot(down, across) / np.sqrt(2) * BANDS).astype(int)
    direction = (np.arctan2(down, across) / (np.pi / 2) * DIRECTIONS).astype(int)
    cell = (band * DIRECTIONS + direction.clip(max=DIRECTIONS - 1)).ravel()
    return cell, np.bincount(cell, minlength=BANDS * DIRECTIONS).clip(min=1)


def square_pixels(frame: Frame, side: int) -> Float[np.ndarray, "row col 3"]:
    """The frame as a square of so many pixels a side, 0 to 1."""
    square = _kept_square(frame) if side == SIDE else _square(frame, side)
    return square.astype(np.float64) / 255


def _kept_square(frame: Frame) -> Square:
    """The small square of a frame, opened once: each cue and placebo looks at the same frames."""
    square = _SQUARES.get(frame.key)
    if square is None:
        square = _square(frame, SIDE)
        if len(_SQUARES) >= MOST_SQUARES:
            _SQUARES.clear()
        _SQUARES[frame.key] = square
    return square


def _square(frame: Frame, side: int) -> Square:
    # BOX: each pixel of the frame counts once
    image = frame.load().convert("RGB").resize((side, side), Image.Resampling.BOX)
    return np.asarray(image)


def opponents(pixels: Float[np.ndarray, "*pixel 3"]) -> Float[np.ndarray, "*pixel 3"]:
    """Of red, green and blue light: brightness, red less green, and blue less brightness."""
    brightness = pixels.mean(axis=-1)
    red = pixels[..., 0] - pixels[..., 1]
    return np.stack([brightness, red, pixels[..., 2] - brightness], axis=-1)
