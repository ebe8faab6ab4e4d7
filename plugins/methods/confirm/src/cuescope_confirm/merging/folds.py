"""What several runs found, each without one fold of the data: one cue of what is one cue."""

from collections import Counter
from collections.abc import Mapping, Sequence, Set
from dataclasses import replace
from itertools import chain

import numpy as np

from cuescope_confirm.merging.modalities import place_of
from cuescope_confirm.merging.recognition import name_of
from cuescope_confirm.study import (
    BACKGROUNDS,
    MODALITIES,
    OBJECTS,
    SHOWN,
    THING,
    WORDS,
    Cue,
    Cues,
    Study,
)
from cuescope_sdk import Occurrence
from cuescope_sdk.statistics import Overlap
from cuescope_sdk.stills import FrameId

NAMED = {*OBJECTS, *BACKGROUNDS, *MODALITIES, THING, WORDS, SHOWN}
OfFolds = Mapping[int, Cue]


def match(study: Study, found: Sequence[Cues]) -> tuple[Cue, ...]:
    """The cues of all folds, those that most folds found first, by `Overlap.link_findings`."""
    cues = list(chain.from_iterable(found))
    folds = np.repeat(np.arange(len(found)), list(map(len, found))).tolist()
    groups: list[dict[int, Cue]] = []
    for rows in Overlap.link_findings(
        [(cue.labels, cue.factor) for cue in cues],
        list(map(_name_of, cues)),
        [
            _frames(study.folds[fold], cue)
            for fold, cue in zip(folds, cues, strict=True)
        ],
        folds,
        [fold.seen.keys() for fold in study.folds],
    ):
        group: dict[int, Cue] = {}
        for row in rows:
            # of two of one fold the first is the stronger finding
            group.setdefault(folds[row], cues[row])
        groups.append(group)
    # stable: of equals the order is that of their folds
    groups.sort(key=len, reverse=True)
    keys = Counter(_first_of(group).feature.key for group in groups)
    joined = []
    for group in groups:
        key = _first_of(group).feature.key
        # two runs may both call a feature "cluster-01"
        if keys[key] > 1:
            key = f"{key}, without part {min(group) + 1}"
        joined.append(_join(group, key))
    return tuple(joined)


def _name_of(cue: Cue) -> str | None:
    """What a finding is beyond doubt: a guess is no name."""
    place = place_of(cue)
    if place is not None:
        return place
    return name_of(cue) if cue.checked or cue.factor or cue.kind in NAMED else None


def _frames(run: Study, cue: Cue) -> Set[FrameId]:
    """None for what has a name: two things may be in the same frames."""
    return set() if cue.kind in NAMED else run.frames_of(cue).keys()


def _first_of(group: OfFolds) -> Cue:
    return group[min(group)]


def _join(group: OfFolds, key: str) -> Cue:
    first = _first_of(group)
    occurrences: dict[tuple[str, int | None], Occurrence] = {}
    for cue in group.values():
        for occurrence in cue.feature.occurrences:
            occurrences.setdefault((occurrence.sample, occurrence.frame), occurrence)
    update = {"key": key, "occurrences": tuple(occurrences.values())}
    feature = first.feature.model_copy(update=update)
    name = key if first.name == first.feature.key else first.name
    return replace(first, feature=feature, name=name, folds=tuple(group.items()))
