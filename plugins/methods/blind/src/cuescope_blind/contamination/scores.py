"""How often old answers are kept, beside the other wrong ones."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float
from numpy.random import Generator

from cuescope_sdk.statistics import Groups, MeanAboveZero, change_interval

PerPair = Float[np.ndarray, " pair"]


@dataclass(frozen=True)
class Kept:
    """Share of pairs with the old answer, and of each other wrong one; the test of their gap.

    A picture that is hard, or was changed badly, makes errors of all kinds; memory makes one.
    """

    old: PerPair
    other: PerPair
    groups: Groups

    @property
    def excess(self) -> PerPair:
        """Of each pair: 1 if the old answer was given, less the share of one other wrong option."""
        excess: PerPair = self.old - self.other
        return excess

    @property
    def gap(self) -> float:
        """Mean excess."""
        return float(self.excess.mean())

    @property
    def p_value(self) -> float | None:
        """That the old answer is given no more often than another wrong one."""
        return MeanAboveZero(self.excess, self.groups).p_value()

    def interval(self, confidence: float) -> tuple[float | None, float | None]:
        """Of the mean excess."""
        return change_interval(self.excess, self.groups, confidence=confidence)

    def smallest(self, level: float, rng: Generator) -> float | None:
        """The excess that 8 of 10 audits find."""
        return MeanAboveZero(self.excess, self.groups).smallest(level, rng)
