"""The cue's pixels are one colour, out of focus, or filled in by an image editor."""

from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Annotated, Any, ClassVar, Literal

import numpy as np
from jaxtyping import Bool, UInt8
from pydantic import Field

from cuescope_sdk import ImageEdit, Options, Requirements, Trial, Words, digest
from cuescope_sdk.interventions import Case, Intervention, change_frames

Pixels = UInt8[np.ndarray, "row col 3"]
Mask = Bool[np.ndarray, "row col"]
LEVELS = {"black": 0, "grey": 128, "white": 255}


class Painted(Intervention):
    """The region's pixels are painted over; `paint` says how, and what that is called."""

    needs = "region"

    @property
    @abstractmethod
    def paint(self) -> tuple[str, Callable[[Pixels, Mask], Pixels]]:
        """A name with all that decides the paint, and a picklable function of pixels and mask."""

    def intervene(self, cases: Sequence[Case], tools: Mapping[str, Any]) -> list[Trial]:
        """The samples with changed frames."""
        name, paint = self.paint
        return [change_frames(case.sample, case.place, name, lambda _: paint) for case in cases]


class BlankOptions(Options):
    """What stands where the cue was; the part after `blank:` is `fill`."""

    argument: ClassVar[str | None] = "fill"

    fill: Literal["mean", "black", "grey", "white"] = Field(
        "mean", description="colour; mean is that of the rest of the frame"
    )


class Blank(Painted):
    """The region is one colour."""

    title = "its pixels are blanked"
    Options = BlankOptions
    options: BlankOptions

    @property
    def paint(self) -> tuple[str, Callable[[Pixels, Mask], Pixels]]:
        """One colour."""
        return f"blank {self.options.fill}", partial(_blank, self.options.fill)


def _blank(fill: str, pixels: Pixels, mask: Mask) -> Pixels:
    if fill == "mean" and not mask.all():
        colour = np.rint(pixels[~mask].mean(axis=0)).astype(np.uint8)
    else:
        colour = np.full(3, LEVELS.get(fill, 128), np.uint8)
    return np.broadcast_to(colour, pixels.shape)


class BlurOptions(Options):
    """How far out of focus."""

    radius: float = Field(
        0.15, gt=0, le=1, description="standard deviation, a share of the frame's shorter side"
    )


class Blur(Painted):
    """The region is out of focus: its mean colour stays, its detail goes."""

    title = "its pixels are blurred"
    partial = True
    Options = BlurOptions
    options: BlurOptions

    @property
    def paint(self) -> tuple[str, Callable[[Pixels, Mask], Pixels]]:
        """The region's own pixels, smoothed."""
        return f"blur {self.options.radius:g}", partial(_blur, self.options.radius)


def _blur(radius: float, pixels: Pixels, mask: Mask) -> Pixels:
    from scipy.ndimage import gaussian_filter

    sigma = radius * min(pixels.shape[:2])
    blurred = gaussian_filter(pixels.astype(np.float32), (sigma, sigma, 0))
    return np.asarray(np.rint(blurred).astype(np.uint8))


class InpaintOptions(Options):
    """What the editor is told."""

    instruction: Annotated[str, Words()] = Field(
        "remove the {cue} and fill in what is behind it",
        description="what the editor is told; {cue} is the cue's name",
    )


class Inpaint(Intervention):
    """An image editor fills the region with what could be behind it."""

    title = "an image editor fills its region"
    needs = "region"
    requires = Requirements(outputs=frozenset(), tools=frozenset({"image-editor"}))
    Options = InpaintOptions
    options: InpaintOptions

    def intervene(self, cases: Sequence[Case], tools: Mapping[str, Any]) -> list[Trial]:
        """The samples with edited frames; a frame without the cue is not edited."""
        edits: list[ImageEdit] = []
        for case in cases:
            words = self.options.instruction.replace("{cue}", case.word or "marked region")
            for frame, mask in zip(case.sample.frames, case.place.masks, strict=False):
                if mask.any():
                    edits.append(ImageEdit(frame, words, mask, case.seed))
        edited = iter(tools["image-editor"].edit(edits))
        trials = []
        for case in cases:
            frames = list(case.sample.frames)
            for number, mask in enumerate(case.place.masks):
                if mask.any():
                    frames[number] = next(edited)
            suffix = f"inpaint-{digest(*(frame.key for frame in frames))[:10]}"
            trials.append(Trial(sample=case.sample.with_frames(tuple(frames), suffix)))
        return trials
