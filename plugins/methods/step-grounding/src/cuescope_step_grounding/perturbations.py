"""Controlled changes of a video, and how large they are (section 3.5 of the paper).

With boxes of the key objects these are moved or covered; without, whole frames are shifted, and
their middle covered. The control leaves everything that is annotated as it is.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from itertools import chain

import numpy as np
from numpy.random import Generator
from PIL import Image, ImageChops, ImageStat

from cuescope_sdk import Frame, Sample
from cuescope_sdk.grounding import SCENE, Claim, Thing
from cuescope_step_grounding.claims.contents import flatten
from cuescope_step_grounding.options import Perturbation

Box = tuple[float, float, float, float]
Boxes = tuple[dict[str, Box], ...]  # by thing, a mapping a frame


def boxes_of(sample: Sample) -> Boxes:
    """Where the visible things of an annotated scene are; empty without a scene."""
    boxes = []
    for frame in sample.annotations.get(SCENE, ()):
        shown = {}
        for item in frame.things:
            if item.visible and item.box:
                shown[item.id] = item.box
        boxes.append(shown)
    return tuple(boxes)


def key_boxes(sample: Sample, claims: Iterable[Claim]) -> Boxes:
    """The boxes of what the question names and of what is claimed; where that is none, of all."""
    things: list[Thing] = []
    for frame in sample.annotations.get(SCENE, ()):
        things += frame.things
    phrases = []
    for claim in flatten(claims):
        phrases += [claim.subject, claim.object]
    claimed = ". ".join(filter(None, phrases))
    keys = named_things(sample.question or "", things) | named_things(claimed, things)
    boxes = boxes_of(sample)
    if keys.isdisjoint(chain.from_iterable(boxes)):
        return boxes
    return tuple(
        {key: box for key, box in frame.items() if key in keys} for frame in boxes
    )


def named_things(text: str, things: Iterable[Thing]) -> set[str]:
    """The ids of the things that a text names, those with their attributes before all others.

    "Where is the red cup?" means the red cup where there is one, and else any cup.
    """
    words = re.findall(r"[^\W_]+", text.lower())
    # Blanks on both sides make "cup" a word and no part of "cupboard".
    text = f" {' '.join(words)} "
    with_attribute = set()
    by_name = set()
    for item in things:
        name = f"{item.name} ".lower()
        if any(f" {attribute.lower()} {name}" in text for attribute in item.attributes):
            with_attribute.add(item.id)
        if f" {name}" in text:
            by_name.add(item.id)
    return with_attribute or by_name


LEAST_SHIFT = 0.35  # share of the room by which a box moves on
MOST_SHIFT = 0.65
LEVELS = 16  # of 255, by which the background changes
Frames = tuple[Frame, ...]
Cells = tuple[int, int, int, int]
Shift = tuple[float, float]  # across and down, in shares of the room that a box has


def perturbed_frames(
    sample: Sample,
    kind: Perturbation,
    key: Boxes,
    rng: Generator,
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
        changes = 0.0
        for frame, changed in zip(original, frames, strict=True):
            if frame.key != changed.key:
                # another order of the same frames needs no second look at a file
                image = images.get(changed.key) or changed.load()
                changes += difference(images[frame.key], image)
        sizes.append(changes / len(original))
    return sizes


def _position(frames: Frames, key: Boxes, rng: Generator) -> Frames | None:
    """Key objects elsewhere, each by the same shift in all frames; else the picture shifted."""
    # Each thing by its own shift: moved together, their relations would stay as they were.
    things = sorted(set(chain.from_iterable(key)))
    shifts = {name: _shift(rng) for name in things}
    if shifts:
        return _move_things(frames, key, shifts)
    dx, dy = _shift(rng)
    rolling = partial(roll, dx=dx, dy=dy)
    return tuple(_change(frame, "rolled", rolling, (dx, dy)) for frame in frames)


def _move_things(frames: Frames, key: Boxes, shifts: Mapping[str, Shift]) -> Frames:
    moved = list(frames)
    for index, boxes in enumerate(key):
        moves = tuple((box, shifts[thing]) for thing, box in boxes.items())
        if moves:
            moving = partial(move_boxes, shifts=moves)
            moved[index] = _change(frames[index], "moved", moving, moves)
    return tuple(moved)


def _shift(rng: Generator) -> Shift:
    dx, dy = rng.uniform(LEAST_SHIFT, MOST_SHIFT, 2).tolist()
    # it is part of a frame's key, see `_change`
    return round(dx, 3), round(dy, 3)


def _temporal(frames: Frames, rng: Generator) -> Frames | None:
    """Another order, which looks different."""
    keys = _keys(frames)
    if len(set(keys)) < 2:
        return None
    order = frames
    # equal frames can make a permutation look like the original
    while _keys(order) == keys:
        order = tuple(map(frames.__getitem__, rng.permutation(len(frames))))
    return order


def _keys(frames: Frames) -> list[str]:
    return [frame.key for frame in frames]


def _visibility(frames: Frames, key: Boxes, rng: Generator) -> Frames | None:
    """Key objects covered in half of the frames that show them; else the middle of half of all."""
    shown = [index for index, boxes in enumerate(key) if boxes]
    candidates = rng.permutation(shown or range(len(frames)))
    if not frames:
        return None
    changed = list(frames)
    # half of one frame would be none
    for index in candidates[: max(1, len(candidates) // 2)].tolist():
        boxes = key[index] if key else {}
        if boxes:
            covering = partial(cover_boxes, boxes=tuple(boxes.values()))
            changed[index] = _change(frames[index], "covered", covering, (boxes,))
        else:
            changed[index] = _change(frames[index], "centre covered", cover_centre)
    return tuple(changed)


def _irrelevant(sample: Sample, rng: Generator) -> Frames:
    """The background a little brighter, or darker where it is bright; what is annotated stays."""
    # never 0: VRS divides by how large the change is
    by = int(rng.integers(LEVELS // 2, LEVELS + 1))
    annotated = boxes_of(sample) or ({},) * len(sample.frames)
    changed = []
    for frame, boxes in zip(sample.frames, annotated, strict=True):
        brightening = partial(brighten, boxes=tuple(boxes.values()), by=by)
        changed.append(_change(frame, "brightened", brightening, (boxes, by)))
    return tuple(changed)


def _change(
    frame: Frame,
    name: str,
    function: Callable[[Image.Image], Image.Image],
    parameters: tuple[object, ...] = (),
) -> Frame:
    # The key tells what was done, so equal changes have equal keys and are asked of a model once.
    return frame.derive(f"step-grounding {name} {parameters!r}", function)


# ---------------------------------------------------------------------------- changes of one image
# Module-level functions, so that a frame that uses one can be sent to another process. Boxes are
# (x0, y0, x1, y1) in pixels; those that leave the image are cut to it.


def move_boxes(
    image: Image.Image, shifts: tuple[tuple[Box, Shift], ...]
) -> Image.Image:
    """Each box at another place; what it leaves is covered.

    A box moves on by the shares of the room that its shift says, and wraps around.
    """
    # all holes first: a box must not be covered by the next one's hole
    changed = cover_boxes(image, tuple(box for box, _ in shifts))
    for box, (dx, dy) in shifts:
        for cell in _cells_of([box], image):
            part = image.crop(cell)
            x = _wrap(cell[0], dx, image.width - part.width)
            y = _wrap(cell[1], dy, image.height - part.height)
            changed.paste(part, (x, y))
    return changed


def cover_boxes(image: Image.Image, boxes: tuple[Box, ...]) -> Image.Image:
    """The boxes in the median colour of the picture."""
    colour = tuple(map(int, ImageStat.Stat(image).median))
    covered = image.copy()
    for cell in _cells_of(boxes, image):
        covered.paste(colour, cell)
    return covered


def cover_centre(image: Image.Image) -> Image.Image:
    """The middle of the image, half as wide and high, covered."""
    width = image.width / 4
    height = image.height / 4
    return cover_boxes(image, ((width, height, 3 * width, 3 * height),))


def roll(image: Image.Image, dx: float, dy: float) -> Image.Image:
    """Shifted by shares of width and height; what leaves comes back in at the other side."""
    across = round(dx * image.width)
    down = round(dy * image.height)
    return ImageChops.offset(image, across, down)


def brighten(image: Image.Image, boxes: tuple[Box, ...], by: int) -> Image.Image:
    """All but the boxes brighter by so many of 255 levels; a bright image darker."""
    # Away from the nearer end of the scale, so that clipping does not eat the change.
    signed = by if np.mean(ImageStat.Stat(image).mean) < 128 else -by
    changed = image.point(lambda level: min(max(level + signed, 0), 255))
    for cell in _cells_of(boxes, image):
        changed.paste(image.crop(cell), cell)
    return changed


def difference(image: Image.Image, other: Image.Image) -> float:
    """Mean absolute difference of the pixels, from 0 to 1."""
    # frames of a video may differ in size, and a new order brings them together
    if image.size != other.size:
        other = other.resize(image.size)
    change = ImageStat.Stat(ImageChops.difference(image, other)).mean
    return float(np.mean(change)) / 255


def _cells_of(boxes: Iterable[Box], image: Image.Image) -> list[Cells]:
    """Whole pixels within the image, of boxes of which anything is there."""
    cells = []
    for box in boxes:
        corners = np.array([np.floor(box[:2]), np.ceil(box[2:])])
        inside = corners.clip(0, image.size).astype(int)
        (left, top), (right, bottom) = inside.tolist()
        if left < right and top < bottom:
            cells.append((left, top, right, bottom))
    return cells


def _wrap(start: int, share: float, room: int) -> int:
    # as wide as the image: it has no room to move
    if room <= 0:
        return 0
    moved = start + round(share * room)
    return moved % (room + 1)
