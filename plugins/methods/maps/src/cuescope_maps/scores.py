"""Functions of arrays: curves of insertion and deletion, the region of a map, its proof."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float, Int

from cuescope_sdk.statistics import mean_above

LARGEST = 3  # a region has at most a third of the parts: its controls must find room
PerPart = Float[np.ndarray, " part"]
PerSize = Float[np.ndarray, " size"]
Parts = Bool[np.ndarray, " part"]


def sizes_of(parts: int) -> Int[np.ndarray, " size"]:
    """Numbers of parts at which curves are measured: 0, 1, 2, 3, 5, 8 ... and all."""
    sizes = [0, 1, 2]
    while sizes[-1] + sizes[-2] < parts:
        sizes.append(sizes[-1] + sizes[-2])
    return np.unique(np.minimum([*sizes, parts], parts))


def top_parts(importance: PerPart, count: int) -> Parts:
    """The most important parts; of equals the first."""
    chosen = np.zeros(len(importance), bool)
    chosen[np.argsort(-importance, kind="stable")[:count]] = True
    return chosen


def area_under(sizes: Int[np.ndarray, " size"], values: PerSize) -> float:
    """Area under a curve over the share of parts, by trapezoid."""
    return float(np.trapezoid(values, sizes / sizes[-1]))


def knee(sizes: Int[np.ndarray, " size"], insertion: PerSize, deletion: PerSize) -> int:
    """Size of the region: where insertion minus deletion stands highest above a straight rise.

    The point farthest from the line between both ends of a curve is its knee (Satopää and others,
    2011). Among regions of a third of all parts at most; where nothing is used it is one part.
    """
    gained = insertion - deletion
    rise = gained[-1] - gained[0]
    allowed = (sizes > 0) & (sizes * LARGEST <= max(sizes[-1], LARGEST))
    if rise <= 0:
        return int(sizes[allowed][0])
    above = (gained - gained[0]) / rise - sizes / sizes[-1]
    return int(sizes[np.where(allowed, above, -np.inf).argmax()])


@dataclass(frozen=True, eq=False)
class Proof:
    """What taking a region out and putting it in does, a number a way of doing so.

    `moved` is the change of the answer's probability that a cause would make, `control` the mean
    of the same change at regions of equal size elsewhere.
    """

    moved: Float[np.ndarray, " way"]
    control: Float[np.ndarray, " way"]

    @property
    def effect(self) -> float:
        """Mean change beyond the controls."""
        return float((self.moved - self.control).mean())

    def above(self, margin: float) -> float:
        """Probability that the effect is larger, if ways are draws of all ways."""
        return mean_above(self.moved - self.control, margin)
