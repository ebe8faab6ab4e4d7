"""What pictures look like, without the model: small patches, and figures of the whole."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float
from numpy.random import Generator
from PIL import Image

from cuescope_confirm.locating.linear import Grid, Rows
from cuescope_confirm.locating.visual_words import Vocabulary, bags, learn_vocabulary
from cuescope_sdk import Frame

SIDE = 64  # pixels, to which a picture is brought
CELLS = 8  # along a side
RINGS = 12  # of spatial frequency
SMALL = 1e-6  # of power: a flat picture has none
FINE = (6, 2)  # pixels along a patch, and from patch to patch
OVERLAP = 3  # fine patches along a side that share pixels
COARSE = (8, 4)


@dataclass(frozen=True, eq=False)
class Look:
    """How whole pictures are described: colours by place, power by frequency, kinds of patches."""

    vocabulary: Vocabulary

    def read(self, frames: Sequence[Frame]) -> Rows:
        """A row for each frame."""
        words = map(self.vocabulary.read, patches_of(frames, *COARSE))
        figures = np.stack(list(map(figures_of, frames)))
        return np.concatenate([figures, bags(list(words))], axis=1)


def learn_look(frames: Sequence[Frame], rng: Generator) -> Look:
    """With kinds of patches that are larger than those that tell places, and of another draw."""
    return Look(learn_vocabulary(patches_of(frames, *COARSE), rng))


def patches_of(
    frames: Sequence[Frame],
    side: int,
    step: int,
) -> list[Grid]:
    """Overlapping patches of each frame, their colours in 0 to 1: (row, col, dim)."""
    edge = (side - step) // 2
    window = np.lib.stride_tricks.sliding_window_view
    grids = []
    for frame in frames:
        pixels = resized(frame, SIDE).astype(np.float32)
        # so each patch stands for the pixels of its own step
        pixels = np.pad(pixels, ((edge, edge), (edge, edge), (0, 0)), mode="reflect")
        patches = window(pixels, (side, side), axis=(0, 1))[::step, ::step]
        grids.append(patches.reshape(*patches.shape[:2], -1))
    return grids


def figures_of(frame: Frame) -> Float[np.ndarray, " figure"]:
    """Colours and contrast by place, and the power at each spatial frequency."""
    pixels = resized(frame, SIDE)
    size = SIDE // CELLS
    cells = pixels.reshape(CELLS, size, CELLS, size, 3)
    mean = cells.mean(axis=(1, 3))
    spread = cells.std(axis=(1, 3))
    grey = pixels.mean(axis=2)
    power = np.abs(np.fft.rfft2(grey - grey.mean())) ** 2
    rows = np.fft.fftfreq(SIDE)[:, None]
    ring = np.hypot(rows, np.fft.rfftfreq(SIDE)) * 2 * RINGS
    ring = ring.astype(int).clip(max=RINGS - 1)
    of_ring = np.bincount(ring.ravel(), power.ravel()) / np.bincount(ring.ravel())
    return np.concatenate([mean.ravel(), spread.ravel(), np.log(of_ring + SMALL)])


def resized(frame: Frame, side: int) -> Float[np.ndarray, "row col 3"]:
    """The frame as a square of so many pixels a side, 0 to 1."""
    # BOX: each pixel of the frame counts once
    image = frame.load().convert("RGB").resize((side, side), Image.Resampling.BOX)
    return np.asarray(image, np.float64) / 255
