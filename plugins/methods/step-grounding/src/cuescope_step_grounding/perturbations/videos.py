"""Controlled changes of a video, and how large they are (section 3.5 of the paper).

With boxes of the key objects these are moved or covered; without, whole frames are mirrored or
shifted, and their middle covered. The control leaves everything that is annotated as it is.
"""

from collections.abc import Callable, Sequence
from functools import partial

import numpy as np
from PIL import Image

from cuescope_sdk import Frame, Sample
from cuescope_step_grounding.options import Perturbation
from cuescope_step_grounding.perturbations.key_objects import Boxes, boxes_of
from cuescope_step_grounding.perturbations.pixels import (
    Box,
    Shift,
    brighten,
    cover_boxes,
    cover_centre,
    difference,
    mirror,
    move_boxes,
    roll,
)

LEAST_SHIFT, MOST_SHIFT = 0.35, 0.65  # shares of the room by which a box moves on
LEVELS = 16  # of 255, by which the background changes
Frames = tuple[Frame, ...]


def perturbed_frames(
    sample: Sample, kind: Perturbation, key: Boxes, rng: np.random.Generator
) -> Frames | None:
    """The frames after one change of a kind; None where it cannot change anything."""
    match kind:
        case "position":
            return _position(sample.frames, key, rng)
        case "temporal":
            return _temporal(sample.frames, rng)
        case "visibility":
            return _visibility(sample.frames, key, rng)
        case "irrelevant":
            return _irrelevant(sample, rng)
    return None


def magnitudes(original: Frames, variants: Sequence[Frames]) -> list[float]:
    """|P| of eq. 4 of each: mean absolute difference of pixels over all frames, from 0 to 1."""
    images = {frame.key: frame.load() for frame in original}
    sizes = []
    for frames in variants:
        pairs = [
            difference(images[frame.key], images.get(changed.key) or changed.load())
            for frame, changed in zip(original, frames, strict=True)
            if frame.key != changed.key
        ]
        sizes.append(sum(pairs) / len(original))
    return sizes


def _position(frames: Frames, key: Boxes, rng: np.random.Generator) -> Frames | None:
    """Key objects elsewhere, each by the same shift in all frames; else the picture mirrored.

    Without boxes every other draw shifts the picture instead.
    """
    # Each thing by its own shift: moved together, their relations would stay as they were.
    things = sorted({thing for boxes in key for thing in boxes})
    if things:
        shifts = {thing: _shift(rng) for thing in things}
        return tuple(_move(frame, boxes, shifts) for frame, boxes in zip(frames, key, strict=True))
    dx, dy = _shift(rng)
    if rng.random() < 0.5:
        return tuple(_change(frame, "mirrored", mirror) for frame in frames)
    shift = partial(roll, dx=dx, dy=dy)
    return tuple(_change(frame, "rolled", shift, (dx, dy)) for frame in frames)


def _shift(rng: np.random.Generator) -> Shift:
    dx, dy = rng.uniform(LEAST_SHIFT, MOST_SHIFT, 2).tolist()
    return round(dx, 3), round(dy, 3)


def _move(frame: Frame, boxes: dict[str, Box], shifts: dict[str, Shift]) -> Frame:
    own = tuple((box, shifts[thing]) for thing, box in boxes.items())
    return _change(frame, "moved", partial(move_boxes, shifts=own), own) if own else frame


def _temporal(frames: Frames, rng: np.random.Generator) -> Frames | None:
    """Another order, which looks different."""
    keys = [frame.key for frame in frames]
    if len(set(keys)) < 2:
        return None
    # Equal frames can make a permutation look like the original; twenty draws, then the reverse,
    # then a rotation, which differs wherever two frames do.
    for _ in range(20):
        order = rng.permutation(len(frames))
        if [keys[index] for index in order] != keys:
            return tuple(frames[index] for index in order)
    reversed_ = frames[::-1]
    return reversed_ if [frame.key for frame in reversed_] != keys else (*frames[1:], frames[0])


def _visibility(frames: Frames, key: Boxes, rng: np.random.Generator) -> Frames | None:
    """Key objects covered in half of the frames that show them; else the middle of half of all."""
    candidates = [index for index, boxes in enumerate(key) if boxes] or list(range(len(frames)))
    if not candidates:
        return None
    hidden = set(rng.permutation(candidates)[: max(1, len(candidates) // 2)].tolist())
    changed = []
    for index, frame in enumerate(frames):
        boxes = key[index] if key else {}
        if index not in hidden:
            changed.append(frame)
        elif boxes:
            hide = partial(cover_boxes, boxes=tuple(boxes.values()))
            changed.append(_change(frame, "covered", hide, (boxes,)))
        else:
            changed.append(_change(frame, "centre covered", cover_centre))
    return tuple(changed)


def _irrelevant(sample: Sample, rng: np.random.Generator) -> Frames:
    """The background a little brighter, or darker where it is bright; what is annotated stays."""
    by = int(rng.integers(LEVELS // 2, LEVELS + 1))
    known = boxes_of(sample) or ({},) * len(sample.frames)
    changed = []
    for frame, boxes in zip(sample.frames, known, strict=True):
        change = partial(brighten, boxes=tuple(boxes.values()), by=by)
        changed.append(_change(frame, "brightened", change, (boxes, by)))
    return tuple(changed)


def _change(
    frame: Frame,
    name: str,
    function: Callable[[Image.Image], Image.Image],
    parameters: tuple[object, ...] = (),
) -> Frame:
    # The key tells what was done, so equal changes have equal keys and are asked of a model once.
    return frame.derive(f"step-grounding {name} {parameters!r}", function)
