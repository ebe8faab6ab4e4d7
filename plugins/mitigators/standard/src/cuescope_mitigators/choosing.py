"""How far a remedy goes: told from halves of the part that it is fitted on."""

from collections.abc import Mapping

import numpy as np
from jaxtyping import Bool

from cuescope_sdk.mitigation import Task

Right = Bool[np.ndarray, " sample"]  # whether each answer is right


def best_share(
    right: Mapping[float, Right], before: Right, most: float, sides: tuple[Right, Right]
) -> float:
    """Of the shares that lose at most so many answers the one that leaves the least gap.

    `right` says which answers are right with each share, the smallest first; `sides` are the
    samples of the hurt labels with the cue and without. Those within one standard error of the
    least gap count as equal, and the smallest of them is taken (Breiman et al., 1984). Where all
    of them lose more, it is the smallest of all.
    """
    gaps = {}
    for share, answers in right.items():
        if answers.sum() >= before.sum() - most:
            gaps[share] = gap_left(answers, sides)
    if not gaps:
        return float(next(iter(right)))
    least, error = min(gaps.values(), key=lambda gap: gap[0])
    return next(share for share, (gap, _) in gaps.items() if gap <= least + error)


def gap_left(right: Right, sides: tuple[Right, Right]) -> tuple[float, float]:
    """The difference of accuracy with a cue and without, either way, and its standard error."""
    shown, others = (right[side] for side in sides)
    if not len(shown) or not len(others):
        return 0.0, 0.0
    # a remedy that goes too far, so that the cue helps its label, is no better
    gap = float(abs(others.mean() - shown.mean()))
    return gap, float(np.sqrt(_variance(shown) + _variance(others)))


def sides_of(task: Task, cue: int) -> tuple[Right, Right]:
    """The samples of the labels that a cue hurts, with the cue and without."""
    hurt = task.hurts[cue]
    is_hurt = np.array([hurt in (None, sample.label) for sample in task.samples])
    shows = task.shows[:, cue]
    return is_hurt & shows, is_hurt & ~shows


def _variance(right: Right) -> float:
    """Of the mean; with half an answer more on each side, for few alike answers are not sure."""
    rate = (right.sum() + 0.5) / (len(right) + 1)
    return float(rate * (1 - rate) / len(right))
