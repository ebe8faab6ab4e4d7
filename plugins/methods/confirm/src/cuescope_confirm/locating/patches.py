"""What stands where in a frame: its patches, of the picture or as a model sees them."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar, Literal

import numpy as np
from jaxtyping import Float
from PIL import Image

from cuescope_confirm.locating.places import size_of
from cuescope_confirm.study import Frames, Samples
from cuescope_sdk import Audit, Frame, Readout, Trial
from cuescope_sdk.locating import PixelPatches

FRAMES = 400  # of the run on each side, that a linear model learns from
Grids = list[np.ndarray]


@dataclass(frozen=True, eq=False)
class Cells:
    """What each cell of a frame is, by pixels or by patches of who is asked.

    `most` frames with a cue are looked at to learn it, and as many others.
    """

    by: Literal["pixels", "patches"]
    read: Callable[[Samples, Frames], Grids]
    most: int = FRAMES

    def __call__(self, samples: Samples, frames: Frames) -> Grids:
        """The grid of each frame, (row, col, dim)."""
        return self.read(samples, frames)


class Patches(Readout):
    """The patch features of each frame after a layer, (frame, row, col, dim), of the model."""

    name: ClassVar[str] = "confirm-patches"
    gives: ClassVar[Any] = Float[np.ndarray, "frame row col dim"]
    layer: int = -1

    def read(
        self,
        model: Any,
        trials: Sequence[Trial],
    ) -> Grids:
        """By `patch_features` of who is asked."""
        return [
            np.stack(model.patch_features(trial.sample.frames, self.layer))
            for trial in trials
        ]

    def accepts(self, array: np.ndarray, trial: Trial) -> bool:
        """Features of the patches of each frame."""
        is_grids = super().accepts(array, trial)
        return is_grids and len(array) == len(trial.sample.frames) and array.size > 0


class EyePatches(Patches):
    """Those of the outside eye (`--tool embedder=SPEC`)."""

    name: ClassVar[str] = "confirm-eye-patches"
    of_embedding: ClassVar[bool] = True


def seen_patches(audit: Audit) -> Cells | None:
    """What the model makes of the patches of frames, or the eye; None where neither tells."""
    exposes = audit.capabilities.exposes
    if "patches" in exposes:
        readout = Patches()
    elif "eye-patches" in exposes:
        readout = EyePatches()
    else:
        return None

    def patches(samples: Samples, frames: Frames) -> Grids:
        trials = []
        for key, number in frames:
            sample = samples[key]
            frame = _square(sample.frames[number])
            # a readout of the whole clip would give the patches of all its frames
            single = sample.with_frames((frame,), f"frame-{number}")
            trials.append(readout.of(single))
        outcomes = audit.respond(trials)
        return [np.asarray(outcome.response.readout)[0] for outcome in outcomes]

    return Cells("patches", patches, most=100)


def _square(frame: Frame) -> Frame:
    """The whole of a frame: models crop what is not square, and their grid does not span it."""
    rows, cols = size_of(frame)
    if rows == cols:
        return frame
    side = max(rows, cols)
    return frame.derive(f"squared {side}", partial(_resize, side=side))


def _resize(image: Image.Image, side: int) -> Image.Image:
    return image.resize((side, side))


def _pixel_patches(samples: Samples, frames: Frames) -> Grids:
    """Small overlapping patches of each frame."""
    return PixelPatches.FINE.of([samples[key].frames[number] for key, number in frames])


PIXEL_PATCHES = Cells("pixels", _pixel_patches)
