"""Which findings are one cue: by place or name, else by the frames that both list."""

from collections.abc import Mapping
from itertools import combinations

import numpy as np
from jaxtyping import Float

from cuescope_confirm.merging.modalities import place_of
from cuescope_confirm.study import Cue, Cues, Study, frames_in, pick
from cuescope_sdk.statistics import SAME_CUE, Overlap
from cuescope_sdk.stills import FrameId

Box = tuple[float, float, float, float]


def likeness(study: Study, cues: Cues) -> Float[np.ndarray, "cue cue"]:
    """How much each two findings have in common: 1 by place or name, else of their frames (Dice).

    Findings that mark other regions of the same frames have nothing in common.
    """
    values = np.eye(len(cues))
    frames = [_frames(study, cue) for cue in cues]
    boxes = [_boxes(study, cue) for cue in cues]
    for first, second in combinations(range(len(cues)), 2):
        same = same_by_definition(cues[first], cues[second])
        share = float(same or False)
        if same is None and regions_agree(boxes[first], boxes[second]):
            share = Overlap.dice(frames[first], frames[second], study.seen.keys())
        values[[first, second], [second, first]] = share
    return values


def same_by_definition(first: Cue, second: Cue) -> bool | None:
    """Whether two findings are one cue by what they are; None where their frames must tell."""
    place = place_of(first)
    other_place = place_of(second)
    if place or other_place:
        return place == other_place
    # two values of one factor are never in the same sample
    if first.factor and second.factor and first.factor[0] == second.factor[0]:
        return first.factor == second.factor
    if question_of(first) != question_of(second):
        return False
    name = name_of(first)
    return True if name is not None and name == name_of(second) else None


def question_of(cue: Cue) -> str | None:
    """Findings about objects are tested by a question of their own, about their label's object."""
    return cue.label if cue.is_object else None


def name_of(cue: Cue) -> str | None:
    """In lower case, by a check, a word or an annotation; None for what a method numbers."""
    name = cue.checked or cue.word or ": ".join(cue.factor or ())
    return name.strip("' ").lower() if name else None


def regions_agree(
    first: Mapping[FrameId, Box],
    second: Mapping[FrameId, Box],
) -> bool:
    """Whether, in the frames that both mark, the typical smaller region is half in the other.

    True where they mark none of the same frames: then regions say nothing.

    >>> regions_agree({("a", 0): (0, 0, 4, 4)}, {("a", 0): (2, 0, 9, 9)})
    True
    >>> regions_agree({("a", 0): (0, 0, 4, 4)}, {("a", 0): (4, 0, 9, 9)})
    False
    """
    shares = []
    for frame in first.keys() & second.keys():
        boxes = np.array([first[frame], second[frame]])
        starts, ends = np.hsplit(boxes, 2)
        overlap = ends.min(axis=0) - starts.max(axis=0)
        areas = (ends - starts).prod(axis=1)
        share = 0.0
        if areas.min() > 0:
            share = overlap.clip(0).prod() / areas.min()
        shares.append(share)
    return not shares or float(np.median(shares)) >= SAME_CUE


def _frames(study: Study, cue: Cue) -> frozenset[FrameId]:
    """The frames of the runs that show it."""
    if cue.factor is None:
        return frozenset(study.frames_of(cue))
    # an annotation is of a whole sample, so it holds in each frame
    keys = cue.samples_with_cue(study.seen)
    return frozenset(frames_in(pick(study.seen, keys)))


def _boxes(study: Study, cue: Cue) -> dict[FrameId, Box]:
    """The region that it has in each frame of the runs, where it has one."""
    boxes = {}
    for frame, occurrences in study.frames_of(cue).items():
        for occurrence in occurrences:
            if occurrence.region is not None:
                boxes[frame] = occurrence.region
    return boxes
