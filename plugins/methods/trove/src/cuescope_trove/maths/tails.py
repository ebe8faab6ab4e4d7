"""What lies far out along a component of the embedding."""

from typing import NamedTuple

import numpy as np
from jaxtyping import Bool, Float


class Tail(NamedTuple):
    """How far each point lies along a component beside its label's mean, and how far that lies.

    From `start` on a point is in the tail.
    """

    beside: Float[np.ndarray, " point"]
    mean: Float[np.ndarray, " point"]
    start: float

    def take(self, chosen: Bool[np.ndarray, " point"]) -> "Tail":
        """Of some of the points."""
        return Tail(self.beside[chosen], self.mean[chosen], self.start)

    def with_label(
        self, same: Bool[np.ndarray, " point"]
    ) -> Bool[np.ndarray, " point"]:
        """Which points would be in the tail if they had the label of those that have the `same`.

        All may be where none has it, for nothing tells the mean.
        """
        if not same.any():
            return np.ones(len(same), dtype=bool)
        apart = self.mean - self.mean[same][0]
        return np.asarray(self.beside + apart > self.start)
