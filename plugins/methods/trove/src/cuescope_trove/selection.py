"""Which pairs are tried, which are found, and what else may explain what was found.

Cues are looked for in one part of the groups and measured in the other (`discover`), so that the
figure of a finding is not the largest of many. What stood out in the first part has more of the
error budget of the second (Genovese, Roeder and Wasserman, 2006). What is found is then tried again
without the sequences that look mislabelled, and among sequences that are alike in `control`.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import IntEnum

import numpy as np
from jaxtyping import Bool, Float, Int

from cuescope_sdk.statistics import (
    Groups,
    can_pass,
    gap_p_values,
    joined_p_values_of_others,
    least_gap_p_value,
    split_groups,
    weighted_q_values,
)
from cuescope_trove.label_noise import Suspects, confident_disagreement, mislabelled, unlike_p_value
from cuescope_trove.options import TRoVeOptions
from cuescope_trove.scores import Observations, Pairs, StaticBias, compare, label_parts, static_bias

SPLIT_GROUPS = 400  # groups a label, from which on cues are found and measured in two parts
DISCOVERY = 0.3  # of these groups are in the first part
CANDIDATE = 0.5  # p-value up to which a pair of the first part is tried again in the other
CLEAR = 0.01  # p-value below which it gains no more weight there

UNLIKE = 0.02  # p-value over all findings, from which on answers are unlike those to label errors


class Verdict(IntEnum):
    """What a pair is."""

    NOTHING = 0
    FINDING = 1
    LABEL_NOISE = 2
    CONTROL = 3


@dataclass(frozen=True, eq=False)
class ScoredPairs:
    """Everything that a finding needs, per pair. `score` is meaningful where `scored`.

    `p_value` and `q_value` are NaN where a pair was not tried. `retest` is the p-value that is left
    of a found pair, and speaks against it where `verdict` is LABEL_NOISE or CONTROL; `suspects`
    counts its sequences that may be mislabelled. `first_gap` is the error contribution in the part
    where cues were looked for, None where there was one part. `observations` are those measured.
    """

    observations: Observations

    pairs: Pairs
    bias: StaticBias
    p_value: np.ndarray
    q_value: np.ndarray
    verdict: np.ndarray
    retest: np.ndarray
    suspects: np.ndarray
    first_gap: np.ndarray | None = None

    @property
    def finding(self) -> np.ndarray:
        """Whether a pair is reported as a cue."""
        return np.asarray(self.verdict == Verdict.FINDING)

    @property
    def tried(self) -> np.ndarray:
        """Whether a pair was tested; only these count."""
        return np.asarray(np.isfinite(self.p_value))

    @property
    def scored(self) -> np.ndarray:
        """Whether any frame tells of the static bias."""
        return np.asarray(self.bias.n_frames > 0)

    @property
    def score(self) -> np.ndarray:
        """The TRoVe score: error contribution + static bias, in [-1, 2]."""
        return np.asarray(self.pairs.error_contribution + self.bias.value)


def discovery_part(
    observations: Observations, share: float | None, rng: np.random.Generator
) -> Bool[np.ndarray, " sample"] | None:
    """The sequences in which cues are looked for: whole groups of each label; None for all.

    `share` None takes `DISCOVERY` where every label has `SPLIT_GROUPS` groups.
    """
    if share is None:
        counts = [
            observations.groups.take(observations.label == label).count
            for label in np.unique(observations.label)
        ]
        share = DISCOVERY if splits_by_default(counts) else 0.0
    if not share:
        return None
    return split_groups(observations.groups, rng, share=share, strata=observations.label)


def splits_by_default(counts: Sequence[int]) -> bool:
    """Whether labels with so many groups are enough for two parts."""
    return min(counts, default=0) >= SPLIT_GROUPS


def score(
    observations: Observations,
    clusters: int,
    options: TRoVeOptions,
    rng: np.random.Generator | None = None,
    part: Bool[np.ndarray, " sample"] | None = None,
) -> ScoredPairs:
    """All pairs with their scores, p- and q-values (over every pair tried) and findings.

    Findings pass the paper's exclusions (appendix C) and the false discovery rate. With `part`
    they are looked for there, and all figures are of the other sequences.
    """
    rng = np.random.default_rng(0) if rng is None else rng
    suspects = confident_disagreement(observations)
    if part is None:
        pairs = compare(observations, clusters)
        weight = could_pass(observations, pairs, clusters, options.fdr).astype(float)
        return _tested(observations, suspects, pairs, clusters, options, rng, weight, observations)
    first, fresh = observations.take(part), observations.take(~part)
    candidates = compare(first, clusters)
    p_value = p_values(first, candidates, clusters, rng, np.ones(len(candidates), dtype=bool))
    pairs = compare(fresh, clusters)
    code, first_code = (table.label * clusters + table.cluster for table in (pairs, candidates))
    first_p = _look_up(first_code, p_value, code, 1.0)
    weight = weights(first_p) * could_pass(fresh, pairs, clusters, options.fdr)
    table = _tested(
        fresh, suspects.take(~part), pairs, clusters, options, rng, weight, observations
    )
    return replace(
        table, first_gap=_look_up(first_code, candidates.error_contribution, code, np.nan)
    )


def _look_up(
    keys: Int[np.ndarray, " known"],
    values: Float[np.ndarray, " known"],
    wanted: Int[np.ndarray, " pair"],
    missing: float,
) -> Float[np.ndarray, " pair"]:
    found = dict(zip(keys.tolist(), values.tolist(), strict=True))
    return np.array([found.get(key, missing) for key in wanted.tolist()], dtype=float)


def weights(first_p: Float[np.ndarray, " pair"]) -> Float[np.ndarray, " pair"]:
    """How much of the error budget a pair gets for its p-value in the first part; 0: not tried."""
    return np.where(first_p <= CANDIDATE, 1 / np.maximum(first_p, CLEAR), 0.0)


def _tested(
    observations: Observations,
    suspects: Suspects,
    pairs: Pairs,
    clusters: int,
    options: TRoVeOptions,
    rng: np.random.Generator,
    weight: Float[np.ndarray, " pair"],
    everything: Observations,
) -> ScoredPairs:
    """Pairs with the tests of those that have a weight, and the tests of what passes, repeated.

    How the answers of a pair look is asked of both parts, `everything`: that is not what it was
    chosen for.
    """
    p_value = p_values(observations, pairs, clusters, rng, weight > 0)
    if options.pool_labels:
        weight = weight * pooled_weights(observations, pairs, p_value)
    q_value = weighted_q_values(p_value, weight)
    found = passes(observations, pairs, clusters, options) & (q_value <= options.fdr)
    verdict = np.where(found, Verdict.FINDING, Verdict.NOTHING)
    again, suspected = p_value.copy(), np.zeros(len(pairs), dtype=np.int64)
    if observations.control is not None:
        for pair in np.flatnonzero(found).tolist():
            again[pair] = _among_alike(observations, pairs.take(np.array([pair])), clusters, rng)
        # corrected anew: what no longer passes does not help the others to pass
        verdict[found & (weighted_q_values(again, weight) > options.fdr)] = Verdict.CONTROL
    kept = np.flatnonzero(verdict == Verdict.FINDING)
    for pair in kept.tolist():
        one = pairs.take(np.array([pair]))
        suspicion = mislabelled(observations, suspects, one, clusters)
        suspected[pair] = suspicion.count
        few = 0 < suspicion.count <= options.label_noise * suspicion.of
        if few and unlike_p_value(everything, one, clusters, rng) > UNLIKE / len(kept):
            without = observations.take(~suspicion.removed)
            again[pair] = max(again[pair], _elsewhere(without, one, clusters, options, rng))
    verdict[kept[weighted_q_values(again, weight)[kept] > options.fdr]] = Verdict.LABEL_NOISE
    across_labels = options.static_bias == "cluster"
    bias = static_bias(observations, pairs, clusters, across_labels=across_labels)
    return ScoredPairs(observations, pairs, bias, p_value, q_value, verdict, again, suspected)


def passes(
    observations: Observations, pairs: Pairs, clusters: int, options: TRoVeOptions
) -> Bool[np.ndarray, " pair"]:
    """The paper's exclusions (appendix C)."""
    across_labels = options.static_bias == "cluster"
    bias = static_bias(observations, pairs, clusters, across_labels=across_labels)
    # Chance is excluded too: a still clip gets any wrong answer right once in |Y| (appendix C).
    exceeds_chance = bias.value > 1 / observations.classes
    return np.asarray(
        (pairs.error_contribution > options.min_error_contribution)
        & (bias.n_frames > 0)
        & (exceeds_chance | (not options.above_chance))
        & (pairs.frequency >= options.min_frequency)
        & (pairs.frequency <= options.max_frequency)
    )


