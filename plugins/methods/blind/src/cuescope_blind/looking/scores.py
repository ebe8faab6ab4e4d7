"""What answers in another way are worth, beside guessing and beside the same question as it is."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float

from cuescope_blind.scores import gain_interval, in_points
from cuescope_sdk.statistics import Groups, MeanAboveZero, change_interval, paired_flips

Right = Bool[np.ndarray, " question"]
PerQuestion = Float[np.ndarray, " question"]


@dataclass(frozen=True)
class Estimated:
    """A mean with its interval, and the p-value that it is 0."""

    value: float
    low: float | None
    high: float | None
    p_value: float | None

    @property
    def points(self) -> str:
        """In words, with the interval."""
        return in_points(self.value, self.low, self.high)


def beyond_guessing(
    right: Right,
    chance: PerQuestion,
    groups: Groups,
) -> Estimated:
    """Accuracy minus 1 / options, with the p-value that it is above 0."""
    gain = right - chance
    low, high = gain_interval(gain, chance, groups)
    # over guessing only: worse than guessing is no sign of knowing without a look
    p_value = MeanAboveZero(gain, groups).p_value()
    return Estimated(float(gain.mean()), low, high, p_value)


def lost(
    before: Right,
    after: Right,
    groups: Groups,
) -> Estimated:
    """Accuracy lost from before to after, of the same questions."""
    # the same questions twice: their flips are tested, not two independent shares
    flips = paired_flips(after, before, groups)
    low, high = change_interval(before.astype(float) - after.astype(float), groups)
    return Estimated(float(before.mean() - after.mean()), low, high, flips.p_value)


def share_of(part: Right, groups: Groups) -> Estimated:
    """The share of a part of the questions, with the p-value that it is 0."""
    share = part.astype(float)
    low, high = change_interval(share, groups)
    return Estimated(
        float(share.mean()), low, high, MeanAboveZero(share, groups).p_value()
    )


def kinds_of_sight(with_video: Right, without: Right) -> dict[str, Right]:
    """What each question is to the model: it needs the video, or not, or is misled by it."""
    return {
        "needs": with_video & ~without,
        "answers blind": with_video & without,
        "conflicts": ~with_video & without,
        "fails": ~with_video & ~without,
    }
