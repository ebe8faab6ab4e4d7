"""How far a remedy goes: told from halves of the part that it is fitted on."""

from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import NamedTuple, TypeVar

import numpy as np
from jaxtyping import Bool, Int

from cuescope_sdk.mitigation import Task

Setting = TypeVar("Setting", bound=Hashable)
Right = Bool[np.ndarray, " sample"]  # whether each answer is right


class Loss(NamedTuple):
    """What a setting leaves to be wished, with its standard error."""

    value: float
    error: float = 0.0


def best_setting(
    right: Mapping[Setting, Right],
    before: Right,
    most: float,
    loss: Callable[[Right], Loss],
) -> Setting:
    """Of the settings that lose at most so many answers the one of least `loss`.

    `right` says which answers are right with each, the smallest departure first. Those within one
    standard error of the least count as equal, and the smallest of them is taken (Breiman et al.,
    1984). Where all of them lose more, it is the smallest departure of all.
    """
    losses = {}
    for setting, answers in right.items():
        if answers.sum() >= before.sum() - most:
            losses[setting] = loss(answers)
    if not losses:
        return next(iter(right))
    least = min(losses.values(), key=lambda loss: loss.value)
    enough = least.value + least.error  # within one standard error
    return next(setting for setting, left in losses.items() if left.value <= enough)


def gap_left(task: Task, cues: Sequence[int]) -> Callable[[Right], Loss]:
    """The accuracy of the hurt labels without their cues minus with them, either way, over `cues`.

    A cue that hurts all labels counts for all of them; one that is met with none or all samples of
    its label for nothing.
    """
    sides = []
    for cue in cues:
        hurt = task.hurts[cue]
        is_hurt = np.array([hurt in (None, sample.label) for sample in task.samples])
        shows = task.shows[:, cue]
        with_cue = is_hurt & shows
        without = is_hurt & ~shows
        if with_cue.any() and without.any():
            sides.append((with_cue, without))

    def loss(right: Right) -> Loss:
        total = 0.0
        variance = 0.0
        for with_cue, without in sides:
            shown = right[with_cue]
            others = right[without]
            # a remedy that goes too far, so that the cue helps its label, is no better
            total += abs(others.mean() - shown.mean())
            variance += _variance(shown) + _variance(others)
        count = max(len(sides), 1)
        return Loss(total / count, np.sqrt(variance) / count)

    return loss


def worst_group(groups: Int[np.ndarray, " sample"]) -> Callable[[Right], Loss]:
    """The highest rate of wrong answers in a group."""
    sizes = np.bincount(groups)
    exists = sizes > 0

    def loss(right: Right) -> Loss:
        rates = np.bincount(groups, right)[exists] / sizes[exists]
        # no standard error: as published, the best one itself is taken
        return Loss(1 - rates.min())

    return loss


def _variance(right: Right) -> float:
    """Of the mean; with half an answer more on each side, for few alike answers are not sure."""
    rate = (right.sum() + 0.5) / (len(right) + 1)
    return float(rate * (1 - rate) / len(right))
