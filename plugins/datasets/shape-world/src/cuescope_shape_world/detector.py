"""The tool `shape-detector`, and how it reads the pixels of a frame: shapes, walls, skyline."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from operator import itemgetter

import numpy as np
from jaxtyping import Bool, Int, UInt8
from scipy import ndimage

from cuescope_sdk import Detection, Frame, Plugin, digest
from cuescope_sdk.tools import normalise_name, sort_by_score
from cuescope_shape_world.pictures import HORIZON, MASKS, SIDE, Box
from cuescope_shape_world.words import COLOURS, HILL, KINDS, PHRASES, WALL

ANYTHING = ("thing", "shape")  # of a colour, or any
VERSION = 1  # part of the fingerprint: raise it when a frame gives other detections

Mask = Bool[np.ndarray, "row col"]
Skyline = Int[np.ndarray, " col"]
LOW = 85  # a channel below is dark
HIGH = 170  # a channel from here on is bright
MATCH = 0.9  # intersection over union of a shape with its kind's mask, at least
FILLED = 0.95  # share of its box that a wall covers, at least
_LEVEL = np.full(256, 16, np.uint8)  # of a channel: 0 dark, 1 bright, 16 neither
_LEVEL[:LOW] = 0
_LEVEL[HIGH:] = 1
_BITS = np.array([1, 2, 4], np.uint8)  # of red, green and blue
BLACK = 0  # code of a pixel with three dark channels
GREY = 16 * 7  # code of a pixel with three channels between; from 16 on, no pure colour
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
    skyline: Skyline


def names_of(phrase: str) -> set[str]:
    """What a "red circle" may be called: with its colour or without, and by a wider noun."""
    colour, noun = phrase.split()
    nouns = {noun, *ANYTHING} if noun in KINDS else {noun}
    return nouns.union(map(f"{colour} {{}}".format, nouns))


class ShapeDetector(Plugin):
    """Finds "red circle", "circle", "red thing", "shape", "wall" and "hill", on frames as drawn.

    What is covered, cut or of another size is not found. `names` is all that it knows; of any
    other name it finds nothing.
    """

    fingerprint: str = digest("shape-detector", VERSION)
    names: frozenset[str] = frozenset().union(
        *map(names_of, (*PHRASES, f"grey {WALL}", f"black {HILL}"))
    )

    def detect(
        self,
        frames: Sequence[Frame],
        names: Sequence[str],
    ) -> list[tuple[Detection, ...]]:
        """Detections of any of the names, a tuple a frame; the score says how well a shape fits."""
        return [_detections(view(frame), names) for frame in frames]


def _detections(view: View, names: Sequence[str]) -> tuple[Detection, ...]:
    detections = []
    for item in view.things:
        fitting = names_of(item.phrase)
        for name in dict.fromkeys(names):
            if normalise_name(name) in fitting:
                detection = Detection(name=name, score=item.score, box=item.box)
                detections.append(detection)
    return sort_by_score(detections)


def read_pixels(pixels: UInt8[np.ndarray, "row col 3"]) -> View:
    """The things of a frame, each kind from left to right; what is cut or covered is not found."""
    codes = _codes(pixels)
    hills = codes[:HORIZON] == BLACK
    things = (
        *_shapes(codes),
        *_walls(codes == GREY),
        *_hill(hills),
    )
    return View(things, hills.sum(axis=0))


def _codes(pixels: UInt8[np.ndarray, "*place 3"]) -> UInt8[np.ndarray, "*place"]:
    """The pure colour of each pixel: red, green and blue as the bits of its code."""
    return np.asarray(_LEVEL[pixels] @ _BITS)


def _shapes(codes: UInt8[np.ndarray, "row col"]) -> Iterator[VisibleThing]:
    for colour, channels in COLOURS.items():
        code = _codes(np.array(channels, np.uint8))
        for box, mask in _parts(codes == code):
            # else it is cut or covered; every kind fills its whole box
            if mask.shape != (SIDE, SIDE):
                continue
            for kind, shape in MASKS.items():
                intersection = (mask & shape).sum()
                union = (mask | shape).sum()
                score = float(intersection / union)
                # so high that no other kind can reach it too
                if score >= MATCH:
                    yield VisibleThing(kind, colour, box, score)


def _walls(grey: Mask) -> Iterator[VisibleThing]:
    for box, mask in _parts(grey):
        share = float(mask.mean())
        # a wall is larger than the shape that it hides
        if min(mask.shape) > SIDE and share >= FILLED:
            yield VisibleThing(WALL, "grey", box, share)


def _hill(hills: Mask) -> Iterator[VisibleThing]:
    """The skyline as one thing, where it reaches over half of the picture."""
    columns = hills.any(axis=0)
    share = float(columns.mean())
    if share > 0.5:
        rows = hills.any(axis=1)
        top = int(rows.argmax())
        box = (0, top, hills.shape[1], HORIZON)
        yield VisibleThing(HILL, "black", box, share)


def _parts(mask: Mask) -> Iterator[tuple[Box, Mask]]:
    """Connected parts from left to right: the box of each, and the mask within it."""
    if not mask.any():
        return
    labels, _ = ndimage.label(mask, _TOUCHING)
    parts = {}
    for label, place in enumerate(ndimage.find_objects(labels), start=1):
        rows, cols = place
        box = (cols.start, rows.start, cols.stop, rows.stop)
        parts[box] = labels[place] == label
    yield from sorted(parts.items(), key=itemgetter(0))


def view(frame: Frame) -> View:
    return read_pixels(np.asarray(frame.load()))
