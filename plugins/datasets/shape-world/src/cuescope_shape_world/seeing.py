"""What one frame shows, read from its pixels alone: shapes, walls, the skyline."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Int, UInt8
from scipy import ndimage

from cuescope_sdk import Frame
from cuescope_shape_world.drawing import HORIZON, MASKS, SIDE, Box
from cuescope_shape_world.words import COLOURS, HILL, WALL

LOW, HIGH = 85, 170  # a channel below LOW is dark, from HIGH on bright
MATCH = 0.9  # intersection over union of a shape with its kind's mask, at least
FILLED = 0.95  # share of its box that a wall covers, at least
_LEVEL = np.full(256, 16, np.uint8)  # of a channel: 0 dark, 1 bright, 16 neither
_LEVEL[:LOW], _LEVEL[HIGH:] = 0, 1
BLACK, GREY = 0, 16 * 7  # codes of pixels; those from 16 on are no pure colour
_CODES = {name: sum(bool(c) << bit for bit, c in enumerate(rgb)) for name, rgb in COLOURS.items()}
_WHOLE = np.ones((3, 3), bool)  # pixels that meet at a corner belong together


@dataclass(frozen=True)
class Seen:
    """One thing: its kind and colour, its box (px), and how well it fits in [0, 1]."""

    name: str
    colour: str
    box: Box
    score: float

    @property
    def phrase(self) -> str:
        """Such as "red circle"."""
        return f"{self.colour} {self.name}"


@dataclass(frozen=True, eq=False)
class View:
    """Everything in a frame; `skyline` is the height of the hills at each column, px."""

    things: tuple[Seen, ...]
    skyline: Int[np.ndarray, " col"]


def look(pixels: UInt8[np.ndarray, "row col 3"]) -> View:
    """The things of a frame, each kind from left to right; what is cut or covered is not found."""
    codes = _codes(pixels)
    hills = codes[:HORIZON] == BLACK
    found = (*_shapes(codes), *_walls(codes == GREY), *_hill(hills))
    return View(found, np.asarray(hills.sum(axis=0)))


def _codes(pixels: UInt8[np.ndarray, "row col 3"]) -> UInt8[np.ndarray, "row col"]:
    """The pure colour of each pixel: red, green and blue as the bits of its code."""
    red, green, blue = np.moveaxis(_LEVEL[pixels], 2, 0)
    return np.asarray(red + 2 * green + 4 * blue)


def _shapes(codes: UInt8[np.ndarray, "row col"]) -> Iterator[Seen]:
    for colour, code in _CODES.items():
        for box, mask in _parts(codes == code):
            if mask.shape != (SIDE, SIDE):
                continue
            scores = {kind: (mask & own).sum() / (mask | own).sum() for kind, own in MASKS.items()}
            kind = max(scores, key=lambda kind: float(scores[kind]))
            if scores[kind] >= MATCH:
                yield Seen(kind, colour, box, float(scores[kind]))


def _walls(grey: Bool[np.ndarray, "row col"]) -> Iterator[Seen]:
    for box, mask in _parts(grey):
        if min(mask.shape) > SIDE and mask.mean() >= FILLED:
            yield Seen(WALL, "grey", box, float(mask.mean()))


def _hill(hills: Bool[np.ndarray, "row col"]) -> Iterator[Seen]:
    """The skyline as one thing, where it reaches over half of the picture."""
    width = hills.shape[1]
    if hills.any(axis=0).mean() > 0.5:
        top = int(hills.any(axis=1).argmax())
        yield Seen(HILL, "black", (0, top, width, HORIZON), float(hills.any(axis=0).mean()))


def _parts(mask: Bool[np.ndarray, "row col"]) -> Iterator[tuple[Box, Bool[np.ndarray, "row col"]]]:
    """Connected parts from left to right: the box of each, and the mask within it."""
    if not mask.any():
        return
    labels, _ = ndimage.label(mask, _WHOLE)
    spans = ((place, *span) for place, span in enumerate(ndimage.find_objects(labels), start=1))
    for label, rows, cols in sorted(spans, key=lambda span: (span[2].start, span[1].start)):
        box = (cols.start, rows.start, cols.stop, rows.stop)
        yield box, labels[rows, cols] == label


def view(frame: Frame) -> View:
    """What a frame shows."""
    return look(np.asarray(frame.load()))
