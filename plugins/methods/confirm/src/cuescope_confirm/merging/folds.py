"""What several runs found, each without one fold of the data: one cue of what is one cue."""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from dataclasses import replace
from itertools import chain

import numpy as np

from cuescope_confirm.locating.places import GOOD_AUROC
from cuescope_confirm.merging.modalities import place_of
from cuescope_confirm.merging.recognition import name_of, recognition_of_runs
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
    recognise_each_other = recognition_of_runs(study, runs, cues)

    def recognise(first: int, second: int) -> float:
        is_named = names[first] is not None or names[second] is not None
        # what is about all labels and what is about one are two claims
        if is_named or bool(cues[first].labels) != bool(cues[second].labels):
            return 0.0
        return recognise_each_other(first, second)

    groups = Overlap.link_findings(
        [(cue.labels, cue.factor) for cue in cues],
        names,
        list(map(_frames, runs, cues)),
        folds,
        [fold.seen.keys() for fold in study.folds],
        recognise,
    )
    of_folds = []
    labels = [cue.labels for cue in cues]
    for rows in _with_other_parts(groups, folds, labels, recognise):
        by_fold = defaultdict[int, list[Cue]](list)
        for row in rows:
            by_fold[folds[row]].append(cues[row])
        of_folds.append({fold: _as_one(by_fold[fold]) for fold in sorted(by_fold)})
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


def _with_other_parts(
    groups: Sequence[list[int]],
    folds: Sequence[int],
    labels: Sequence[tuple[str, ...]],
    recognise: Callable[[int, int], float],
) -> list[list[int]]:
    """The groups, those that are a part of another one as one with it: it tells them, they tell it.

    A run may list a cue's frames as two clusters that do not tell each other, where other runs list
    one. And of a cue that costs several labels each run finds those that its samples show it to
    cost.
    """
    kept: list[list[int]] = []
    for rows in sorted(groups, key=len, reverse=True):
        for whole in kept:
            pairs = [
                (row, other)
                for row in rows
                for other in whole
                if folds[row] != folds[other]
            ]
            # where one run alone has found both, nothing says that they are one
            if not pairs:
                continue
            runs = {folds[row] for row in whole}
            is_second = {folds[row] for row in rows} <= runs
            is_of_others = labels[rows[0]] != labels[whole[0]]
            if not is_second and not is_of_others:
                continue
            values = [recognise(min(pair), max(pair)) for pair in pairs]
            if np.mean(values) >= GOOD_AUROC:
                whole += rows
                break
        else:
            kept.append(list(rows))
    return kept


def _as_one(cues: Cues) -> Cue:
    """The first of a run's findings of one cue, with the frames and labels of all."""
    first, *others = cues
    if not others:
        return first
    occurrences = _frames_of_all(cues)
    feature = first.feature.model_copy(update={"occurrences": occurrences})
    members = chain.from_iterable(cue.members or (cue,) for cue in cues)
    labels = _labels_of(cues)
    return replace(first, feature=feature, members=tuple(members), labels=labels)


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
