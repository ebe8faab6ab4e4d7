"""Which candidates are shown: one for each cue, though several starts cut it in their own ways."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from jaxtyping import Bool, Int
from scipy import sparse

from cuescope_trove.candidates.foretold import Foreteller
from cuescope_trove.candidates.groups import FORETOLD, Candidates, alike
from cuescope_trove.scores import lead, share_beside
from cuescope_trove.selection import ScoredPairs, Verdict, ranking

# Of real CLIP, candidates that show one cue and share few frames had a cosine of 0.36 or more in 9
# of 10 pairs (a network adapted to the task: 0.66), others one of at most 0.31 in 19 of 20.
ALIKE = 0.5  # cosine of two directions, from which on two findings of a label are one


@dataclass(frozen=True, eq=False)
class Distinct:
    """Candidates, what was found of them, and which of them are the same thing.

    `directions` (candidate, dim) are unit vectors: where each lies in the embedding. `foremost` are
    candidates that stand for what is the same thing, whatever is clearer.
    """

    candidates: Candidates
    table: ScoredPairs
    directions: np.ndarray
    foremost: Sequence[int] = ()

    def led_by_pictures(self) -> "Distinct":
        """What was learned from pictures stands for the same thing, and is worth no less than it.

        What lies alike in the embedding may be the answer itself: of a network that was adapted to
        its task one component holds every picture that gets it, for whatever reason.
        """
        table = self.table
        pairs = table.pairs
        learned = np.flatnonzero(self.candidates.start == FORETOLD)
        worth = table.worth.copy()
        is_reported = table.verdict != Verdict.NOTHING
        for pair in np.flatnonzero(is_reported & np.isin(pairs.cluster, learned)):
            same = self._reported_alike(pairs.label[pair], pairs.cluster[pair])
            others = self._pairs_of(pairs.label[pair], np.setdiff1d(same, learned))
            if len(others):
                most = others[table.worth[others].argmax()]
                worth[pair] = max(
                    worth[pair], table.worth[self._clearest(most, others)]
                )
        raised = replace(table, worth=worth)
        return replace(self, table=raised, foremost=learned.tolist())

    def choose(self, most: int) -> list[int]:
        """One candidate for each finding, and others that are none of these: at most so many.

        Of candidates that are the same thing one stands for all. No finding is left out. The
        largest comes first.
        """
        table = self.table
        pairs = table.pairs
        leads = np.zeros(len(self.candidates), dtype=bool)
        is_shown = np.zeros(len(self.candidates), dtype=bool)
        reported = np.flatnonzero(table.verdict != Verdict.NOTHING)
        by_worth = np.lexsort((table.p_value[reported], -table.worth[reported]))
        for pair in reported[by_worth]:
            # what stands for the candidate may harm other labels than this one
            same = self._reported_alike(pairs.label[pair], pairs.cluster[pair])
            if not leads[same].any():
                leads[pairs.cluster[pair]] = True
                is_shown[self._stands_for(pair, same)] = True
        is_shown[:] = self._telling(np.flatnonzero(is_shown).tolist())
        # what is reported has been told by now, itself or by what stands for it
        told = np.asarray(self._reported.any(axis=0))
        ranked = pairs.cluster[ranking(table)]
        for candidate in [*ranked, *range(len(is_shown))]:
            if is_shown.sum() >= most:
                break
            if (
                not told[candidate]
                and not is_shown[_neighbours(self._same, candidate)].any()
            ):
                is_shown[candidate] = True
        return self._largest_first(is_shown)

    def told_once(self, chosen: Sequence[int]) -> ScoredPairs:
        """The pairs of some candidates; what is the same thing is told once for a label."""
        kept = np.flatnonzero(~self._repeated(chosen))
        return self.table.take(kept).of_clusters(chosen)

    def _telling(self, chosen: Sequence[int]) -> Bool[np.ndarray, " candidate"]:
        """Which of some candidates tell anything that the others do not."""
        is_told = (self.table.verdict != Verdict.NOTHING) & ~self._repeated(chosen)
        telling = np.intersect1d(chosen, self.table.pairs.cluster[is_told])
        return np.isin(np.arange(len(self.candidates)), telling)

    def _repeated(self, chosen: Sequence[int]) -> Bool[np.ndarray, " pair"]:
        """Which pairs of these tell of a label what another one of them tells.

        A finding is kept before what was explained away, what is foremost before what is not, and
        then what comes first.
        """
        table = self.table
        pairs = table.pairs
        ranked = ranking(table)
        is_reported = table.verdict[ranked] != Verdict.NOTHING
        ranked = ranked[is_reported & np.isin(pairs.cluster[ranked], chosen)]
        is_later = ~np.isin(pairs.cluster[ranked], self.foremost)
        ranked = ranked[np.lexsort((is_later, ~table.finding[ranked]))]
        repeated = np.zeros(len(pairs), dtype=bool)
        told = np.zeros_like(self._reported)
        for pair in ranked:
            label, candidate = pairs.label[pair], pairs.cluster[pair]
            repeated[pair] = told[label, self._reported_alike(label, candidate)].any()
            told[label, candidate] = not repeated[pair]
        return repeated

    def _stands_for(self, pair: int, same: Int[np.ndarray, " candidate"]) -> int:
        """The candidate that stands for the same thing."""
        foremost = np.intersect1d(same, self.foremost)
        label = self.table.pairs.label[pair]
        if len(foremost):
            first = self._pairs_of(label, foremost)
            best = first[self.table.worth[first].argmax()]
        else:
            best = self._clearest(pair, self._pairs_of(label, same))
        return int(self.table.pairs.cluster[best])

    def _clearest(self, pair: int, others: Int[np.ndarray, " pair"]) -> int:
        """Of what is the same thing: the clearest that is not surely worth less than this pair.

        By one standard error (Breiman and others, 1984). A small part of a cue may be purer by
        chance, and leaves the rest of the cue among what is without it.
        """
        table = self.table
        least = table.worth[pair] - table.error[pair]
        near = others[table.worth[others] >= least]
        return int(near[table.clarity[near].argmax()])

    def _pairs_of(
        self, label: int, candidates: Int[np.ndarray, " candidate"]
    ) -> Int[np.ndarray, " pair"]:
        pairs = self.table.pairs
        is_its = (pairs.label == label) & np.isin(pairs.cluster, candidates)
        return np.flatnonzero(is_its)

    def is_told_by(self, learned: int, candidate: int) -> bool:
        """Whether something foremost is reported, of whatever label, and is the same thing."""
        if learned not in self.foremost or not self._reported[:, learned].any():
            return False
        towards = self.directions[learned] @ self.directions[candidate] >= ALIKE
        return bool(towards or learned in _neighbours(self._same, candidate))

    def every(self) -> list[int]:
        """All candidates: those of one clustering share no frames."""
        return self._largest_first(np.ones(len(self.candidates), dtype=bool))

    @property
    def starts(self) -> int:
        """How many starts the clustering had."""
        return len(self.candidates.clusterings)

    def starts_of(self, label: int, candidate: int) -> int:
        """In how many of the starts the same thing is reported for the label."""
        reported = self._reported_alike(label, candidate)
        return len(self.candidates.take(reported.tolist()).clusterings)

    def _reported_alike(
        self, label: int, candidate: int
    ) -> Int[np.ndarray, " candidate"]:
        """What is reported for the label and shares its frames of it, or lies where it lies."""
        reported = np.flatnonzero(self._reported[label])
        towards = self.directions[reported] @ self.directions[candidate] >= ALIKE
        shares = np.isin(reported, _neighbours(self._same_of_label[label], candidate))
        return np.asarray(reported[towards | shares])

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

    @cached_property
    def _same_of_label(self) -> list[sparse.csr_array]:
        """The same by the measured frames of each label alone, which are what tells of it."""
        measured = self.table.observations
        frames = [
            np.flatnonzero(measured.frame_label == label)
            for label in range(measured.classes)
        ]
        return [alike(measured.member[of_label]) for of_label in frames]

    def _largest_first(self, chosen: Bool[np.ndarray, " candidate"]) -> list[int]:
        by_size = np.argsort(-self.candidates.sizes, kind="stable")
        return list(map(int, by_size[chosen[by_size]]))


def weighed(table: ScoredPairs, foreteller: Foreteller | None) -> ScoredPairs:
    """What is reported is worth how far it leads all other labels to its answer.

    And less, the more of its frames are of that answer's label: a bird that looks like a fish lies
    among fish, and says nothing of a cue. And less, the less is seen of it in the pictures, where
    they are read: what nobody can point at is seldom a cue.
    """
    reported = np.flatnonzero(table.verdict != Verdict.NOTHING)
    pairs = table.pairs.take(reported)
    answer = table.mistake.prediction[reported]
    led = lead(table.observations, pairs, answer)
    worth = table.worth.copy()
    worth[reported] = led * share_beside(table.observations, pairs, answer)
    if foreteller is not None:
        worth[reported] *= foreteller.visible(table.observations, pairs, answer)
    return replace(table, worth=worth)


def _neighbours(
    same: sparse.csr_array, candidate: int
) -> Int[np.ndarray, " candidate"]:
    rows = same.indptr
    return np.asarray(same.indices[rows[candidate] : rows[candidate + 1]])
