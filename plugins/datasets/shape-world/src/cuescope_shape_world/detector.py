"""The tool `shape-detector`, and how it reads the pixels of a frame: shapes, walls, skyline."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Bool, Int, UInt8
from scipy import ndimage

from cuescope_sdk import Context, Detection, Frame, Plugin, digest
from cuescope_sdk.tools import normalise_name, sort_by_score
from cuescope_shape_world.pictures import HORIZON, MASKS, SIDE, Box
from cuescope_shape_world.words import COLOURS, HILL, KINDS, PHRASES, WALL

ANYTHING = ("thing", "shape")  # of a colour, or any
VERSION = 1  # part of the fingerprint: raise it when a frame gives other detections

LOW, HIGH = 85, 170  # a channel below LOW is dark, from HIGH on bright
MATCH = 0.9  # intersection over union of a shape with its kind's mask, at least
FILLED = 0.95  # share of its box that a wall covers, at least
_LEVEL = np.full(256, 16, np.uint8)  # of a channel: 0 dark, 1 bright, 16 neither
_LEVEL[:LOW], _LEVEL[HIGH:] = 0, 1
BLACK, GREY = 0, 16 * 7  # codes of pixels; those from 16 on are no pure colour
_CODES = {name: sum(bool(c) << bit for bit, c in enumerate(rgb)) for name, rgb in COLOURS.items()}
_TOUCHING = np.ones((3, 3), bool)  # pixels that meet at a corner belong together


@dataclass(frozen=True)
class VisibleThing:
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

    things: tuple[VisibleThing, ...]
    skyline: Int[np.ndarray, " col"]


class ShapeDetector(Plugin):
    """Finds "red circle", "circle", "red thing", "shape", "wall" and "hill", on frames as drawn.

    What is covered, cut or of another size is not found. `names` is all that it knows; of any
    other name it finds nothing.
    """

    names: frozenset[str] = frozenset(
        (
            *PHRASES,
            *KINDS,
            *ANYTHING,
            *(f"{colour} {noun}" for colour in COLOURS for noun in ANYTHING),
            *(WALL, f"grey {WALL}", HILL, f"black {HILL}"),
        )
    )

    def __init__(self, options: Any, context: Context) -> None:
        super().__init__(options, context)
        self.fingerprint = digest("shape-detector", VERSION)

    def detect(self, frames: Sequence[Frame], names: Sequence[str]) -> list[tuple[Detection, ...]]:
        """Detections of any of the names, a tuple a frame; the score says how well a shape fits."""
        distinct = dict.fromkeys(names)
        return [
            sort_by_score(
                Detection(name=name, score=thing.score, box=thing.box)
                for thing in view(frame).things
                for name in distinct
                if _means(normalise_name(name), thing)
            )
            for frame in frames
        ]


def _means(name: str, thing: VisibleThing) -> bool:
    nouns = (thing.name, *ANYTHING) if thing.name in KINDS else (thing.name,)
    return name in nouns or name in {f"{thing.colour} {noun}" for noun in nouns}


def read_pixels(pixels: UInt8[np.ndarray, "row col 3"]) -> View:
    """The things of a frame, each kind from left to right; what is cut or covered is not found."""
    codes = _codes(pixels)
    hills = codes[:HORIZON] == BLACK
    things = (*_shapes(codes), *_walls(codes == GREY), *_hill(hills))
    return View(things, np.asarray(hills.sum(axis=0)))


def _codes(pixels: UInt8[np.ndarray, "row col 3"]) -> UInt8[np.ndarray, "row col"]:
    """The pure colour of each pixel: red, green and blue as the bits of its code."""
    red, green, blue = np.moveaxis(_LEVEL[pixels], 2, 0)
    return np.asarray(red + 2 * green + 4 * blue)


def _shapes(codes: UInt8[np.ndarray, "row col"]) -> Iterator[VisibleThing]:
    for colour, code in _CODES.items():
        for box, mask in _parts(codes == code):
            if mask.shape != (SIDE, SIDE):  # cut or covered; every kind fills its whole box
                continue
            scores = {kind: (mask & own).sum() / (mask | own).sum() for kind, own in MASKS.items()}
            kind = max(scores, key=lambda kind: float(scores[kind]))
            if scores[kind] >= MATCH:
                yield VisibleThing(kind, colour, box, float(scores[kind]))


def _walls(grey: Bool[np.ndarray, "row col"]) -> Iterator[VisibleThing]:
    for box, mask in _parts(grey):
        if min(mask.shape) > SIDE and mask.mean() >= FILLED:
            yield VisibleThing(WALL, "grey", box, float(mask.mean()))


def _hill(hills: Bool[np.ndarray, "row col"]) -> Iterator[VisibleThing]:
    """The skyline as one thing, where it reaches over half of the picture."""
    width = hills.shape[1]
    if hills.any(axis=0).mean() > 0.5:
        top = int(hills.any(axis=1).argmax())
        yield VisibleThing(HILL, "black", (0, top, width, HORIZON), float(hills.any(axis=0).mean()))


def _parts(mask: Bool[np.ndarray, "row col"]) -> Iterator[tuple[Box, Bool[np.ndarray, "row col"]]]:
    """Connected parts from left to right: the box of each, and the mask within it."""
    if not mask.any():
        return
    labels, _ = ndimage.label(mask, _TOUCHING)
    spans = ((label, *span) for label, span in enumerate(ndimage.find_objects(labels), start=1))
    for label, rows, cols in sorted(spans, key=lambda span: (span[2].start, span[1].start)):
        box = (cols.start, rows.start, cols.stop, rows.stop)
        yield box, labels[rows, cols] == label


def view(frame: Frame) -> View:
    return read_pixels(np.asarray(frame.load()))
