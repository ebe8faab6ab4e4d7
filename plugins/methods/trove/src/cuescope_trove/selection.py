"""Which pairs of a label and a candidate are findings: cues by their effects, clusters by eq. 1."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

import numpy as np
from jaxtyping import Int
from numpy.random import Generator
from scipy import sparse

from cuescope_sdk.statistics import benjamini_hochberg, gap_p_values
from cuescope_trove.cues import Cue, signs
from cuescope_trove.options import TRoVeOptions
from cuescope_trove.scores import (
    Mistake,
    Observations,
    PairMask,
    Pairs,
    PerPair,
    StaticBias,
    compare,
    gap_limits,
    label_parts,
    meets,
    most_common_mistake,
    static_bias,
)


@dataclass(frozen=True, eq=False)
class ScoredPairs:
    """Everything that a finding needs, per pair. The TRoVe score is meaningful where `scored`.

    `gap` is the accuracy lost where the candidate is on screen, with an interval from `gap_low` to
    `gap_high`: of a cue by the model of its effects, of a cluster as counted (eq. 1).
    `worth` is what pairs are ranked by. Pairs that were not tested have a p-value of NaN.
    """

    observations: Observations
    pairs: Pairs
    bias: StaticBias
    mistake: Mistake
    gap: PerPair
    gap_low: PerPair
    gap_high: PerPair
    accuracy_with: PerPair
    accuracy_without: PerPair
    p_value: PerPair
    q_value: PerPair
    finding: PairMask
    worth: PerPair

    @classmethod
    def join(
        cls, observations: Observations, parts: "Sequence[ScoredPairs]"
    ) -> "ScoredPairs":
        """Those of one candidate after another, the members of `observations`."""
        first = 0
        pairs = []
        for part in parts:
            pairs.append(replace(part.pairs, cluster=part.pairs.cluster + first))
            first += part.observations.clusters
        columns = {
            name: np.concatenate([getattr(part, name) for part in parts])
            for name in FIGURES
        }
        return cls(
            observations,
            _joined(pairs),
            _joined([part.bias for part in parts]),
            _joined([part.mistake for part in parts]),
            **columns,
        )

    @property
    def scored(self) -> PairMask:
        """Whether any frame tells of the static bias."""
        return np.asarray(self.bias.n_frames > 0)

    @property
    def score(self) -> PerPair:
        """The TRoVe score: accuracy lost + static bias, in [-1, 2]."""
        return np.asarray(self.gap + self.bias.value)


# of a pair, one number each
FIGURES = (
    "gap",
    "gap_low",
    "gap_high",
    "accuracy_with",
    "accuracy_without",
    "p_value",
    "q_value",
    "finding",
    "worth",
)
Columns = TypeVar("Columns", Pairs, StaticBias, Mistake)


def _joined(parts: Sequence[Columns]) -> Columns:
    """One after another, column by column."""
    columns = zip(*(vars(part).values() for part in parts), strict=True)
    return type(parts[0])(*map(np.concatenate, columns))


def score_cues(
    observations: Observations, cues: Sequence[Cue], options: TRoVeOptions
) -> ScoredPairs:
    """Pairs of a label and a cue, which is a finding where its shared slope and the loss are clear.

    The members of `observations` are those of the cues. A label's interval needs no correction for
    the number of labels: all are estimated together, and drawn to what they have in common
    (Gelman, Hill and Yajima, 2012). `q_value` is that of the cue.
    """
    pairs = compare(observations)
    bias = _bias(observations, pairs, options)
    effects = [cue.effects for cue in cues]
    shape = len(cues), observations.classes
    at = pairs.cluster, pairs.label

    def of_pairs(figures: Sequence[np.ndarray]) -> PerPair:
        return np.asarray(np.reshape(figures, shape)[at])

    intervals = [effect.interval(options.confidence) for effect in effects]
    gap = -of_pairs([effect.value for effect in effects])
    gap_low = -of_pairs([high for _, high in intervals])
    q_value = np.array([cue.q_value for cue in cues])[pairs.cluster]
    sign = of_pairs([signs(cue.answer, observations.classes) for cue in cues])
    finding = (q_value <= options.fdr) & (gap_low > 0) & (sign < 0)
    finding &= passes(observations, pairs, gap, bias, options)
    return ScoredPairs(
        observations=observations,
        pairs=pairs,
        bias=bias,
        mistake=most_common_mistake(observations, pairs),
        gap=gap,
        gap_low=gap_low,
        gap_high=-of_pairs([low for low, _ in intervals]),
        accuracy_with=of_pairs([effect.accuracy_with for effect in effects]),
        accuracy_without=of_pairs([effect.accuracy_without for effect in effects]),
        p_value=np.array([cue.p_value for cue in cues])[pairs.cluster],
        q_value=q_value,
        finding=finding,
        worth=gap * pairs.n_with,
    )


def describe_clusters(observations: Observations, options: TRoVeOptions) -> ScoredPairs:
    """Pairs of a label and a cluster, as counted; nothing of them is tested."""
    pairs = compare(observations)
    bias = _bias(observations, pairs, options)
    low, high = gap_limits(observations, pairs, options.confidence)
    gap = pairs.error_contribution
    untested = np.full(len(pairs), np.nan)
    return ScoredPairs(
        observations=observations,
        pairs=pairs,
        bias=bias,
        mistake=most_common_mistake(observations, pairs),
        gap=gap,
        gap_low=low,
        gap_high=high,
        accuracy_with=pairs.accuracy_with,
        accuracy_without=pairs.accuracy_without,
        p_value=untested,
        q_value=untested,
        finding=np.zeros(len(pairs), dtype=bool),
        worth=gap * pairs.n_with,
    )


def score_clusters(
    observations: Observations, options: TRoVeOptions, rng: Generator
) -> ScoredPairs:
    """Pairs of a label and a cluster, which is a finding by the paper's exclusions and a test.

    The test deals groups anew within the label; false discoveries are controlled over all pairs.
    """
    table = describe_clusters(observations, options)
    # of losses alone; a gain could have been found as well, so they count twice
    p_value = np.minimum(2 * p_values(observations, table.pairs, rng), 1.0)
    q_value = np.array(benjamini_hochberg(p_value.tolist()))
    finding = (q_value <= options.fdr) & (table.gap_low > 0)
    finding &= passes(observations, table.pairs, table.gap, table.bias, options)
    return replace(
        table, p_value=p_value, q_value=q_value, finding=finding, worth=table.score
    )


def passes(
    observations: Observations,
    pairs: Pairs,
    gap: PerPair,
    bias: StaticBias,
    options: TRoVeOptions,
) -> PairMask:
    """The paper's exclusions (appendix C)."""
    # Chance is excluded too: a still clip gets any wrong answer right once in |Y| (appendix C).
    exceeds_chance = bias.value > 1 / observations.classes
    return np.asarray(
        (gap > options.min_error_contribution)
        & (bias.n_frames > 0)
        & (exceeds_chance | (not options.above_chance))
        & (pairs.frequency >= options.min_frequency)
        & (pairs.frequency <= options.max_frequency)
    )


