"""Controlled changes of a video, and how large they are (section 3.5 of the paper).

With boxes of the key objects these are moved or covered; without, whole frames are mirrored or
shifted, and their middle covered. The control leaves everything that is annotated as it is.
"""

from collections.abc import Callable, Iterable, Sequence
from functools import partial

import numpy as np
from jaxtyping import Bool
from PIL import Image, ImageOps

from cuescope_sdk import Frame, Sample
from cuescope_sdk.grounding import Claim, Thing, scene_of
from cuescope_step_grounding.claims.contents import flatten
from cuescope_step_grounding.options import Perturbation

Box = tuple[float, float, float, float]
Boxes = tuple[dict[str, Box], ...]  # by thing, a mapping a frame


def boxes_of(sample: Sample) -> Boxes:
    """Where the visible things of an annotated scene are; empty without a scene."""
    return tuple(
        {thing.id: thing.box for thing in frame.things if thing.box is not None and thing.visible}
        for frame in scene_of(sample) or ()
    )


def key_boxes(sample: Sample, claims: Iterable[Claim]) -> Boxes:
    """The boxes of what the question names and of what is claimed; where that is none, of all."""
    known = [thing for frame in scene_of(sample) or () for thing in frame.things]
    subjects = [phrase for claim in flatten(claims) for phrase in (claim.subject, claim.object)]
    claimed = ". ".join(filter(None, subjects))
    keys = named_things(sample.question or "", known) | named_things(claimed, known)
    boxes = boxes_of(sample)
    if not any(keys & frame.keys() for frame in boxes):
        return boxes
    return tuple({k: box for k, box in frame.items() if k in keys} for frame in boxes)


def named_things(text: str, things: Iterable[Thing]) -> set[str]:
    """The ids of the things that a text names, those with their attributes before all others.

    "Where is the red cup?" means the red cup where there is one, and else any cup.
    """
    # Blanks on both sides make "cup" a word and no part of "cupboard".
    letters = "".join(c if c.isalnum() else " " for c in text.lower())
    words = f" {' '.join(letters.split())} "
    with_attribute, by_name = set(), set()
    for thing in things:
        if any(f" {attribute} {thing.name} ".lower() in words for attribute in thing.attributes):
            with_attribute.add(thing.id)
        if f" {thing.name} ".lower() in words:
            by_name.add(thing.id)
    return with_attribute or by_name


LEAST_SHIFT, MOST_SHIFT = 0.35, 0.65  # shares of the room by which a box moves on
LEVELS = 16  # of 255, by which the background changes
Frames = tuple[Frame, ...]
Cells = tuple[int, int, int, int]
Shift = tuple[float, float]  # across and down, in shares of the room that a box has


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
        moved = []
        for frame, boxes in zip(frames, key, strict=True):
            own = tuple((box, shifts[thing]) for thing, box in boxes.items())
            move = partial(move_boxes, shifts=own)
            moved.append(_change(frame, "moved", move, own) if own else frame)
        return tuple(moved)
    dx, dy = _shift(rng)
    if rng.random() < 0.5:
        return tuple(_change(frame, "mirrored", ImageOps.mirror) for frame in frames)
    shift = partial(roll, dx=dx, dy=dy)
    return tuple(_change(frame, "rolled", shift, (dx, dy)) for frame in frames)


def _shift(rng: np.random.Generator) -> Shift:
    dx, dy = rng.uniform(LEAST_SHIFT, MOST_SHIFT, 2).tolist()
    return round(dx, 3), round(dy, 3)


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


# ---------------------------------------------------------------------------- changes of one image
# Module-level functions, so that a frame that uses one can be sent to another process. Boxes are
# (x0, y0, x1, y1) in pixels; those that leave the image are cut to it.


