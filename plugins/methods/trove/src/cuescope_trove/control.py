"""What else may explain errors: the size of the labelled object, or an annotation of your choice.

Where errors follow such a thing and clusters do as well, every cluster of small objects would look
like a cue. Findings must hold among sequences of a label that are alike in it.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from cuescope_sdk import Audit, Sample, UserError
from cuescope_sdk.data import is_number, object_size
from cuescope_sdk.statistics import Groups
from cuescope_sdk.tools import CachedDetector
from cuescope_trove.options import TRoVeOptions
from cuescope_trove.scores import Codes, PerSample

DETECTED_SIZE = "detected-size"
ENOUGH = 0.8  # of the sequences must be known, else nothing is said
GROUPS_A_LEVEL = 20
MOST_LEVELS = 20


@dataclass(frozen=True, eq=False)
class Control:
    """What is held alike, in words, and its level in each sequence, -1 where it is unknown."""

    name: str
    level: np.ndarray


def control_of(
    audit: Audit,
    samples: Sequence[Sample],
    groups: Groups,
    options: TRoVeOptions,
) -> Control | None:
    """The control that the user names, else the object's size where it is known; None for none."""
    option = options.control
    name = "the size of the labelled object"
    if option is None:
        values = [object_size(sample, str(sample.label)) for sample in samples]
    elif option == DETECTED_SIZE:
        values = _detect_sizes(audit, samples, options.threshold)
    else:
        name = f"'{option}'"
        values = [sample.annotations.get(option) for sample in samples]
        _check(option, values, samples)
    # a size that few samples have would retest a finding on these few alone
    if not _tells_apart(values):
        return None
    labels = [str(sample.label) for sample in samples]
    return Control(name, levels(values, labels, groups))


def levels(values: Sequence[Any], labels: Sequence[str], groups: Groups) -> Codes:
    """Levels of alike sequences within each label: words as they are, numbers by quantiles.

    A group is in one level, by its mean. There are 2 to 20 levels, of about 20 groups each.
    """
    known = np.array([value is not None for value in values])
    level = np.full(len(values), -1)
    given = [value for value in values if value is not None]
    # one word among numbers makes all of them words: they have no common order
    if not all(map(is_number, given)):
        words = list(map(str, given))
        _, level[known] = np.unique(words, return_inverse=True)
        return level
    numbers = np.zeros(len(values))
    numbers[known] = given
    of_label = np.array(labels)
    for label in np.unique(of_label):
        # within a label: quantiles of all would put its small objects into one level
        part = known & (of_label == label)
        if part.any():
            level[part] = _quantile_levels(numbers[part], groups.take(part))
    return level


def _quantile_levels(values: PerSample, groups: Groups) -> Codes:
    means = groups.means(values)
    # one level would hold nothing alike; levels of few groups leave little to deal
    count = int(np.clip(groups.count // GROUPS_A_LEVEL, 2, MOST_LEVELS))
    # by middle ranks: equal values share a level, and where there are two values they do not
    ordered = np.sort(means)
    below = np.searchsorted(ordered, means, side="left")
    upto = np.searchsorted(ordered, means, side="right")
    ranks = below + upto
    level = ranks * count // (2 * len(means))
    return np.asarray(level[groups.codes])


def _detect_sizes(
    audit: Audit,
    samples: Sequence[Sample],
    threshold: float,
) -> list[float | None]:
    """Area of the label's best box in the middle frame, None where the detector finds none."""
    if "detector" not in audit.tools:
        raise UserError(
            f"trove: control={DETECTED_SIZE} needs a detector",
            expected="--tool detector=SPEC",
        )
    detector = CachedDetector(audit.tools["detector"], audit.context)
    sizes: dict[str, float] = {}
    for label in audit.labels:
        of_label = [sample for sample in samples if sample.label == label]
        frames = [sample.frames[len(sample.frames) // 2] for sample in of_label]
        answers = detector.detect(frames, [label])
        for sample, boxes in zip(of_label, answers, strict=True):
            if boxes and boxes[0].score >= threshold:
                x0, y0, x1, y1 = boxes[0].box
                sizes[sample.key] = (x1 - x0) * (y1 - y0)
    return [sizes.get(sample.key) for sample in samples]


def _tells_apart(values: Sequence[Any]) -> bool:
    """Whether most values are known, and not all of them the same."""
    known = [value for value in values if value is not None]
    most = len(known) >= ENOUGH * len(values)
    return most and len(set(known)) > 1


def _check(option: str, values: Sequence[Any], samples: Sequence[Sample]) -> None:
    """Raise UserError where the annotation is unknown, no number and no word, or says nothing."""
    usable = set()
    # a hint for an error message: not all of a large data set is read for it
    for sample in samples[:100]:
        for key, value in sample.annotations.items():
            if _is_usable(value):
                usable.add(key)
    given = [value for value in values if value is not None]
    if not given or not all(map(_is_usable, given)):
        names = ", ".join(sorted(usable)) or "(there is none)"
        raise UserError(
            f"trove: cannot control for '{option}'",
            expected=f"a number or a word in annotation {names}",
            got=type(given[0]).__name__ if given else "no sample has it",
        )
    if not _tells_apart(values):
        raise UserError(
            f"trove: control='{option}' tells too few samples from each other",
            expected=f"a value for at least {ENOUGH:.0%} of the samples, and more than one",
            got=f"{len(set(given))} different values, for {len(given)} of {len(values)} samples",
        )


def _is_usable(value: object) -> bool:
    return isinstance(value, str) or is_number(value)