# --------------------------------------------------------------------------------------- tests


def p_values(
    observations: Observations,
    pairs: Pairs,
    clusters: int,
    rng: np.random.Generator,
    tried: Bool[np.ndarray, " pair"],
) -> Float[np.ndarray, " pair"]:
    """Would right answers, dealt anew to groups of the label, differ as much? NaN: not tried."""
    result = np.full(len(pairs), np.nan)
    some = np.flatnonzero(tried)
    for chosen, samples, present in label_parts(observations, pairs.take(some), clusters):
        result[some[chosen]] = gap_p_values(
            observations.correct[samples].astype(float),
            present,
            observations.groups.take(samples),
            rng,
        )
    return result


def pooled_weights(
    observations: Observations, pairs: Pairs, p_value: Float[np.ndarray, " pair"]
) -> Float[np.ndarray, " pair"]:
    """How much of the error budget a pair gets for what its cluster costs the other labels.

    Their p-values are joined by Stouffer's method, each label alike, and never the pair's own.
    All get the same where a group lies in several labels, whose answers are then not independent.
    """
    groups, label = observations.groups, observations.label
    if (groups.strata(label)[groups.codes] != label).any():
        return np.ones(len(pairs))
    joined = joined_p_values_of_others(p_value, pairs.cluster)
    return np.where(np.isnan(joined), 2.0, 1 / np.maximum(joined, CLEAR))  # 2: as p = 0.5 has


