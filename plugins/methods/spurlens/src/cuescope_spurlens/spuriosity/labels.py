"""A reason for a gap that is no cue: labels that are wrong.

An image that is labelled as a cup, but shows none, seldom has what stands beside cups. And an image
without the label that shows a cup nobody annotated often has it. In both the model is right.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Float

from cuescope_sdk.statistics import most_unseen
from cuescope_spurlens.spuriosity.shapes import BoolPerRow, PerRow

# Youden's index (1950): a coin has 0, and a detector below it does not know the class
LEAST_TOLD = 0.3
# ten well-known test sets have 3.3% on average (Northcutt et al., 2021)
WRONG_LABELS = 0.05  # of a class, where no detector tells


@dataclass(frozen=True, eq=False)
class LabelDoubts:
    """The rows of an image set whose label the detector contradicts.

    `chance` is the share of wrong labels that it contradicts; None where it tells nothing of them.
    """

    rows: BoolPerRow
    chance: float | None

    def take(self, rows: Sequence[int]) -> "LabelDoubts":
        """Those of some rows."""
        return replace(self, rows=self.rows[rows])

    def most_hidden(self, contradicted: int, expected: float) -> int:
        """How many wrong labels there may be beside those that are contradicted.

        Where the detector tells nothing, as many as are `expected` if WRONG_LABELS are wrong.
        """
        if self.chance is None:
            return math.ceil(expected)
        return most_unseen(contradicted, self.chance)


def doubtful_labels(
    with_object: PerRow, without: Float[np.ndarray, " other_row"]
) -> tuple[LabelDoubts, LabelDoubts]:
    """What the detector's scores for the class say against the labels, with the object and without.

    An image shows the class where its score is nearer to the mean of those labelled as the class
    than to the mean of the others. The audited model is not asked, so no error of it is excused.
    """
    nothing = LabelDoubts(with_object < 0, None), LabelDoubts(without < 0, None)
    if not len(with_object):
        return nothing
    # between both means: the confident threshold (Northcutt et al., 2021), the mean of those with
    # the object, sees half of the objects that nobody annotated
    low = float(without.mean()) if len(without) else 0.0
    threshold = (float(with_object.mean()) + low) / 2
    missed = with_object <= threshold
    seen = without > threshold
    hit_rate = float(1 - missed.mean())
    # where no others were looked at, it is taken to err as often in them
    false_rate = float(seen.mean()) if len(without) else 1 - hit_rate
    # without any contradiction it may repeat the annotations that are in doubt
    contradicts = missed.any() or seen.any()
    if hit_rate - false_rate < LEAST_TOLD or not contradicts:
        return nothing
    return LabelDoubts(missed, 1 - false_rate), LabelDoubts(seen, hit_rate)
