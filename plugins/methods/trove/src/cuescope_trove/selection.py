"""Which pairs are tried, which are found, and what else may explain what was found.

Cues are looked for in one part of the groups and measured in the other (`discover`), so that the
figure of a finding is not the largest of many. What stood out in the first part has more of the
error budget of the second (Genovese, Roeder and Wasserman, 2006). What is found is then tried again
without the sequences that look mislabelled.
"""

from collections.abc import Sequence
from copy import deepcopy
from dataclasses import dataclass, replace
from enum import IntEnum
from functools import partial
from typing import NamedTuple

import numpy as np
from jaxtyping import Int
from numpy.random import Generator
from scipy import sparse

from cuescope_sdk.statistics import Answered, LabelNoise, excluded_by_test
from cuescope_trove.candidates.correction import (
    CLEAR,
    Correction,
    could_pass,
    p_values,
    pooled_weights,
)
from cuescope_trove.candidates.foretold import AnswerTest
from cuescope_trove.candidates.groups import alike
from cuescope_trove.label_noise import unlike_label_errors
from cuescope_trove.options import TRoVeOptions
from cuescope_trove.scores import (
    Mistake,
    Observations,
    PairMask,
    Pairs,
    PerPair,
    SampleMask,
    StaticBias,
    compare,
    gap_limits,
    meets,
    most_common_mistake,
    static_bias,
)

# groups a label, from which on cues are found and measured in two parts
SPLIT_GROUPS = 400
# halves with a stricter first part lost 11 to 16 points of power (docs/trove.md)
DISCOVERY = 0.3  # of these groups are in the first part
# p-value up to which a pair of the first part is tried again in the other
CANDIDATE = 0.5
SHUFFLED_DRAWS = 500  # of a null that is itself drawn many times
SMALLEST = 1e-300  # a p-value that underflowed still divides


class Verdict(IntEnum):
    """What a pair is."""

    NOTHING = 0
    FINDING = 1
    LABEL_NOISE = 2


@dataclass(frozen=True, eq=False)
class ScoredPairs:
    """Everything that a finding needs, per pair. `score` is meaningful where `scored`.

    `p_value` (one-sided) and `q_value` are NaN where a pair was not tried. `confidence` is that of
    its intervals; `gap_low` and `gap_high` are that of its error contribution. `retest` is the
    p-value that is left of a found pair, and speaks against it where `verdict` is LABEL_NOISE;
    `suspects` counts its sequences that may be mislabelled; `unlike` is the p-value, of all losses
    together, with which label errors would give its wrong answers, where only this speaks for a
    finding, and 0 elsewhere or where no draw comes as far; `correction` is what p-values paid.
    `first_gap` is the error contribution in the part where cues were looked for, None where there
    was one part. `observations` are those measured. `worth` is what a pair is ranked by: how much
    more often its mistake is made; in the paper's way the TRoVe score.
    """

    observations: Observations
    pairs: Pairs
    bias: StaticBias
    p_value: np.ndarray
    q_value: np.ndarray
    confidence: np.ndarray
    gap_low: np.ndarray
    gap_high: np.ndarray
    verdict: np.ndarray
    retest: np.ndarray
    suspects: np.ndarray
    unlike: np.ndarray
    correction: Correction
    mistake: Mistake
    worth: np.ndarray
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

    @property
    def error(self) -> np.ndarray:
        """The largest standard error that a difference of shares with and without may have."""
        pairs = self.pairs
        return np.asarray(np.sqrt(1 / pairs.n_with + 1 / pairs.n_without) / 2)

    @property
    def clarity(self) -> np.ndarray:
        """The worth in standard errors."""
        return np.asarray(self.worth / self.error)

    def of_clusters(self, chosen: Sequence[int]) -> "ScoredPairs":
        """The pairs of some clusters, which are numbered anew in this order."""
        numbers = np.full(self.observations.clusters, -1)
        numbers[chosen] = np.arange(len(chosen))
        kept = np.flatnonzero(numbers[self.pairs.cluster] >= 0)
        # by label, then cluster, as pairs come
        cluster = numbers[self.pairs.cluster[kept]]
        kept = kept[np.lexsort((cluster, self.pairs.label[kept]))]
        pairs = self.pairs.take(kept)
        member = self.observations.member[:, chosen]
        return replace(
            self,
            observations=replace(self.observations, member=member),
            pairs=replace(pairs, cluster=numbers[pairs.cluster]),
            bias=StaticBias(self.bias.value[kept], self.bias.n_frames[kept]),
            p_value=self.p_value[kept],
            q_value=self.q_value[kept],
            confidence=self.confidence[kept],
            gap_low=self.gap_low[kept],
            gap_high=self.gap_high[kept],
            verdict=self.verdict[kept],
            retest=self.retest[kept],
            suspects=self.suspects[kept],
            unlike=self.unlike[kept],
            mistake=self.mistake.take(kept),
            worth=self.worth[kept],
            first_gap=None if self.first_gap is None else self.first_gap[kept],
        )


