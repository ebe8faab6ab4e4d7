"""What several runs found, each without one fold of the data: one cue of what is one cue."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import replace
from itertools import chain

import numpy as np

from cuescope_confirm.merging.modalities import place_of
from cuescope_confirm.merging.sameness import name_of
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
    root,
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
    names = list(map(_name_of, cues))
    runs = [study.folds[fold] for fold in folds]
    groups = Overlap.link_findings(
        # what is about all labels and what is about one are two claims
        [(bool(cue.labels), cue.factor) for cue in cues],
        names,
        list(map(_frames, runs, cues)),
        folds,
        [fold.seen.keys() for fold in study.folds],
    )
    of_folds: list[dict[int, Cue]] = []
    for rows in groups:
        of_folds.append({})
        for row in rows:
            # of two of one run the first is the stronger finding
            of_folds[-1].setdefault(folds[row], cues[row])
    # stable: of equals the order is that of their folds
    of_folds.sort(key=len, reverse=True)
    keys = Counter(_first_of(group).feature.key for group in of_folds)
    joined = []
    for group in of_folds:
        key = _first_of(group).feature.key
        # two runs may both call a feature "cluster-01"
        if keys[key] > 1:
            key = f"{key}, without part {min(group) + 1}"
        joined.append(_join(study, group, key))
    return tuple(joined)


def _labels_of(cues: Iterable[Cue]) -> tuple[str, ...]:
    return tuple(sorted({*chain.from_iterable(cue.labels for cue in cues)}))


def _frames_of_all(cues: Iterable[Cue]) -> tuple[Occurrence, ...]:
    by_frame: dict[tuple[str, int | None], Occurrence] = {}
    for cue in cues:
        for occurrence in cue.feature.occurrences:
            by_frame.setdefault((occurrence.sample, occurrence.frame), occurrence)
    return tuple(by_frame.values())


def _frames_of_most(study: Study, group: OfFolds) -> tuple[Occurrence, ...]:
    """What at least half of the runs list that found the cue and saw the sample."""
    lists = [
        {(listed.sample, listed.frame) for listed in cue.feature.occurrences}
        for cue in group.values()
    ]
    runs = [study.folds[fold].seen for fold in group]
    kept = []
    for occurrence in _frames_of_all(group.values()):
        sample = occurrence.sample
        count = sum((sample, occurrence.frame) in frames for frames in lists)
        saw = sum(root(sample, seen) is not None for seen in runs)
        if count >= saw / 2:
            kept.append(occurrence)
    return tuple(kept)


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


def _join(study: Study, group: OfFolds, key: str) -> Cue:
    first = _first_of(group)
    listed = _frames_of_most(study, group)
    feature = first.feature.model_copy(update={"key": key, "occurrences": listed})
    name = key if first.name == first.feature.key else first.name
    folds = []
    for fold, cue in group.items():
        seen = study.folds[fold].seen
        # what a run lists by chance, the others do not list
        of_fold = tuple(
            frame for frame in listed if root(frame.sample, seen) is not None
        )
        its_own = cue.feature.model_copy(update={"occurrences": of_fold})
        folds.append((fold, replace(cue, feature=its_own)))
    labels = _labels_of(group.values())
    return replace(first, feature=feature, name=name, labels=labels, folds=tuple(folds))
