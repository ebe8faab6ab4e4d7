"""What another sample shows in a region: without the cue, or with it."""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
from jaxtyping import Bool, UInt8
from PIL import Image

from cuescope_sdk import Frame, Trial
from cuescope_sdk.interventions import Case, Intervention, change_frames, open_frame

Pixels = UInt8[np.ndarray, "row col 3"]
Mask = Bool[np.ndarray, "row col"]


class Swap(Intervention):
    """The cue's region shows what another sample has there, one without the cue.

    Where `donor_place` is the donor's own region, what lies outside of it (the donor's object) is
    not taken: the nearest pixel inside stands there.
    """

    title = "its region shows what a sample without it has there"
    needs = "region"
    placebo = "other donor"

    def intervene(self, cases: Sequence[Case], tools: Mapping[str, Any]) -> list[Trial]:
        """The samples with changed frames."""
        return [pasted(case, "swap") for case in cases]


class Transplant(Intervention):
    """The cue's region is pasted into samples that do not show it, at its own place."""

    title = "it is pasted into samples without it"
    needs = "region"
    effect = "inserts"
    placebo = "other donor"

    def intervene(self, cases: Sequence[Case], tools: Mapping[str, Any]) -> list[Trial]:
        """The samples with changed frames."""
        return [pasted(case, "transplant") for case in cases]


def pasted(case: Case, operation: str) -> Trial:
    """The case's sample with the donor's pixels under the masks, frame by frame."""
    donor = case.donor
    if donor is None or not donor.frames:
        raise ValueError(f"{operation} needs a donor for sample {case.sample.key}")
    frames, masks = donor.frames, case.donor_place.masks

    def paint(number: int) -> partial[Pixels]:
        at = min(number, len(frames) - 1)
        return partial(_taken, frames[at], masks[at] if masks else None)

    source = ",".join(frame.key[:12] for frame in frames)
    outside = "".join(str(int(mask.sum())) for mask in masks)
    return change_frames(case.sample, case.place, f"{operation} {source} {outside}", paint)


def _taken(frame: Frame, inside: Mask | None, pixels: Pixels, mask: Mask) -> Pixels:
    """The donor's pixels at the size of the sample's own."""
    image = open_frame(frame)
    size = (pixels.shape[1], pixels.shape[0])
    if image.size != size:
        image = image.resize(size, Image.Resampling.BILINEAR)
    taken = np.asarray(image)
    if inside is None or not inside.any() or inside.all():
        return taken
    from scipy.ndimage import distance_transform_edt

    drawn = Image.fromarray(inside.astype(np.uint8) * 255).resize(size, Image.Resampling.NEAREST)
    near = distance_transform_edt(
        np.asarray(drawn) == 0, return_distances=False, return_indices=True
    )
    return np.asarray(taken[near[0], near[1]])
