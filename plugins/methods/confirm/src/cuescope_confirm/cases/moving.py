"""Another sample's frames, moved so that its cue lies where a sample has its own."""

from collections.abc import Sequence
from functools import partial

import numpy as np
from jaxtyping import Float
from PIL import Image, ImageChops

from cuescope_confirm.locating.places import Mask
from cuescope_sdk import Sample
from cuescope_sdk.interventions import Place

Step = Float[np.ndarray, "2"]  # down and to the right, in shares of a frame


def steps_onto(place: Place, other: Place) -> list[Step]:
    """How far each frame is moved, for both regions to have one middle in it.

    Not at all where one of them has no region.
    """
    steps = []
    for mask, shown in zip(place.masks, other.masks, strict=True):
        is_known = mask.any() and shown.any()
        steps.append(_middle(mask) - _middle(shown) if is_known else np.zeros(2))
    return steps


def _middle(mask: Mask) -> Step:
    return np.asarray(np.argwhere(mask).mean(axis=0) / mask.shape)


def move_place(place: Place, steps: Sequence[Step]) -> Place:
    """Its masks, moved round the edges."""
    masks = []
    for mask, step in zip(place.masks, steps, strict=True):
        masks.append(np.roll(mask, np.rint(step * mask.shape).astype(int), (0, 1)))
    return Place(tuple(masks), place.frames)


def move_frames(sample: Sample, steps: Sequence[Step]) -> Sample:
    """Its frames, moved round the edges by whole pixels."""
    frames = []
    for frame, step in zip(sample.frames, steps, strict=True):
        down, right = step.tolist()
        name = f"moved {down:.4f} {right:.4f}"
        frames.append(frame.derive(name, partial(_move, down=down, right=right)))
    return sample.with_frames(tuple(frames), "moved")


def _move(image: Image.Image, down: float, right: float) -> Image.Image:
    width, height = image.size
    return ImageChops.offset(image, round(right * width), round(down * height))
