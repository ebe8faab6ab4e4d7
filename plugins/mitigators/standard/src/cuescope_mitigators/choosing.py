"""How far a remedy goes: told from halves of the part that it is fitted on."""

from collections.abc import Callable, Mapping, Sequence
from typing import TypeVar

import numpy as np
from jaxtyping import Bool, Int

from cuescope_sdk import UserError, generator
from cuescope_sdk.mitigation import Task

Setting = TypeVar("Setting", bound=float)


def require_two_labels(task: Task, name: str) -> None:
    """Raises UserError for a cue that is met with one label alone."""
    for number, shows in enumerate(task.shows.T, 1):
        if len(set(task.targets[shows].tolist())) < 2:
            raise UserError(
                f"{name}: cue {number} is met with fewer than two labels in the part that is "
                "fitted on, and nothing can be told apart there",
                expected="samples of two labels or more that show it",
                got=f"{int(shows.sum())} samples",
                remedy="Take more samples, or fewer cues (--top)",
            )


def halves(strata: Int[np.ndarray, " row"], seed: int = 0) -> Int[np.ndarray, " row"]:
    """0 or 1 for each row, each stratum in turns."""
    half = np.zeros(len(strata), int)
    rng = generator(seed, "halves")
    for stratum in np.unique(strata):
        rows = rng.permutation(np.flatnonzero(strata == stratum))
        half[rows] = np.arange(len(rows)) % 2
    return half


def cheap(
    right: Mapping[Setting, Bool[np.ndarray, " sample"]],
    before: Bool[np.ndarray, " sample"],
    most: float,
    merit: Callable[[Bool[np.ndarray, " sample"]], tuple[float, ...]],
) -> Setting | None:
    """Of the settings that lose at most so many answers the one of most merit, of equals the first.

    `right` says which answers are right with each. None where all of them lose more.
    """
    affordable = [each for each in right if right[each].sum() >= before.sum() - most]
    return max(affordable, key=lambda each: merit(right[each]), default=None)


def nearness(
    task: Task, cues: Sequence[int]
) -> Callable[[Bool[np.ndarray, " sample"]], tuple[float, ...]]:
    """How near the hurt labels come to being as right with their cues as without them.

    Of answers to the samples of a task: minus the mean over the cues of the gap that is left, then
    the mean of right answers. A cue that hurts all labels, or is met with none or all of its own,
    is no part of it.
    """
    sides = []
    for cue in cues:
        hurt = task.hurts[cue]
        own = np.array([hurt is None or sample.label == hurt for sample in task.samples])
        shows = task.shows[:, cue]
        if (own & shows).any() and (own & ~shows).any():
            sides.append((own & shows, own & ~shows))

    def merit(right: Bool[np.ndarray, " sample"]) -> tuple[float, ...]:
        gaps = [abs(float(right[without].mean() - right[with_].mean())) for with_, without in sides]
        return -float(np.mean(gaps)) if gaps else 0.0, float(right.mean())

    return merit
