"""Which candidates are shown: one for each cue, though several starts cut it in their own ways."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from jaxtyping import Int
from scipy import sparse

from cuescope_trove.candidates.groups import COMPONENT, Candidates, alike
from cuescope_trove.selection import ScoredPairs, Verdict, ranking

# Of real CLIP, candidates that show one cue and share few frames had a cosine of 0.36 or more in 9
# of 10 pairs (a network adapted to the task: 0.66), others one of at most 0.31 in 19 of 20.
ALIKE = 0.5  # cosine of two directions, from which on two findings of a label are one


@dataclass(frozen=True, eq=False)
class Distinct:
    """Candidates, what was found of them, and which of them are the same thing.

    `directions` (candidate, dim) are unit vectors: where each lies in the embedding.
    """

    candidates: Candidates
    table: ScoredPairs
    directions: np.ndarray

    def choose(self, most: int) -> list[int]:
        """One candidate for each finding, and others that are none of these: at most so many.

        Of candidates that are the same thing the most certain one stands for all. No finding is
        left out. The largest comes first.
        """
        table = self.table
        pairs = table.pairs
        is_shown = np.zeros(len(self.candidates), dtype=bool)
        reported = np.flatnonzero(table.verdict != Verdict.NOTHING)
        for pair in self._by_certainty(reported):
            # what stands for the candidate may harm other labels than this one
            same = self._reported_alike(pairs.label[pair], pairs.cluster[pair])
            if not is_shown[same].any():
                is_shown[pairs.cluster[pair]] = True
        # what is reported has been told by now, itself or by what stands for it
        told = np.asarray(self._reported.any(axis=0))
        ranked = pairs.cluster[ranking(table)]
        for candidate in [*ranked, *range(len(is_shown))]:
            if is_shown.sum() >= most:
                break
            if not told[candidate] and not is_shown[self._alike(candidate)].any():
                is_shown[candidate] = True
        shown = np.flatnonzero(is_shown)
        order = np.argsort(-self._sizes[shown], kind="stable")
        return list(map(int, shown[order]))

    def clearest(self, pair: int) -> int:
        """The most certain pair that tells the same of the label, whatever may explain it."""
        pairs = self.table.pairs
        label = pairs.label[pair]
        same = self._reported_alike(label, pairs.cluster[pair])
        alike = np.flatnonzero((pairs.label == label) & np.isin(pairs.cluster, same))
        return int(self._by_certainty(alike)[0])

    @property
    def starts(self) -> int:
        """How many starts the clustering had."""
        return len(set(self.candidates.start.tolist()) - {COMPONENT})

    def starts_of(self, label: int, candidate: int) -> int:
        """In how many of the starts the same thing is reported for the label."""
        reported = self._reported_alike(label, candidate)
        return len(set(self.candidates.start[reported].tolist()) - {COMPONENT})

    def _by_certainty(
        self, pairs: Int[np.ndarray, " pair"]
    ) -> Int[np.ndarray, " pair"]:
        table = self.table
        return pairs[np.lexsort((-table.score[pairs], table.p_value[pairs]))]

    def _reported_alike(
        self, label: int, candidate: int
    ) -> Int[np.ndarray, " candidate"]:
        """What is reported for the label and shares its frames, or lies where it lies."""
        reported = np.flatnonzero(self._reported[label])
        towards = self.directions[reported] @ self.directions[candidate] >= ALIKE
        shares = np.isin(reported, self._alike(candidate))
        return np.asarray(reported[towards | shares])

    @cached_property
    def _sizes(self) -> Int[np.ndarray, " candidate"]:
        return np.array(list(map(len, self.candidates.members)))

    @cached_property
    def _reported(self) -> np.ndarray:
        """(label, candidate): whether the pair is found, or explained."""
        pairs = self.table.pairs
        shape = self.table.observations.classes, len(self.candidates)
        reported = np.zeros(shape, dtype=bool)
        reported[pairs.label, pairs.cluster] = self.table.verdict != Verdict.NOTHING
        return reported

    @cached_property
    def _same(self) -> sparse.csr_array:
        return alike(self.candidates.member)

    def _alike(self, candidate: int) -> Int[np.ndarray, " alike"]:
        rows = self._same.indptr
        return np.asarray(self._same.indices[rows[candidate] : rows[candidate + 1]])