def could_pass(
    observations: Observations, pairs: Pairs, clusters: int, fdr: float
) -> Bool[np.ndarray, " pair"]:
    """Pairs that could pass at all, were every wrong answer where the cluster is on screen.

    What could not pass, whatever is found, is neither tested nor counted (Tarone, 1990; for the
    false discovery rate Gilbert, 2005). This asks how many groups show the cluster and how many
    have a wrong answer, never whether they are the same ones.
    """
    least = np.ones(len(pairs))
    for chosen, samples, present in label_parts(observations, pairs, clusters):
        groups = observations.groups.take(samples)
        n_with = (groups.sums(present.astype(float)) > 0).sum(axis=0)
        is_wrong = (~observations.correct[samples]).astype(float)
        wrong = int((groups.sums(is_wrong) > 0).sum())
        least[chosen] = least_gap_p_value(n_with, groups.count - n_with, wrong)
    return can_pass(least, fdr)


def _elsewhere(
    observations: Observations,
    pair: Pairs,
    clusters: int,
    options: TRoVeOptions,
    rng: np.random.Generator,
) -> float:
    """The p-value of a pair in other sequences; 1 where it costs too little there."""
    table = compare(observations, clusters)
    one = table.take((table.label == pair.label[0]) & (table.cluster == pair.cluster[0]))
    if not len(one) or one.error_contribution[0] <= options.min_error_contribution:
        return 1.0
    return float(p_values(observations, one, clusters, rng, np.array([True]))[0])


def _among_alike(
    observations: Observations, pair: Pairs, clusters: int, rng: np.random.Generator
) -> float:
    """The p-value of a pair, answers dealt only among groups that are alike in `control`."""
    control = observations.control
    assert control is not None
    [(_, samples, present)] = label_parts(observations, pair, clusters)
    known = control[samples] >= 0
    return float(
        gap_p_values(
            observations.correct[samples[known]].astype(float),
            present[known],
            observations.groups.take(samples[known]),
            rng,
            strata=control[samples[known]],
        )[0]
    )


# ----------------------------------------------------------------------------------- the null


def ranking(table: ScoredPairs) -> Int[np.ndarray, " pair"]:
    """Findings first, then what was explained away, each by score, those without a score last.

    Ties go by label, then cluster.
    """
    # A pair without a wrong frame has no static bias: it is not a score of 0, it is none.
    strength = np.where(table.scored, table.score, -np.inf)
    return np.lexsort((-strength, table.verdict == Verdict.NOTHING, ~table.finding))


def losses_that_pass(
    observations: Observations, clusters: int, options: TRoVeOptions, rng: np.random.Generator
) -> int:
    """How many pairs pass the test of all groups, whatever they cost and whatever explains them."""
    pairs = compare(observations, clusters)
    tried = could_pass(observations, pairs, clusters, options.fdr)
    p_value = p_values(observations, pairs, clusters, rng, tried)
    return int((weighted_q_values(p_value, tried.astype(float)) <= options.fdr).sum())


def shuffle_within_labels(observations: Observations, rng: np.random.Generator) -> Observations:
    """The null: what is on screen in whole groups is dealt anew among the groups of each label."""
    # Answers and still clips stay together, and so do clusters of a group: only the tie between
    # both is cut. Were answers dealt away from their still clips, no static bias would be left, and
    # nothing could be found whatever the test is worth.
    groups: Groups = observations.groups
    target = np.lexsort((groups.codes, observations.label))
    key = rng.permutation(groups.count)[groups.codes]
    source = np.empty(len(target), dtype=np.int64)
    source[target] = np.lexsort((key, observations.label))
    by_sample = np.argsort(observations.frame_sample, kind="stable")
    sizes = np.bincount(observations.frame_sample, minlength=len(target))
    starts = np.cumsum(sizes) - sizes
    sample = observations.frame_sample[by_sample]
    place = np.arange(len(sample)) - starts[sample]
    # a longer sequence is thinned out, a shorter one repeats its frames
    taken = source[sample]
    place = place * sizes[taken] // np.maximum(sizes[sample], 1)
    cluster = np.empty_like(observations.frame_cluster)
    cluster[by_sample] = observations.frame_cluster[by_sample[starts[taken] + place]]
    return replace(observations, frame_cluster=cluster)
