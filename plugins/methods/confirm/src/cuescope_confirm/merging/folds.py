"""What several runs found, each without one fold of the data: one cue of what is one cue."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from cuescope_confirm.merging import link
from cuescope_confirm.merging.recognition import recognition
from cuescope_confirm.study import Cue, Cues, Study
from cuescope_sdk import Occurrence

OfFolds = Mapping[int, Cue]


def match(study: Study, found: Sequence[Cues]) -> tuple[Cue, ...]:
    """The cues of all folds, those that most folds found first.

    Two findings are one cue by the rule by which findings of methods are merged: each tells where
    the other is. No answer has a say in it.
    """
    folds = []
    cues: list[Cue] = []
    for number, of_fold in enumerate(found):
        folds += [number] * len(of_fold)
        cues += of_fold
    values = recognition(study, cues)
    groups = []
    for rows in link(np.minimum(values, values.T)):
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
