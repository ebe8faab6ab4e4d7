"""What else may explain errors: the size of the labelled object, or an annotation of your choice.

Where errors follow such a thing and clusters do as well, every cluster of small objects would look
like a cue. Findings must hold among sequences of a label that are alike in it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Float, Int

from cuescope_sdk import Audit, Frame, Sample, UserError
from cuescope_sdk.statistics import Groups
from cuescope_sdk.tools import cached_detector, normalise_name
from cuescope_trove.options import TRoVeOptions

DETECTED_SIZE = "detected-size"
SIZE_KEYS = ("object_size", "object_area", "size", "area")
ENOUGH = 0.8  # of the sequences must be known, else nothing is said
GROUPS_A_LEVEL, MOST_LEVELS = 20, 20


@dataclass(frozen=True, eq=False)
class Control:
    """What is held alike, in words, and its level in each sequence, -1 where it is unknown."""

    name: str
    level: np.ndarray


def control_of(
    audit: Audit, samples: Sequence[Sample], groups: Groups, options: TRoVeOptions
) -> Control | None:
    """The control that the user names, else the object's size where it is known; None for none."""
    option, values = options.control, [object_size(sample) for sample in samples]
    name = "the size of the labelled object"
    if option == DETECTED_SIZE:
        values = _detected(audit, samples, options.threshold)
    elif option is not None:
        name, values = f"'{option}'", [sample.annotations.get(option) for sample in samples]
        _check(option, values, samples)
    if not _enough(values):
        return None
    labels = [str(sample.label) for sample in samples]
    return Control(name, levels(values, labels, groups))


def object_size(sample: Sample) -> float | None:
    """Area of the labelled object: annotated as a number, as a mask or as boxes of its name.

    Where all that is outlined has one other name ("disc" for "moving north"), it is that.
    """
    annotations: Mapping[str, Any] = sample.annotations
    for key in SIZE_KEYS:
        if _is_number(annotations.get(key)):
            return float(annotations[key])
    areas: dict[str, float] = {}
    for name, mask in annotations.get("masks", {}).items():
        areas[normalise_name(name)] = _covered_share(mask)
    if not areas:
        for box in annotations.get("boxes", ()):
            x0, y0, x1, y1 = box.box
            name = normalise_name(box.name)
            areas[name] = areas.get(name, 0.0) + (x1 - x0) * (y1 - y0)
    if len(areas) == 1:
        return next(iter(areas.values()))
    return areas.get(normalise_name(str(sample.label)))


def _covered_share(mask: Frame | np.ndarray) -> float:
    """The share of the pixels of a mask: white on black, or True."""
    pixels = np.asarray(mask.load().convert("L")) > 127 if isinstance(mask, Frame) else mask
    return float(np.mean(pixels))


def levels(
    values: Sequence[Any], labels: Sequence[str], groups: Groups
) -> Int[np.ndarray, " sample"]:
    """Levels of alike sequences within each label: words as they are, numbers by quantiles.

    A group is in one level, by its mean. There are 2 to 20 levels, of about 20 groups each.
    """
    known = np.array([value is not None for value in values])
    level = np.full(len(values), -1)
    if not all(_is_number(value) for value in values if value is not None):
        words = np.array([str(value) for value in values])
        level[known] = np.unique(words[known], return_inverse=True)[1]
        return level
    numbers = np.array([float(value) if value is not None else 0.0 for value in values])
    of_label = np.array(labels)
    for label in np.unique(of_label):
        part = known & (of_label == label)
        if part.any():
            level[part] = _quantile_levels(numbers[part], groups.take(part))
    return level


def _quantile_levels(
    values: Float[np.ndarray, " sample"], groups: Groups
) -> Int[np.ndarray, " sample"]:
    means = groups.sums(values) / groups.sums(np.ones(len(values)))
    count = int(np.clip(groups.count // GROUPS_A_LEVEL, 2, MOST_LEVELS))
    # by middle ranks: equal values share a level, and where there are two values they do not
    ordered = np.sort(means)
    ranks = sum(np.searchsorted(ordered, means, side=side) for side in ("left", "right"))
    return np.asarray((ranks * count // (2 * len(means)))[groups.codes])


def _detected(audit: Audit, samples: Sequence[Sample], threshold: float) -> list[float | None]:
    """Area of the label's best box in the middle frame, None where the detector finds none."""
    if "detector" not in audit.tools:
        raise UserError(
            f"trove: control={DETECTED_SIZE} needs a detector", expected="--tool detector=SPEC"
        )
    detector = cached_detector(audit.tools["detector"], audit.context)
    frames = [sample.frames[len(sample.frames) // 2] for sample in samples]
    sizes: list[float | None] = [None] * len(samples)
    for label in audit.labels:
        mine = [number for number, sample in enumerate(samples) if sample.label == label]
        answers = detector.detect([frames[number] for number in mine], [label])
        for number, boxes in zip(mine, answers, strict=True):
            if boxes and boxes[0].score >= threshold:
                x0, y0, x1, y1 = boxes[0].box
                sizes[number] = (x1 - x0) * (y1 - y0)
    return sizes


def _enough(values: Sequence[Any]) -> bool:
    """Whether most values are known, and not all of them the same."""
    known = [value for value in values if value is not None]
    return len(known) >= ENOUGH * len(values) and len(set(known)) > 1


def _check(option: str, values: Sequence[Any], samples: Sequence[Sample]) -> None:
    """Raise UserError where the annotation is unknown, no number and no word, or says nothing."""
    usable = sorted(
        {
            key
            for sample in samples[:100]
            for key, value in sample.annotations.items()
            if _is_number(value) or isinstance(value, str)
        }
    )
    given = [value for value in values if value is not None]
    if not given or not all(_is_number(value) or isinstance(value, str) for value in given):
        raise UserError(
            f"trove: cannot control for '{option}'",
            expected=f"a number or a word in annotation {', '.join(usable) or '(there is none)'}",
            got=type(given[0]).__name__ if given else "no sample has it",
        )
    if not _enough(values):
        raise UserError(
            f"trove: control='{option}' tells too few samples from each other",
            expected=f"a value for at least {ENOUGH:.0%} of the samples, and more than one",
            got=f"{len(set(given))} different values, for {len(given)} of {len(values)} samples",
        )


def _is_number(value: object) -> bool:
    return isinstance(value, int | float | np.integer | np.floating) and not isinstance(value, bool)
