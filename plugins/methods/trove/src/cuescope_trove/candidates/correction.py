"""How the p-values of pairs pay for everything that was tried.

Many clusters overlap: starts of one clustering, coarse and fine ones. So a label's pairs are one
family, corrected by the draws of one null, which sees what they have in common. What is learned to
foretell an answer is a family of that answer.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Int
from numpy.random import Generator

from cuescope_sdk.statistics import Families, FamilyTest, gap_p_values
from cuescope_trove.candidates.foretold import AnswerTest
from cuescope_trove.scores import Observations, PairMask, Pairs, PerPair, label_parts

# without an end one lucky pair could take nearly all of the error budget
CLEAR = 0.01  # p-value below which it gains no more weight there
DRAWS = 2000  # of each label's null
EVEN = 0.05  # the level at which overlapping tests are counted


@dataclass(frozen=True, eq=False)
class Correction:
    """What p-values pay for all that was tried, in families of tests that overlap.

    `family` is the number of each pair's: its label, and behind these the answer that its candidate
    was learned to foretell. `families` hold the numbers of their tested pairs, and their test;
    `of_labels` are so many, which come first.
    """

    family: Int[np.ndarray, " pair"]
    families: Sequence[tuple[Int[np.ndarray, " tested"], FamilyTest]]
    of_labels: int

    @classmethod
    def of(
        cls,
        observations: Observations,
        pairs: Pairs,
        p_value: PerPair,
        weight: PerPair,
        rng: Generator,
        *,
        draws: int = DRAWS,
    ) -> "Correction":
        """The correction of the pairs that were tested, which have a p-value."""
        families = []
        tested = np.flatnonzero(np.isfinite(p_value))
        for part in label_parts(observations, pairs.take(tested)):
            chosen = tested[part.pairs]
            test = FamilyTest.of_gaps(
                part.values,
                part.present,
                part.groups,
                rng,
                p_value=p_value[chosen],
                weight=weight[chosen],
                draws=draws,
            )
            families.append((chosen, test))
        return cls(pairs.label, families, len(families))

    def with_answers(
        self, tests: Iterable[AnswerTest], pairs: Pairs, classes: int
    ) -> "Correction":
        """And that of what was learned to foretell answers, a family each."""
        family = self.family.copy()
        families = list(self.families)
        for answer, candidate, labels, test, _ in tests:
            is_its = (pairs.cluster == candidate) & np.isin(pairs.label, labels)
            chosen = np.flatnonzero(is_its)
            of_test = np.searchsorted(labels, pairs.label[chosen])
            families.append((chosen, test.take(of_test)))
            family[chosen] = classes + answer
        return replace(self, family=family, families=families)

    def filled(self, p_value: PerPair) -> PerPair:
        """These, and of what was learned to foretell answers those that its draws gave."""
        result = p_value.copy()
        for chosen, test in self.families[self.of_labels :]:
            result[chosen] = test.p_value
        return result

    def q_values(self, p_value: PerPair) -> PerPair:
        """The smallest false discovery rate at which a pair is found; NaN: not tested.

        p-values are of losses alone. A gain could have been found as well, so they count twice, as
        both ends of an interval do.
        """
        corrected = np.full(len(p_value), np.nan)
        for chosen, test in self.families:
            corrected[chosen] = test.corrected(p_value[chosen])
        return two_sided(Families(self.family).q_values(corrected))

    def critical(self, q_value: PerPair, fdr: float) -> PerPair:
        """The two-sided p-value that each pair must reach to be found; NaN: not tested.

        Families in which something is found, by `q_value`, share the rate; a family's pairs share
        its part as their null tells (the inverse of `q_values`).
        """
        result = np.full(len(q_value), np.nan)
        found = len(np.unique(self.family[q_value <= fdr]))
        level = fdr / 2 * found / max(len(self.families), 1)
        for chosen, test in self.families:
            draws = len(test.largest)
            # so many draws may be as strong; none is where the level is below what they can tell
            allowed = int(level * (1 + draws)) - 1
            strongest = np.append(test.largest, np.inf)[draws - 1 - allowed]
            by_draws = test.p_value * np.exp(test.strength - strongest)
            by_bound = level * test.share / len(chosen)
            result[chosen] = two_sided(np.maximum(by_draws, by_bound))
        return result

    @property
    def count(self) -> float:
        """So many tests that do not overlap would have cost as much."""
        if not self.of_labels:
            return 0.0
        # the typical label: each family has a share of the level, and pays for its own tests
        each = [
            EVEN / test.critical(EVEN) for _, test in self.families[: self.of_labels]
        ]
        return len(self.families) * float(np.median(each))


def two_sided(p_value: PerPair) -> PerPair:
    """Of one-sided p-values, or of what was made of them: twice as large, 1 at most."""
    return np.asarray(np.minimum(2 * p_value, 1.0))


def p_values(
    observations: Observations,
    pairs: Pairs,
    rng: Generator,
    tried: PairMask,
) -> PerPair:
    """Would right answers, dealt anew to groups of the label, differ as much? NaN: not tried."""
    result = np.full(len(pairs), np.nan)
    some = np.flatnonzero(tried)
    for part in label_parts(observations, pairs.take(some)):
        p_value = gap_p_values(part.values, part.present, part.groups, rng)
        result[some[part.pairs]] = p_value
    return result


def pooled_weights(
    observations: Observations,
    pairs: Pairs,
    p_value: PerPair,
) -> PerPair:
    """How much of the error budget a pair gets for what its cluster costs the other labels.

    Their p-values are joined by Stouffer's method, each label alike, and never the pair's own.
    All get the same where a group lies in several labels, whose answers are then not independent.
    """
    groups = observations.groups
    label = observations.label
    if (groups.strata(label)[groups.codes] != label).any():
        return np.ones(len(pairs))
    joined = Families(pairs.cluster).joined_others(p_value)
    # 2: as p = 0.5 has
    return np.where(np.isnan(joined), 2.0, 1 / np.maximum(joined, CLEAR))


def could_pass(observations: Observations, pairs: Pairs, fdr: float) -> PairMask:
    """Pairs that could pass at all, were every wrong answer where the cluster is on screen.

    What could not pass, whatever is found, is neither tested nor counted (Tarone, 1990; for the
    false discovery rate Gilbert, 2005). This asks how many groups show the cluster and how many
    have a wrong answer, never whether they are the same ones.
    """
    possible = np.zeros(len(pairs), dtype=bool)
    for part in label_parts(observations, pairs):
        groups = part.groups
        # groups are counted, not sequences: the test deals whole groups
        n_with = (groups.sums(part.present.astype(float)) > 0).sum(axis=0)
        wrong = int(np.count_nonzero(groups.sums(1 - part.values)))
        least = Families.least_gap_p_values(n_with, groups.count - n_with, wrong)
        # within the label: another one's pairs are no part of its correction
        possible[part.pairs] = Families.can_pass(two_sided(least), fdr)
    return possible
