"""What several runs found, each without one fold of the data: one cue of what is one cue."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import combinations

import numpy as np

from cuescope_confirm.merging import link
from cuescope_confirm.merging.recognition import recognition
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

NAMED = {*OBJECTS, *BACKGROUNDS, *MODALITIES, THING, WORDS, SHOWN}
OfFolds = Mapping[int, Cue]


def match(study: Study, found: Sequence[Cues]) -> tuple[Cue, ...]:
    """The cues of all folds, those that most folds found first.

    Two findings are one cue by the rule by which findings of methods are merged: each tells where
    the other is. Or they list the same frames of samples that both runs looked at. No answer has a
    say in it.
    """
    folds = []
    cues: list[Cue] = []
    for number, of_fold in enumerate(found):
        folds += [number] * len(of_fold)
        cues += of_fold
    values = recognition(study, cues)
    alike = np.minimum(values, values.T)
    for first, second in combinations(range(len(cues)), 2):
        # those of one run were compared before
        if folds[first] == folds[second]:
            continue
        run, other_run = (study.folds[folds[row]] for row in (first, second))
        shared = _shared_frames(run, other_run, cues[first], cues[second])
        # half of the frames are as good as the least AUROC that links two findings
        alike[first, second] = max(alike[first, second], (1 + shared) / 2)
        alike[second, first] = alike[first, second]
    groups = []
    for rows in link(alike):
        [(labels, _)] = Counter(cues[row].labels for row in rows).most_common(1)
        group: dict[int, Cue] = {}
        for row in rows:
            # of two of one fold the first is the stronger finding
            if cues[row].labels == labels:
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
        joined.append(_joined(group, key))
    return tuple(joined)


def _shared_frames(run: Study, other_run: Study, cue: Cue, other: Cue) -> float:
    """Of the frames that two findings list in samples of both runs, how many both list (Dice).

    0 for what has a name: two things may be in the same frames.
    """
    if cue.labels != other.labels or {cue.kind, other.kind} & NAMED:
        return 0.0
    both = run.seen.keys() & other_run.seen.keys()
    frames = {frame for frame in run.frames_of(cue) if frame[0] in both}
    others = {frame for frame in other_run.frames_of(other) if frame[0] in both}
    return 2 * len(frames & others) / max(len(frames) + len(others), 1)


def _first_of(group: OfFolds) -> Cue:
    return group[min(group)]


def _joined(group: OfFolds, key: str) -> Cue:
    first = _first_of(group)
    occurrences: dict[tuple[str, int | None], Occurrence] = {}
    for cue in group.values():
        for occurrence in cue.feature.occurrences:
            occurrences.setdefault((occurrence.sample, occurrence.frame), occurrence)
    update = {"key": key, "occurrences": tuple(occurrences.values())}
    feature = first.feature.model_copy(update=update)
    name = key if first.name == first.feature.key else first.name
    return replace(first, feature=feature, name=name, folds=tuple(group.items()))
