"""Boxes with names and scores: what every detector does after its network."""

from collections.abc import Iterable, Sequence

import numpy as np
from jaxtyping import Float, Int

from cuescope_core.capabilities import Detection
from cuescope_core.errors import UserError

Boxes = Float[np.ndarray, "box 4"]


def normalise_name(name: str) -> str:
    """A name as it is asked for: lower case, single spaces; raises UserError for a blank one."""
    words = " ".join(name.lower().split())
    if not words:
        raise UserError("a name to look for", expected="a word or more", got=repr(name))
    return words


def make_detections(
    names: Sequence[str],
    scores: Float[np.ndarray, "box name"],
    boxes: Float[np.ndarray, "box 4"],
    size: tuple[int, int],
    threshold: float,
    overlap: float = 1.0,
) -> tuple[Detection, ...]:
    """Make detections of what a network found in an image of `size` (width, height), best first.

    Each name is scored on each box by itself. Scores must exceed `threshold`; `boxes` are (x0, y0,
    x1, y1) in pixels, clipped to the image, and what lies outside is dropped. Of boxes of a name
    whose intersection over union exceeds `overlap` the best stays.
    """
    inside = np.clip(boxes.astype(np.float64), 0, (*size, *size))
    is_inside = (inside[:, 2:] > inside[:, :2]).all(axis=1)
    detections = []
    for name, column in zip(names, scores.T, strict=True):
        # a box may bear several names
        passed = np.flatnonzero(is_inside & (column > threshold))
        for index in passed[suppress_overlaps(column[passed], inside[passed], overlap)]:
            box = tuple(inside[index].tolist())
            detections.append(Detection(name=name, score=float(column[index]), box=box))
    return sort_by_score(detections)


def sort_by_score(detections: Iterable[Detection]) -> tuple[Detection, ...]:
    """By falling score; equals as they came."""
    # stable, so that a cache gives the same order
    return tuple(sorted(detections, key=lambda detection: -detection.score))


def suppress_overlaps(
    scores: Float[np.ndarray, " box"],
    boxes: Boxes,
    overlap: float,
) -> Int[np.ndarray, " kept"]:
    """Places that greedy non-maximum suppression keeps, best first; the first of equals."""
    # stable: equal scores are common in half precision
    order = np.argsort(-scores, kind="stable")
    kept = []
    while len(order):
        best = order[0]
        order = order[1:]
        kept.append(best)
        order = order[intersection_over_union(boxes[best], boxes[order]) <= overlap]
    return np.array(kept, dtype=np.int64)


def intersection_over_union(
    box: Float[np.ndarray, "4"], boxes: Boxes
) -> Float[np.ndarray, " box"]:
    """Intersection over union of one box with each other; boxes are (x0, y0, x1, y1)."""
    starts = np.maximum(box[:2], boxes[:, :2])
    ends = np.minimum(box[2:], boxes[:, 2:])
    shared = (ends - starts).clip(min=0).prod(axis=1)
    areas = (boxes[:, 2:] - boxes[:, :2]).prod(axis=1)
    union = (box[2:] - box[:2]).prod() + areas - shared
    return np.asarray(shared / union)