def discovery_part(
    observations: Observations,
    share: float | None,
    rng: Generator,
) -> SampleMask | None:
    """The sequences in which cues are looked for: whole groups of each label; None for all.

    `share` None takes `DISCOVERY` where every label has `SPLIT_GROUPS` groups.
    """
    label = observations.label
    groups = observations.groups
    if share is None:
        counts = [groups.take(label == code).count for code in np.unique(label)]
        share = DISCOVERY if splits_by_default(counts) else 0.0
    if not share:
        return None
    return groups.split(rng, share=share, strata=label)


def splits_by_default(counts: Sequence[int]) -> bool:
    """Whether labels with so many groups are enough for two parts."""
    return min(counts, default=0) >= SPLIT_GROUPS


def score(
    observations: Observations,
    options: TRoVeOptions,
    rng: Generator | None = None,
    part: SampleMask | None = None,
    foretold: Sequence[AnswerTest] = (),
) -> ScoredPairs:
    """All pairs with their scores, p- and q-values (over every pair tried) and findings.

    Findings pass the paper's exclusions (appendix C) and the false discovery rate. With `part`
    they are looked for there, and all figures are of the other sequences. The pairs of candidates
    that were learned to foretell answers have tests of their own.
    """
    rng = np.random.default_rng(0) if rng is None else rng
    noise = LabelNoise.of(observations.answered)
    measured = observations
    if part is not None:
        measured = observations.take(~part)
        noise = noise.take(~part)
    pairs = compare(measured)
    is_learned = np.isin(pairs.cluster, [test.candidate for test in foretold])
    weight = could_pass(measured, pairs, options.fdr) * (~is_learned).astype(float)
    first_gap = None
    if part is not None:
        first = observations.take(part)
        candidates = compare(first)
        # all are tried: the first part only gives weights, and finds nothing by itself
        everything = np.ones(len(candidates), dtype=bool)
        first_p = p_values(first, candidates, rng, everything)
        # p = 1 where the first part cannot compare a pair: it is not tried again
        table = np.ones((observations.classes, observations.clusters))
        table[candidates.label, candidates.cluster] = first_p
        weight *= weights(table[pairs.label, pairs.cluster])
        # both parts need not have the same pairs: NaN where the first one lacks this
        table = np.full(table.shape, np.nan)
        table[candidates.label, candidates.cluster] = candidates.error_contribution
        first_gap = table[pairs.label, pairs.cluster]
    p_value = p_values(measured, pairs, rng, weight > 0)
    if options.pool_labels:
        weight *= pooled_weights(measured, pairs, p_value)
    correction = Correction.of(measured, pairs, p_value, weight, rng)
    correction = correction.with_answers(foretold, pairs, measured.classes)
    p_value = correction.filled(p_value)
    q_value = correction.q_values(p_value)
    bias = static_bias(measured, pairs, across_labels=options.static_bias == "cluster")
    passed = q_value <= options.fdr
    confidence = np.full(len(pairs), options.confidence)
    # with two parts nothing was chosen by the sequences that are measured
    if part is None:
        # the interval of what passed pays for all that was tried, as its p-value did
        critical = np.minimum(correction.critical(q_value, options.fdr), options.fdr)
        error = (1 - options.confidence) / options.fdr * critical
        confidence[passed] = 1 - error[passed]
    gap_low, gap_high = gap_limits(measured, pairs, confidence)
    if part is None:
        excluded = excluded_by_test(
            pairs.error_contribution[passed],
            p_value[passed],
            confidence[passed],
        )
        gap_low[passed] = np.maximum(gap_low[passed], excluded)
    found = passes(measured, pairs, bias, options) & passed & (gap_low > 0)
    verdict = np.where(found, Verdict.FINDING, Verdict.NOTHING)
    leader = _leaders(measured, pairs, found, p_value)
    is_leader = found & (leader == np.arange(len(pairs)))
    # what is not tried again keeps its own p-value: nothing else speaks against it
    retest = p_value.copy()
    mislabelled_count = np.zeros(len(pairs), dtype=np.int64)
    unlike = np.zeros(len(pairs))
    # what would be left if nothing were known of how label errors are answered
    without_proof = p_value.copy()
    leaders = np.flatnonzero(is_leader).tolist()
    for number in leaders:
        pair = pairs.take([number])
        label = pair.label.item()
        shows = measured.shows(pair.cluster.item())
        # labels of test sets are wrong in up to 10%: a larger loss is not their work
        suspects = noise.suspects(label, shows, 1.0).sum()
        of_label = pair.n_with + pair.n_without
        if suspects > options.label_noise * of_label.item():
            mislabelled_count[number] = suspects
            continue
        again = _retest(observations, measured, noise, pair, options, rng, len(leaders))
        mislabelled_count[number] = again.suspects
        unlike[number] = again.unlike
        # without them the loss may be clearer by luck
        retest[number] = max(retest[number], again.p_value)
        without_proof[number] = max(p_value[number], again.without_proof)
    # as much weaker as what stands for it: what no longer passes helps no other to pass
    own = np.maximum(p_value, SMALLEST)
    retest[found] = own[found] * (retest / own)[leader[found]]
    failed = is_leader & (correction.q_values(retest) > options.fdr)
    verdict[found & failed[leader]] = Verdict.LABEL_NOISE
    unlike[correction.q_values(without_proof) <= options.fdr] = 0.0
    mistake = most_common_mistake(measured, pairs)
    trove_score = pairs.error_contribution + bias.value
    return ScoredPairs(
        observations=measured,
        pairs=pairs,
        bias=bias,
        p_value=p_value,
        q_value=q_value,
        confidence=confidence,
        gap_low=gap_low,
        gap_high=gap_high,
        verdict=verdict,
        retest=retest,
        suspects=mislabelled_count[leader],
        unlike=unlike[leader],
        correction=correction,
        mistake=mistake,
        worth=trove_score if options.paper else mistake.surplus,
        first_gap=first_gap,
    )


