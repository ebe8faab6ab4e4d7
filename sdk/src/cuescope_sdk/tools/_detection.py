"""Boxes with names and scores: what every detector does after its network, and the K-score."""

from collections.abc import Iterable, Sequence

import numpy as np
from jaxtyping import Float, Int

from cuescope.capabilities import Detection
from cuescope.errors import UserError


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
    """What a network found in an image of `size` (width, height), best first.

    Each name is scored on each box by itself. Scores must exceed `threshold`; `boxes` are (x0, y0,
    x1, y1) in pixels, clipped to the image, and what lies outside is dropped. Of boxes of a name
    whose intersection over union exceeds `overlap` the best stays.
    """
    width, height = size
    inside = np.clip(boxes.astype(np.float64), 0, (width, height, width, height))
    there = (inside[:, 2] > inside[:, 0]) & (inside[:, 3] > inside[:, 1])
    detections = []
    for column, name in enumerate(names):
        # a box may bear several names
        passed = np.flatnonzero(there & (scores[:, column] > threshold))
        ours = scores[passed, column]
        theirs = inside[passed]
        detections += [
            Detection(name=name, score=float(ours[index]), box=tuple(theirs[index].tolist()))
            for index in suppress_overlaps(ours, theirs, overlap)
        ]
    return sort_by_score(detections)


def sort_by_score(detections: Iterable[Detection]) -> tuple[Detection, ...]:
    """By falling score; equals as they came."""
    # stable, so that a cache gives the same order
    return tuple(sorted(detections, key=lambda detection: -detection.score))


def suppress_overlaps(
    scores: Float[np.ndarray, " box"], boxes: Float[np.ndarray, "box 4"], overlap: float
) -> Int[np.ndarray, " kept"]:
    """Places that greedy non-maximum suppression keeps, best first; the first of equals."""
    order = np.argsort(-scores, kind="stable")  # equal scores are common in half precision
    kept = []
    while len(order):
        best = order[0]
        order = order[1:]
        kept.append(best)
        order = order[intersection_over_union(boxes[best], boxes[order]) <= overlap]
    return np.array(kept, dtype=np.int64)


def intersection_over_union(
    box: Float[np.ndarray, "4"], boxes: Float[np.ndarray, "box 4"]
) -> Float[np.ndarray, " box"]:
    """Of one box with each of the others; boxes are (x0, y0, x1, y1) with an area."""
    sides = np.minimum(box[2:], boxes[:, 2:]) - np.maximum(box[:2], boxes[:, :2])
    shared = sides.clip(min=0).prod(axis=1)
    areas = (boxes[:, 2:] - boxes[:, :2]).prod(axis=1)
    return np.asarray(shared / ((box[2:] - box[:2]).prod() + areas - shared))


def k_scores(
    detections: Sequence[Sequence[Detection]], names: Sequence[str]
) -> Float[np.ndarray, "frame name"]:
    """Highest box score of each name in each frame, 0 without a box (SpurLens, section 4)."""
    best = np.zeros((len(detections), len(names)))
    for row, of_frame in enumerate(detections):
        highest: dict[str, float] = {}
        for detection in of_frame:
            highest[detection.name] = max(detection.score, highest.get(detection.name, 0.0))
        best[row] = [highest.get(name, 0.0) for name in names]
    return best
