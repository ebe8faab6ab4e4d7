"""Groups of frames that look alike, or that show one cue."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Int
from scipy import sparse

from cuescope_trove.maths.clustering import Clusters


@dataclass(frozen=True, eq=False)
class Candidates:
    """The `members` of each candidate, strongest first, and how strongly they show it.

    Members and strengths are arrays of equal length. `points` are all that there are.
    """

    points: int
    members: Sequence[np.ndarray]
    strength: Sequence[np.ndarray]

    def __len__(self) -> int:
        return len(self.members)

    @classmethod
    def of(cls, clusters: Clusters) -> "Candidates":
        """The clusters of one clustering."""
        members = clusters.members
        strength = [clusters.strength[part] for part in members]
        return cls(len(clusters.cluster), members, strength)

    @classmethod
    def join(cls, parts: Sequence["Candidates"]) -> "Candidates":
        """Those of one part after another, of the same points."""
        members = [one for part in parts for one in part.members]
        strength = [one for part in parts for one in part.strength]
        return cls(parts[0].points, members, strength)

    def take(self, chosen: Iterable[int]) -> "Candidates":
        """Some of them, in this order."""
        numbers = list(chosen)
        members = [self.members[number] for number in numbers]
        strength = [self.strength[number] for number in numbers]
        return Candidates(self.points, members, strength)

    @property
    def sizes(self) -> Int[np.ndarray, " candidate"]:
        """How many points each has."""
        return np.array(list(map(len, self.members)), dtype=np.int64)

    @property
    def member(self) -> sparse.csr_array:
        """(point, candidate): which candidates a point is in."""
        shape = self.points, len(self)
        if not len(self):
            return sparse.csr_array(shape, dtype=bool)
        point = np.concatenate(self.members)
        candidate = np.repeat(np.arange(len(self)), self.sizes)
        inside = np.ones(len(point), dtype=bool)
        return sparse.csr_array((inside, (point, candidate)), shape=shape)