def _leaders(
    observations: Observations,
    pairs: Pairs,
    found: PairMask,
    p_value: PerPair,
) -> Int[np.ndarray, " pair"]:
    """Which pair stands for each: the most certain one of its label that shares half of the frames.

    Only that is told, and so only that is tried again. What is not found stands for itself.
    """
    leader = np.arange(len(pairs))
    for label in np.unique(pairs.label[found]):
        of_label = np.flatnonzero(found & (pairs.label == label))
        same = alike(observations.member[:, pairs.cluster[of_label]]).toarray()
        leads = np.zeros(len(of_label), dtype=bool)
        for column in np.argsort(p_value[of_label], kind="stable"):
            before = np.flatnonzero(same[column] & leads)
            leads[column] = not len(before)
            if len(before):
                leader[of_label[column]] = of_label[before[0]]
    return leader


def weights(first_p: PerPair) -> PerPair:
    """How much of the error budget a pair gets for its p-value in the first part; 0: not tried."""
    return np.where(first_p <= CANDIDATE, 1 / np.maximum(first_p, CLEAR), 0.0)


def passes(
    observations: Observations,
    pairs: Pairs,
    bias: StaticBias,
    options: TRoVeOptions,
) -> PairMask:
    """The paper's exclusions (appendix C)."""
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


