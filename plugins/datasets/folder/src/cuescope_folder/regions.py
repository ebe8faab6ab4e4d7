"""Boxes and masks in the pixels that are shown: a photo that its EXIF turns has two spaces."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

from cuescope_folder.layout import Item
from cuescope_sdk import BadDataError, Detection, Frame, UserError
from cuescope_sdk.data import PictureShape, Probe, kind_of, picture_shape
from cuescope_sdk.report import count_of

Space = Literal["auto", "shown", "stored"]
EDGE = 1.0  # pixels: tools count corners from 0 or from 1


def as_shown(
    items: Sequence[Item],
    probes: Mapping[Path, Probe],
    space: Space,
    max_bad: float,
) -> tuple[list[Item], str]:
    """The items with their boxes and masks in shown pixels, and what was done, in words.

    An export that states the size of its pictures says in which space it counts. Raises UserError
    where more than `max_bad` of the boxes lie outside of their pictures.
    """
    shown = []
    turned = 0
    unsure = 0
    outside = []
    boxes = 0
    for item in items:
        found = _boxes(item)
        shape = _shape(item, probes) if found or item.mask else None
        if shape is None:
            shown.append(item)
            continue
        is_stored = shape.is_turned and _is_stored(item, shape, space)
        if is_stored:
            turned += 1
            item = _turned(item, shape)
        elif shape.is_turned and space == "auto":
            unsure += 1
        boxes += len(found)
        outside += [
            (item, box, shape) for box in _boxes(item) if _is_outside(box, shape.shown)
        ]
        shown.append(item)
    if len(outside) > max_bad * boxes:
        raise _refusal(*outside[0], len(outside), boxes)
    words = []
    if turned:
        words.append(
            f"boxes and masks of {count_of(turned, 'pictures')} count stored pixels: they are "
            "turned with them"
        )
    if unsure:
        words.append(
            f"boxes and masks of {unsure:,} pictures that their EXIF turns: read as those of "
            "what is shown (-O data.boxes_in=stored for stored pixels)"
        )
    if outside:
        words.append(f"{count_of(len(outside), 'boxes')} outside of their pictures")
    return shown, "; ".join(words)


def mask_frame(item: Item, probes: Mapping[Path, Probe]) -> Frame:
    """The mask of an item, turned with its picture where it is of the stored pixels."""
    assert item.mask is not None
    frame = probes[item.mask].image()
    if item.turns is None:
        return frame
    return frame.derive(f"turned {item.turns.orientation}", item.turns.turn)


def _boxes(item: Item) -> list[Detection]:
    boxes: Any = item.annotations.get("boxes", ())
    return [box for box in boxes if isinstance(box, Detection)]


def _shape(item: Item, probes: Mapping[Path, Probe]) -> PictureShape | None:
    """The shape of the picture; None for clips, and for what cannot be read."""
    if item.folder or not item.files or kind_of(item.files[0]) != "image":
        return None
    if item.files[0] not in probes or probes[item.files[0]].problem is not None:
        return None
    try:
        return picture_shape(item.files[0])
    except BadDataError:
        return None


def _is_stored(item: Item, shape: PictureShape, space: Space) -> bool:
    if space != "auto":
        return space == "stored"
    if shape.stored == shape.shown:
        return False
    stated = item.annotations.get("stated_size")
    if stated is None and item.mask is not None:
        try:
            stated = picture_shape(item.mask).shown
        except BadDataError:
            stated = None
    return stated is not None and tuple(stated) == shape.stored


def _turned(item: Item, shape: PictureShape) -> Item:
    annotations = dict(item.annotations)
    if boxes := _boxes(item):
        annotations["boxes"] = tuple(
            box.model_copy(update={"box": shape.turn_box(box.box)}) for box in boxes
        )
    return replace(item, annotations=annotations, turns=shape if item.mask else None)


def _is_outside(box: Detection, size: tuple[int, int]) -> bool:
    left, top, right, bottom = box.box
    width, height = size
    return left < -EDGE or top < -EDGE or right > width + EDGE or bottom > height + EDGE


def _refusal(
    item: Item, box: Detection, shape: PictureShape, count: int, total: int
) -> UserError:
    width, height = shape.shown
    remedy = None
    if shape.is_turned and not _is_outside(box, shape.stored):
        remedy = (
            f"The photo is turned by its EXIF (orientation {shape.orientation}), and the box fits "
            "its stored pixels: were boxes drawn on these, add -O data.boxes_in=stored"
        )
    corners = ", ".join(f"{corner:g}" for corner in box.box)
    return UserError(
        f"folder: {item.location or item.key}: {count:,} of {total:,} boxes lie outside of their "
        "pictures",
        expected=f"boxes within {width} x {height} pixels",
        got=f"'{box.name:.40}' at {corners}",
        remedy=remedy,
    )
