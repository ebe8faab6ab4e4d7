"""The cue's pixels are one colour, out of focus, or filled in: from their edge, or by an editor."""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Annotated, Any, Literal

import numpy as np
from pydantic import Field

from cuescope_interventions.arrays import Mask, Pixels, as_bytes
from cuescope_interventions.case_by_case import CaseByCase, paint_over, with_frames
from cuescope_interventions.cloning import clone
from cuescope_sdk import ImageEdit, Options, Requirements, Trial, Words
from cuescope_sdk.interventions import Case, Intervention

LEVELS = {"black": 0, "grey": 128, "white": 255}


class BlankOptions(Options):
    """What stands where the cue was; the part after `blank:` is `fill`."""

    argument = "fill"

    fill: Literal["mean", "black", "grey", "white"] = Field(
        "mean", description="colour; mean is that of the rest of the frame"
    )


class Blank(CaseByCase):
    """The region is one colour."""

    title = "its pixels are blanked"
    needs = "region"
    Options = BlankOptions
    options: BlankOptions

    def change(self, case: Case) -> Trial:
        """The sample with one colour in the region."""
        fill = self.options.fill
        return paint_over(case, f"blank {fill}", partial(_blank, fill))


def _blank(fill: str, pixels: Pixels, mask: Mask) -> Pixels:
    if fill == "mean" and not mask.all():
        # of the rest: the region's own mean would leave some of the cue
        colour = as_bytes(pixels[~mask].mean(axis=0))
    else:
        # a region that fills the frame has no rest, and is grey
        colour = np.full(3, LEVELS.get(fill, 128), np.uint8)
    # not copied: only what is under the mask is taken
    return np.broadcast_to(colour, pixels.shape)


class Heal(CaseByCase):
    """What is round the region runs into it, so that no edge and no new colour is left."""

    title = "its region is filled in from its edge"
    needs = "region"

    def change(self, case: Case) -> Trial:
        """The sample with a smooth region."""
        return paint_over(case, "heal", _heal)


def _heal(pixels: Pixels, mask: Mask) -> Pixels:
    # what has one colour has no detail to bring along
    grey = np.full_like(pixels, LEVELS["grey"])
    return clone(pixels, grey, mask)


class BlurOptions(Options):
    """How far out of focus."""

    radius: float = Field(
        0.15,
        gt=0,
        le=1,
        description="standard deviation, a share of the frame's shorter side",
    )


class Blur(CaseByCase):
    """The region is out of focus: its mean colour stays, its detail goes."""

    title = "its pixels are blurred"
    needs = "region"
    partial = True
    Options = BlurOptions
    options: BlurOptions

    def change(self, case: Case) -> Trial:
        """The sample with the region's own pixels, smoothed."""
        radius = self.options.radius
        return paint_over(case, f"blur {radius:g}", partial(_blur, radius))


def _blur(radius: float, pixels: Pixels, mask: Mask) -> Pixels:
    from scipy.ndimage import gaussian_filter

    # a share of the frame: it looks the same at any resolution
    sigma = radius * min(pixels.shape[:2])
    # 0: channels are not mixed; float32, for bytes would be rounded in each pass
    blurred = gaussian_filter(pixels.astype(np.float32), (sigma, sigma, 0))
    return as_bytes(blurred)


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
            # a placebo has no word: the editor is told of the region alone
            name = case.word or "marked region"
            words = self.options.instruction.replace("{cue}", name)
            for frame, mask in zip(case.sample.frames, case.place.masks, strict=False):
                if mask.any():
                    edits.append(ImageEdit(frame, words, mask, case.seed))
        # one call for all: an editor may work in batches
        edited = iter(tools["image-editor"].edit(edits))
        trials = []
        for case in cases:
            frames = list(case.sample.frames)
            for number, mask in enumerate(case.place.masks):
                if mask.any():
                    frames[number] = next(edited)
            trials.append(with_frames(case.sample, frames, "inpaint"))
        return trials