class Retest(NamedTuple):
    """What is left of a loss of which `suspects` may be mislabelled: its `p_value`.

    `unlike` is the p-value with which label errors would give its wrong answers, and
    `without_proof` what were left if that did not count; both are 0 where it does not.
    """

    suspects: int
    p_value: float
    unlike: float = 0.0
    without_proof: float = 0.0


def _retest(
    observations: Observations,
    measured: Observations,
    noise: LabelNoise,
    pair: Pairs,
    options: TRoVeOptions,
    rng: Generator,
    losses: int,
) -> Retest:
    """A loss again, one of so many, without the sequences that may be mislabelled."""
    retest = partial(
        noise.retest,
        pair.label.item(),
        measured.shows(pair.cluster.item()),
        most=options.label_noise,
    )
    limit = Answered.UNLIKE / losses
    p_values: list[float] = []

    def is_unlike() -> bool:
        # of both parts: a pair was not chosen by how sure its answers are
        p_values.append(unlike_label_errors(observations, pair, rng))
        return p_values[0] <= limit

    suspects, p_value = retest(
        is_unlike=is_unlike, p_value=partial(_elsewhere, measured, pair, options, rng)
    )
    # nothing looks mislabelled, or this proof failed, or no draw comes as far
    if not p_values or not Answered.LEAST_UNLIKE < p_values[0] <= limit:
        return Retest(suspects, p_value)
    # of a copy: what is only told changes nothing of what is drawn
    again = partial(_elsewhere, measured, pair, options, deepcopy(rng))
    _, without_proof = retest(is_unlike=lambda: False, p_value=again)
    return Retest(suspects, p_value, losses * p_values[0], without_proof)


def _elsewhere(
    observations: Observations,
    pair: Pairs,
    options: TRoVeOptions,
    rng: Generator,
    kept: SampleMask,
) -> float:
    """The p-value of a pair in the sequences kept; 1 where it costs too little there."""
    # of this cluster and label alone: hundreds of candidates may be tried again
    alone = replace(observations, member=observations.member[:, pair.cluster])
    rest = alone.take(kept & (observations.label == pair.label))
    same = compare(rest)
    # without the suspects the pair may be gone, or cost too little to be a finding
    if not (same.error_contribution > options.min_error_contribution).any():
        return 1.0
    [p_value] = p_values(rest, same, rng, np.array([True]))
    return float(p_value)


# ----------------------------------------------------------------------------------- the null


def ranking(table: ScoredPairs) -> Int[np.ndarray, " pair"]:
    """Findings first, then what was explained away, each by worth, those without a score last.

    Ties go by label, then cluster.
    """
    # A pair without a wrong frame has no static bias: it is not a score of 0, it is none.
    strength = np.where(table.scored, table.worth, -np.inf)
    return np.lexsort((-strength, table.verdict == Verdict.NOTHING, ~table.finding))


def losses_that_pass(
    observations: Observations,
    options: TRoVeOptions,
    rng: Generator,
) -> int:
    """How many pairs pass the test of all groups, whatever they cost and whatever explains them."""
    pairs = compare(observations)
    tried = could_pass(observations, pairs, options.fdr)
    p_value = p_values(observations, pairs, rng, tried)
    # equal weights: this test of all groups has no first part
    weight = np.ones(len(pairs))
    correction = Correction.of(
        observations,
        pairs,
        p_value,
        weight,
        rng,
        draws=SHUFFLED_DRAWS,
    )
    return int((correction.q_values(p_value) <= options.fdr).sum())


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