def p_values(observations: Observations, pairs: Pairs, rng: Generator) -> PerPair:
    """One-sided p-value of each pair: its label loses no accuracy with the cluster."""
    p_value = np.ones(len(pairs))
    for part in label_parts(observations, pairs):
        p_value[part.pairs] = gap_p_values(part.values, part.present, part.groups, rng)
    return p_value


def _bias(
    observations: Observations, pairs: Pairs, options: TRoVeOptions
) -> StaticBias:
    return static_bias(
        observations, pairs, across_labels=options.static_bias == "cluster"
    )


def ranking(table: ScoredPairs) -> Int[np.ndarray, " pair"]:
    """Findings first, each by worth, those without a score last.

    Ties go by how much more often the mistake is made, then by label and cluster.
    """
    # A pair without a wrong frame has no static bias: it is not a score of 0, it is none.
    strength = np.where(table.scored, table.worth, -np.inf)
    return np.lexsort((-table.mistake.surplus, -strength, ~table.finding))


# ----------------------------------------------------------------------------------- the null


def clusters_that_pass(
    observations: Observations, options: TRoVeOptions, rng: Generator
) -> int:
    """Number of pairs that pass the test, whatever they cost."""
    pairs = compare(observations)
    p_value = np.minimum(2 * p_values(observations, pairs, rng), 1.0)
    return int((np.array(benjamini_hochberg(p_value.tolist())) <= options.fdr).sum())


def shuffle_within_labels(observations: Observations, rng: Generator) -> Observations:
    """The null: what is on screen in whole groups is dealt anew among the groups of each label."""
    # Answers and still clips stay together, and so do clusters of a group: only the tie between
    # both is cut. Were answers dealt away from their still clips, no static bias would be left, and
    # nothing could be found whatever the test is worth.
    source = observations.groups.deal(observations.label, rng)
    shows = meets(observations)[source]
    # the test asks whether a sequence shows a cluster, not where: its first frame has them all
    sequences, first = np.unique(observations.frame_sample, return_index=True)
    frames = len(observations.frame_sample)
    inside = np.ones(len(first), dtype=bool)
    place = sparse.csr_array((inside, (first, sequences)), shape=(frames, len(source)))
    return replace(observations, member=sparse.csr_array(place @ shows))
