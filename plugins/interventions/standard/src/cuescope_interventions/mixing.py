"""What another sample shows in a region: without the cue, or with it."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
from jaxtyping import Bool, UInt8
from PIL import Image

from cuescope_sdk import Frame, Trial, digest
from cuescope_sdk.interventions import Case, Intervention, change_frames, open_frame

Pixels = UInt8[np.ndarray, "row col 3"]
Mask = Bool[np.ndarray, "row col"]
FLAT = 2.0  # grey levels: a channel with less spread has no form of its own
MOST_SPREAD = 8.0  # times that the spread of a channel grows at most: noise stays noise


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


class Recolour(Intervention):
    """The cue's region takes the colours of a sample without the cue; shapes stay as they are.

    Mean and spread of each channel become those of the donor's region (Reinhard et al., 2001), so
    that a cast of all of the frame or the colour of a thing goes, and the thing stays. A channel
    that is the same all over the region follows its brightness.
    """

    title = "its region takes the colours of a sample without it"
    needs = "region"
    placebo = "other donor"
    in_place = False
    partial = True

    def intervene(self, cases: Sequence[Case], tools: Mapping[str, Any]) -> list[Trial]:
        """The samples with changed frames."""
        return [from_donor(case, "recolour", _recoloured) for case in cases]


def _recoloured(frame: Frame, inside: Mask | None, pixels: Pixels, mask: Mask) -> Pixels:
    """The pixels with mean and spread of the donor's, channel by channel."""
    taken = np.asarray(open_frame(frame), np.float32)
    donor = taken[inside] if inside is not None and inside.any() else taken.reshape(-1, 3)
    own = pixels[mask].astype(np.float32)
    grey = own.mean(axis=1)
    changed = np.empty_like(own)
    for channel in range(3):
        values = own[:, channel]
        flat = values.std() < FLAT
        form = grey if flat else values
        share = min(float(donor[:, channel].std()) / max(float(form.std()), 1e-6), MOST_SPREAD)
        changed[:, channel] = (form - form.mean()) * share + donor[:, channel].mean()
    result = pixels.copy()
    result[mask] = np.rint(changed.clip(0, 255)).astype(np.uint8)
    return result


def pasted(case: Case, operation: str) -> Trial:
    """The case's sample with the donor's pixels under the masks, frame by frame."""
    return from_donor(case, operation, _taken)


def from_donor(
    case: Case, operation: str, paint: Callable[[Frame, Mask | None, Pixels, Mask], Pixels]
) -> Trial:
    """The case's sample, painted with a frame of the donor, where `donor_place` is in it."""
    donor = case.donor
    if donor is None or not donor.frames:
        raise ValueError(f"{operation} needs a donor for sample {case.sample.key}")
    frames = donor.frames
    masks = case.donor_place.masks
    shown = [n for n, mask in enumerate(masks) if mask.any()] or list(range(len(frames)))

    def of_frame(number: int) -> partial[Pixels]:
        at = min(shown, key=lambda other: (abs(other - number), other))
        return partial(paint, frames[at], masks[at] if masks else None)

    source = ",".join(frame.key[:12] for frame in frames)
    inside = digest(*((np.packbits(mask).tobytes(), mask.shape) for mask in masks))
    return change_frames(case.sample, case.place, f"{operation} {source} {inside}", of_frame)


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
