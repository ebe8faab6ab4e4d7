"""How far a remedy goes: told from halves of the part that it is fitted on."""

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple, TypeVar

import numpy as np
from jaxtyping import Bool, Int

from cuescope_sdk import generator
from cuescope_sdk.mitigation import Task

Setting = TypeVar("Setting", bound=float)
Right = Bool[np.ndarray, " sample"]  # whether each answer is right


class Loss(NamedTuple):
    """What a setting leaves to be wished, with its standard error."""

    value: float
    error: float = 0.0


def halves(strata: Int[np.ndarray, " row"], seed: int = 0) -> Int[np.ndarray, " row"]:
    """0 or 1 for each row, each stratum in turns."""
    half = np.zeros(len(strata), int)
    rng = generator(seed, "halves")
    for stratum in np.unique(strata):
        rows = rng.permutation(np.flatnonzero(strata == stratum))
        half[rows] = np.arange(len(rows)) % 2
    return half


def best_setting(
    right: Mapping[Setting, Right], before: Right, most: float, loss: Callable[[Right], Loss]
) -> Setting | None:
    """Of the settings that lose at most so many answers the one of least `loss`.

    `right` says which answers are right with each, the smallest departure first. Those within one
    standard error of the least count as equal, and the smallest of them is taken (Breiman et al.,
    1984). None where all of them lose more.
    """
    affordable = {
        each: loss(right[each]) for each in right if right[each].sum() >= before.sum() - most
    }
    if not affordable:
        return None
    least = min(affordable.values(), key=lambda each: each.value)
    return next(e for e, own in affordable.items() if own.value <= least.value + least.error)


def gap_left(task: Task, cues: Sequence[int]) -> Callable[[Right], Loss]:
    """The accuracy of the hurt labels without their cues minus with them, either way, over `cues`.

    A cue that hurts all labels counts for all of them; one that is met with none or all samples of
    its label for nothing.
    """
    sides = []
    for cue in cues:
        hurt = task.hurts[cue]
        own = np.array([hurt is None or sample.label == hurt for sample in task.samples])
        shows = task.shows[:, cue]
        if (own & shows).any() and (own & ~shows).any():
            sides.append((own & shows, own & ~shows))

    def loss(right: Right) -> Loss:
        gaps = [abs(float(right[without].mean() - right[shown].mean())) for shown, without in sides]
        errors = [_variance(right[shown]) + _variance(right[without]) for shown, without in sides]
        if not gaps:
            return Loss(0.0)
        return Loss(float(np.mean(gaps)), float(np.sqrt(np.sum(errors))) / len(gaps))

    return loss


def worst_group(groups: Int[np.ndarray, " sample"]) -> Callable[[Right], Loss]:
    """The highest rate of wrong answers in a group."""
    sizes = np.bincount(groups)
    return lambda right: Loss(1 - float((np.bincount(groups, right) / sizes)[sizes > 0].min()))


def _variance(right: Right) -> float:
    """Of the mean; with half an answer more on each side, for few alike answers are not sure."""
    rate = (right.sum() + 0.5) / (len(right) + 1)
    return float(rate * (1 - rate) / len(right))
