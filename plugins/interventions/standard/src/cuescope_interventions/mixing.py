"""What another sample shows in a region: without the cue, or with it."""

from collections.abc import Callable
from functools import partial

import numpy as np
from PIL import Image

from cuescope_interventions.arrays import Levels, Mask, Pixels, as_bytes
from cuescope_interventions.case_by_case import CaseByCase, nearest_number
from cuescope_interventions.cloning import clone
from cuescope_sdk import Frame, Trial, digest
from cuescope_sdk.interventions import Case, change_frames, open_frame

Paint = Callable[[Frame, Mask | None, Pixels, Mask], Pixels]
FLAT = 2.0  # grey levels: a channel with less spread has no form of its own
MOST_SPREAD = 8.0  # times that the spread of a channel grows at most: noise stays noise


class Swap(CaseByCase):
    """The cue's region shows what another sample has there, one without the cue.

    Where `donor_place` is the donor's own region, what lies outside of it (the donor's object) is
    not taken: the nearest pixel inside stands there.
    """

    title = "its region shows what a sample without it has there"
    needs = "region"
    placebo = "other donor"

    def change(self, case: Case) -> Trial:
        """The sample with changed frames."""
        return from_donor(case, "swap", _take)


class Blend(CaseByCase):
    """As `swap`, without an edge: the donor's detail on the tones that the sample has round it."""

    title = "its region shows what a sample without it has there, without an edge"
    needs = "region"
    placebo = "other donor"

    def change(self, case: Case) -> Trial:
        """The sample with changed frames."""
        return from_donor(case, "blend", _blend)


def _blend(frame: Frame, inside: Mask | None, pixels: Pixels, mask: Mask) -> Pixels:
    return clone(pixels, _take(frame, inside, pixels, mask), mask)


class Transplant(CaseByCase):
    """The cue's region is pasted into samples that do not show it, at its own place."""

    title = "it is pasted into samples without it"
    needs = "region"
    effect = "inserts"
    placebo = "other donor"

    def change(self, case: Case) -> Trial:
        """The sample with changed frames."""
        return from_donor(case, "transplant", _take)


class Recolour(CaseByCase):
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

    def change(self, case: Case) -> Trial:
        """The sample with changed frames."""
        return from_donor(case, "recolour", _recolour)


def _recolour(frame: Frame, inside: Mask | None, pixels: Pixels, mask: Mask) -> Pixels:
    """The pixels with mean and spread of the donor's, channel by channel."""
    donor = np.asarray(open_frame(frame), np.float32)
    colours = donor.reshape(-1, 3)
    # without a region of the donor all of it gives the colours
    if inside is not None and inside.any():
        colours = donor[inside]
    own = pixels[mask].astype(np.float32)
    result = pixels.copy()
    for channel in range(3):
        form = own[:, channel]
        if form.std() < FLAT:
            form = own.mean(axis=1)
        changed = _with_mean_and_spread(form, colours[:, channel])
        result[mask, channel] = as_bytes(changed)
    return result


def _with_mean_and_spread(form: Levels, wanted: Levels) -> Levels:
    """The form of one channel, with mean and spread of another."""
    # a region of one brightness has no spread to divide by
    spread = max(float(form.std()), 1e-6)
    share = min(float(wanted.std()) / spread, MOST_SPREAD)
    changed = (form - form.mean()) * share
    changed += wanted.mean()
    return np.asarray(changed)


def from_donor(case: Case, operation: str, paint: Paint) -> Trial:
    """The case's sample, painted with a frame of the donor, where `donor_place` is in it."""
    donor = case.donor
    if donor is None or not donor.frames:
        raise ValueError(f"{operation} needs a donor for sample {case.sample.key}")
    frames = donor.frames
    masks = case.donor_place.masks
    shown = [number for number, mask in enumerate(masks) if mask.any()]

    def paint_of(number: int) -> partial[Pixels]:
        # the donor may have other frames: the one that is nearest in number is taken
        nearest = nearest_number(number, shown or range(len(frames)))
        inside = masks[nearest] if masks else None
        return partial(paint, frames[nearest], inside)

    # the name becomes the frames' keys, so all that decides the pixels is in it
    source = ",".join(frame.key[:12] for frame in frames)
    # with the shape: bits alone do not tell 2 x 8 from 8 x 2
    packed = []
    for mask in masks:
        bits = np.packbits(mask).tobytes()
        packed.append((bits, mask.shape))
    name = f"{operation} {source} {digest(*packed)}"
    return change_frames(case.sample, case.place, name, paint_of)


def _take(frame: Frame, inside: Mask | None, pixels: Pixels, mask: Mask) -> Pixels:
    """The donor's pixels at the size of the sample's own."""
    rows, cols = mask.shape
    image = open_frame(frame)
    # frames of a data set need not have one size
    if image.size != (cols, rows):
        image = image.resize((cols, rows), Image.Resampling.BILINEAR)
    taken = np.asarray(image)
    if inside is None:
        return taken
    # NEAREST: a mask has no halves
    drawn = Image.fromarray(inside).resize((cols, rows), Image.Resampling.NEAREST)
    region = np.asarray(drawn)
    # a small region of a large donor may have no pixel left
    if not region.any() or region.all():
        return taken
    # imported late: a list of plugins must not wait for scipy
    from scipy.ndimage import distance_transform_edt

    nearest = distance_transform_edt(
        ~region,
        return_distances=False,
        return_indices=True,
    )
    return np.asarray(taken[tuple(nearest)])