def move_boxes(image: Image.Image, shifts: tuple[tuple[Box, Shift], ...]) -> Image.Image:
    """Each box at another place; what it leaves is filled with the colour around it.

    A box moves on by the shares of the room that its shift says, and wraps around.
    """
    pixels = np.asarray(image)
    cells = [(cell, shift) for box, shift in shifts if (cell := _cells(box, image))]
    # All holes are filled first: a box must not be filled over by the next one's hole.
    changed = _fill(pixels, [box for box, _ in cells])
    for (x0, y0, x1, y1), (dx, dy) in cells:
        wide, high = x1 - x0, y1 - y0
        x = _wrap(x0, dx, image.width - wide)
        y = _wrap(y0, dy, image.height - high)
        changed[y : y + high, x : x + wide] = pixels[y0:y1, x0:x1]
    return Image.fromarray(changed)


def cover_boxes(image: Image.Image, boxes: tuple[Box, ...]) -> Image.Image:
    """The boxes in the mean colour around each."""
    cells = [cell for box in boxes if (cell := _cells(box, image))]
    return Image.fromarray(_fill(np.asarray(image), cells))


def cover_centre(image: Image.Image) -> Image.Image:
    """The middle of the image, half as wide and high, in the mean colour around it."""
    w, h = image.size
    return cover_boxes(image, ((w / 4, h / 4, 3 * w / 4, 3 * h / 4),))


def roll(image: Image.Image, dx: float, dy: float) -> Image.Image:
    """Shifted by shares of width and height; what leaves comes back in at the other side."""
    shift = round(dy * image.height), round(dx * image.width)
    return Image.fromarray(np.roll(np.asarray(image), shift, axis=(0, 1)))


def brighten(image: Image.Image, boxes: tuple[Box, ...], by: int) -> Image.Image:
    """All but the boxes brighter by so many of 255 levels; a bright image darker."""
    pixels = np.asarray(image)
    # Away from the nearer end of the scale, so that clipping does not eat the change.
    signed = by if pixels.mean() < 128 else -by
    changed = np.clip(pixels.astype(np.int16) + signed, 0, 255).astype(np.uint8)
    return Image.fromarray(np.where(_inside(boxes, image)[..., None], pixels, changed))


def difference(image: Image.Image, other: Image.Image) -> float:
    """Mean absolute difference of the pixels, from 0 to 1."""
    if image.size != other.size:
        other = other.resize(image.size)
    pixels, other_pixels = (np.asarray(each, dtype=np.float32) for each in (image, other))
    return float(np.abs(pixels - other_pixels).mean()) / 255


def _fill(pixels: np.ndarray, cells: list[Cells]) -> np.ndarray:
    """Each of the boxes in the mean colour of a rim of a quarter of its size."""
    changed = pixels.copy()
    for x0, y0, x1, y1 in cells:
        rim = max(1, (x1 - x0 + y1 - y0) // 8)
        top, left = max(y0 - rim, 0), max(x0 - rim, 0)
        around = np.ones(pixels[top : y1 + rim, left : x1 + rim].shape[:2], dtype=bool)
        around[y0 - top : y1 - top, x0 - left : x1 - left] = False
        rim_pixels = pixels[top : y1 + rim, left : x1 + rim][around]
        colour = rim_pixels.mean(axis=0) if len(rim_pixels) else np.full(3, 127)
        changed[y0:y1, x0:x1] = np.rint(colour)
    return changed


def _inside(boxes: tuple[Box, ...], image: Image.Image) -> Bool[np.ndarray, "row col"]:
    mask = np.zeros((image.height, image.width), dtype=bool)
    for x0, y0, x1, y1 in filter(None, (_cells(box, image) for box in boxes)):
        mask[y0:y1, x0:x1] = True
    return mask


def _cells(box: Box, image: Image.Image) -> Cells | None:
    """Whole pixels within the image; None where nothing of the box is."""
    x0, y0 = max(int(np.floor(box[0])), 0), max(int(np.floor(box[1])), 0)
    x1, y1 = min(int(np.ceil(box[2])), image.width), min(int(np.ceil(box[3])), image.height)
    return (x0, y0, x1, y1) if x0 < x1 and y0 < y1 else None


def _wrap(start: int, share: float, room: int) -> int:
    return (start + round(share * room)) % (room + 1) if room > 0 else 0
