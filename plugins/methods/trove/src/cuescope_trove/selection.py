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
    more often its mistake is made, and of what is reported how far it leads all labels to it
    (`weighed`); in the paper's way the TRoVe score.
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
        some = self.take(kept[np.lexsort((cluster, self.pairs.label[kept]))])
        member = self.observations.member[:, chosen]
        return replace(
            some,
            observations=replace(self.observations, member=member),
            pairs=replace(some.pairs, cluster=numbers[some.pairs.cluster]),
        )

    def take(self, kept: Int[np.ndarray, " kept"]) -> "ScoredPairs":
        """Some of the pairs, in this order."""
        return replace(
            self,
            pairs=self.pairs.take(kept),
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
    first = None
    if part is not None:
        first = _FirstLook.of(observations.take(part), pairs, rng)
        weight *= weights(first.p_value)
    p_value = p_values(measured, pairs, rng, weight > 0)
    if options.pool_labels:
        weight *= pooled_weights(measured, pairs, p_value)
    correction = Correction.of(measured, pairs, p_value, weight, rng)
    correction = correction.with_answers(foretold, pairs, measured.classes)
    p_value = correction.filled(p_value)
    q_value = correction.q_values(p_value)
    bias = static_bias(measured, pairs, across_labels=options.static_bias == "cluster")
    passed = q_value <= options.fdr
    if first is None:
        critical = correction.critical(q_value, options.fdr)
        gap = _Gap.of_chosen(measured, pairs, p_value, passed, critical, options)
    else:
        # nothing was chosen by the sequences that are measured
        gap = _Gap.of(measured, pairs, np.full(len(pairs), options.confidence))
    found = passes(measured, pairs, bias, options) & passed & (gap.low > 0)
    leader = _leaders(measured, pairs, found, p_value, first=is_learned)
    leaders = np.flatnonzero(found & (leader == np.arange(len(pairs))))
    suspicion = _Suspicion(observations, measured, noise, options, rng)
    left = suspicion.left_of(pairs, p_value, leaders.tolist())
    retest = left.p_value
    # as much weaker as what stands for it: what no longer passes helps no other to pass
    own = np.maximum(p_value, SMALLEST)
    retest[found] = own[found] * (retest / own)[leader[found]]
    fails = correction.q_values(retest) > options.fdr
    verdict = np.where(found, Verdict.FINDING, Verdict.NOTHING)
    verdict[found & fails[leader]] = Verdict.LABEL_NOISE
    needs_proof = ~(correction.q_values(left.without_proof) <= options.fdr)
    mistake = most_common_mistake(measured, pairs)
    trove_score = pairs.error_contribution + bias.value
    return ScoredPairs(
        observations=measured,
        pairs=pairs,
        bias=bias,
        p_value=p_value,
        q_value=q_value,
        confidence=gap.confidence,
        gap_low=gap.low,
        gap_high=gap.high,
        verdict=verdict,
        retest=retest,
        suspects=left.suspects[leader],
        unlike=np.where(needs_proof, left.unlike, 0.0)[leader],
        correction=correction,
        mistake=mistake,
        worth=trove_score if options.paper else mistake.surplus,
        first_gap=None if first is None else first.gap,
    )


@dataclass(frozen=True, eq=False)
class _FirstLook:
    """What the part in which cues are looked for says of each pair of the other part.

    `p_value` is 1 where it cannot compare a pair: it is not tried again. `gap` is the error
    contribution, NaN there.
    """

    p_value: PerPair
    gap: PerPair

    @classmethod
    def of(cls, first: Observations, pairs: Pairs, rng: Generator) -> "_FirstLook":
        """Of the first part's sequences, with as many labels and clusters as the other."""
        own = compare(first)
        # all are tried: this part only gives weights, and finds nothing by itself
        everything = np.ones(len(own), dtype=bool)
        p_value = np.ones((first.classes, first.clusters))
        p_value[own.label, own.cluster] = p_values(first, own, rng, everything)
        gap = np.full(p_value.shape, np.nan)
        gap[own.label, own.cluster] = own.error_contribution
        at = pairs.label, pairs.cluster
        return cls(p_value[at], gap[at])


@dataclass(frozen=True, eq=False)
class _Gap:
    """The interval of the error contribution of each pair, and with which confidence it holds."""

    confidence: PerPair
    low: PerPair
    high: PerPair

    @classmethod
    def of(
        cls, observations: Observations, pairs: Pairs, confidence: PerPair
    ) -> "_Gap":
        """Of pairs that these sequences did not choose."""
        return cls(confidence, *gap_limits(observations, pairs, confidence))

    @classmethod
    def of_chosen(
        cls,
        observations: Observations,
        pairs: Pairs,
        p_value: PerPair,
        passed: PairMask,
        critical: PerPair,
        options: TRoVeOptions,
    ) -> "_Gap":
        """Of pairs that the same sequences chose; `critical` is the p-value that passes.

        The interval of what passed pays for all that was tried, as its p-value did.
        """
        confidence = np.full(len(pairs), options.confidence)
        error = (
            (1 - options.confidence) / options.fdr * np.minimum(critical, options.fdr)
        )
        confidence[passed] = 1 - error[passed]
        gap = cls.of(observations, pairs, confidence)
        excluded = excluded_by_test(
            pairs.error_contribution[passed],
            p_value[passed],
            confidence[passed],
        )
        gap.low[passed] = np.maximum(gap.low[passed], excluded)
        return gap


def _leaders(
    observations: Observations,
    pairs: Pairs,
    found: PairMask,
    p_value: PerPair,
    *,
    first: PairMask,
) -> Int[np.ndarray, " pair"]:
    """Which pair stands for each: one of its label that shares half of the frames.

    The most certain one, but for those that come `first`. Only that is told, and so only that is
    tried again. What is not found stands for itself.
    """
    leader = np.arange(len(pairs))
    for label in np.unique(pairs.label[found]):
        of_label = np.flatnonzero(found & (pairs.label == label))
        same = alike(observations.member[:, pairs.cluster[of_label]]).toarray()
        leads = np.zeros(len(of_label), dtype=bool)
        for column in np.lexsort((p_value[of_label], ~first[of_label])):
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


class _Left(NamedTuple):
    """A `Retest` of each pair; one that is not tried again keeps its p-value."""

    suspects: Int[np.ndarray, " pair"]
    p_value: PerPair
    unlike: PerPair
    without_proof: PerPair


@dataclass(frozen=True, eq=False)
class _Suspicion:
    """Whether a loss is the work of wrong labels: it is tried again without the suspects.

    `measured` are the sequences that tell the loss, and that `noise` is about, of all
    `observations`.
    """

    observations: Observations
    measured: Observations
    noise: LabelNoise
    options: TRoVeOptions
    rng: Generator

    def left_of(self, pairs: Pairs, p_value: PerPair, chosen: Sequence[int]) -> _Left:
        """What is left of each pair, of which the chosen ones are tried again."""
        left = _Left(
            np.zeros(len(pairs), dtype=np.int64),
            p_value.copy(),
            np.zeros(len(pairs)),
            p_value.copy(),
        )
        for number in chosen:
            again = self._retest(pairs.take([number]), len(chosen))
            left.suspects[number] = again.suspects
            left.unlike[number] = again.unlike
            # without them the loss may be clearer by luck
            left.p_value[number] = max(p_value[number], again.p_value)
            left.without_proof[number] = max(p_value[number], again.without_proof)
        return left

    def _retest(self, pair: Pairs, losses: int) -> Retest:
        """A loss again, one of so many."""
        label = pair.label.item()
        shows = self.measured.shows(pair.cluster.item())
        share = self.options.label_noise
        # labels of test sets are wrong in up to 10%: a larger loss is not their work
        suspected = int(self.noise.suspects(label, shows, 1.0).sum())
        if suspected > share * (pair.n_with + pair.n_without).item():
            return Retest(suspected, 0.0)
        would_show = self.measured.would_show(pair.cluster.item(), label)
        retest = partial(
            self.noise.retest, label, shows, most=share, would_show=would_show
        )
        limit = Answered.UNLIKE / losses
        p_values: list[float] = []

        def is_unlike() -> bool:
            # of both parts: a pair was not chosen by how sure its answers are
            p_values.append(unlike_label_errors(self.observations, pair, self.rng))
            return p_values[0] <= limit

        elsewhere = partial(self._elsewhere, pair, self.rng)
        suspects, p_value = retest(is_unlike=is_unlike, p_value=elsewhere)
        # nothing looks mislabelled, or this proof failed, or no draw comes as far
        if not p_values or not Answered.LEAST_UNLIKE < p_values[0] <= limit:
            return Retest(suspects, p_value)
        # of a copy: what is only told changes nothing of what is drawn
        again = partial(self._elsewhere, pair, deepcopy(self.rng))
        _, without_proof = retest(is_unlike=lambda: False, p_value=again)
        return Retest(suspects, p_value, losses * p_values[0], without_proof)

    def _elsewhere(self, pair: Pairs, rng: Generator, kept: SampleMask) -> float:
        """The p-value of a pair in the sequences kept; 1 where it costs too little there."""
        # of this cluster and label alone: hundreds of candidates may be tried again
        member = self.measured.member[:, pair.cluster]
        alone = replace(self.measured, member=member)
        rest = alone.take(kept & (self.measured.label == pair.label))
        same = compare(rest)
        # without the suspects the pair may be gone, or cost too little to be a finding
        if not (same.error_contribution > self.options.min_error_contribution).any():
            return 1.0
        [p_value] = p_values(rest, same, rng, np.array([True]))
        return float(p_value)


# ----------------------------------------------------------------------------------- the null


def ranking(table: ScoredPairs) -> Int[np.ndarray, " pair"]:
    """Findings first, then what was explained away, each by worth, those without a score last.

    Ties go by how much more often the mistake is made, then by label and cluster.
    """
    # A pair without a wrong frame has no static bias: it is not a score of 0, it is none.
    strength = np.where(table.scored, table.worth, -np.inf)
    is_nothing = table.verdict == Verdict.NOTHING
    return np.lexsort((-table.mistake.surplus, -strength, is_nothing, ~table.finding))


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
