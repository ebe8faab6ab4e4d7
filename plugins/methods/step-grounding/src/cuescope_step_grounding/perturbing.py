"""Controlled changes of a video, and how large they are (section 3.5 of the paper).

With boxes of the key objects these are moved or covered; without, whole frames are mirrored or
shifted, and their middle covered. The control leaves everything that is annotated as it is.
"""

from collections.abc import Callable, Sequence
from functools import partial

import numpy as np
from PIL import Image

from cuescope_sdk import Frame, Sample
from cuescope_step_grounding.key_objects import Box, Boxes, boxes_of
from cuescope_step_grounding.naming import Perturbation
from cuescope_step_grounding.pixels import (
    Way,
    brightened,
    centre_covered,
    covered,
    difference,
    mirrored,
    moved,
    rolled,
)

RELEVANT: tuple[Perturbation, ...] = ("position", "temporal", "visibility")
LEAST, MOST = 0.35, 0.65  # shares of the room by which a box moves on
LEVELS = 16  # of 255, by which the background changes
Frames = tuple[Frame, ...]


def perturbed(
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
    found = []
    for frames in variants:
        pairs = [
            difference(images[one.key], images.get(other.key) or other.load())
            for one, other in zip(original, frames, strict=True)
            if one.key != other.key
        ]
        found.append(sum(pairs) / len(original))
    return found


def _position(frames: Frames, key: Boxes, rng: np.random.Generator) -> Frames | None:
    """Key objects elsewhere, each by its own way in all frames; else the picture mirrored.

    Without boxes every other draw shifts the picture instead.
    """
    things = sorted({thing for boxes in key for thing in boxes})
    if things:
        ways = {thing: _way(rng) for thing in things}
        return tuple(_moved(frame, boxes, ways) for frame, boxes in zip(frames, key, strict=True))
    dx, dy = _way(rng)
    if rng.random() < 0.5:
        return tuple(_changed(frame, "mirrored", mirrored) for frame in frames)
    shift = partial(rolled, dx=dx, dy=dy)
    return tuple(_changed(frame, "rolled", shift, (dx, dy)) for frame in frames)


def _way(rng: np.random.Generator) -> Way:
    dx, dy = rng.uniform(LEAST, MOST, 2).tolist()
    return round(dx, 3), round(dy, 3)


def _moved(frame: Frame, boxes: dict[str, Box], ways: dict[str, Way]) -> Frame:
    own = tuple((box, ways[thing]) for thing, box in boxes.items())
    return _changed(frame, "moved", partial(moved, ways=own), own) if own else frame


def _temporal(frames: Frames, rng: np.random.Generator) -> Frames | None:
    """Another order, which looks different."""
    keys = [frame.key for frame in frames]
    if len(set(keys)) < 2:
        return None
    for _ in range(20):
        order = rng.permutation(len(frames))
        if [keys[place] for place in order] != keys:
            return tuple(frames[place] for place in order)
    turned = frames[::-1]
    return turned if [frame.key for frame in turned] != keys else (*frames[1:], frames[0])


def _visibility(frames: Frames, key: Boxes, rng: np.random.Generator) -> Frames | None:
    """Key objects covered in half of the frames that show them; else the middle of half of all."""
    able = [place for place, boxes in enumerate(key) if boxes] or list(range(len(frames)))
    if not able:
        return None
    drawn = set(rng.permutation(able)[: max(1, len(able) // 2)].tolist())
    changed = []
    for place, frame in enumerate(frames):
        boxes = key[place] if key else {}
        if place not in drawn:
            changed.append(frame)
        elif boxes:
            hide = partial(covered, boxes=_of(boxes))
            changed.append(_changed(frame, "covered", hide, (boxes,)))
        else:
            changed.append(_changed(frame, "centre covered", centre_covered))
    return tuple(changed)


def _irrelevant(sample: Sample, rng: np.random.Generator) -> Frames:
    """The background a little brighter, or darker where it is bright; what is annotated stays."""
    by = int(rng.integers(LEVELS // 2, LEVELS + 1))
    known = boxes_of(sample) or ({},) * len(sample.frames)
    return tuple(
        _changed(frame, "brightened", partial(brightened, boxes=_of(boxes), by=by), (boxes, by))
        for frame, boxes in zip(sample.frames, known, strict=True)
    )


def _changed(
    frame: Frame,
    name: str,
    function: Callable[[Image.Image], Image.Image],
    parameters: tuple[object, ...] = (),
) -> Frame:
    return frame.derive(f"step-grounding {name} {parameters!r}", function)


def _of(boxes: dict[str, Box]) -> tuple[Box, ...]:
    return tuple(boxes.values())
