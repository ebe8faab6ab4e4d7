"""TRoVe's scores as functions of arrays (Varma et al., 2025, section 3.2). No loop over clusters.

A *pair* is a (label, cluster) whose label has sequences both with and without the cluster: only
those can be compared. Arrays over pairs hold what is defined; the others do not appear.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Bool, Float, Int

from cuescope_sdk.maths import (
    accuracy_gap_interval,
    accuracy_gap_p_value,
    benjamini_hochberg,
    percentiles,
    snap_to_value,
)
from cuescope_trove.options import TRoVeOptions

RESAMPLES = 1000
RANDOM_NUMBERS_AT_ONCE = 2_000_000


@dataclass(frozen=True, eq=False)
class Observations:
    """What the model answered, in numbers.

    label, prediction, correct: one a sequence; frame_sample, frame_cluster: the sequence and the
    cluster that a frame belongs to; frame_static (frame, class): calibrated probabilities of its
    still clip.
    """

    label: np.ndarray
    prediction: np.ndarray
    correct: np.ndarray
    frame_sample: np.ndarray
    frame_cluster: np.ndarray
    frame_static: np.ndarray

    @property
    def classes(self) -> int:
        """Size of the label set, |Y|."""
        return int(self.frame_static.shape[1])

    @property
    def frame_bias(self) -> np.ndarray:
        """Per frame: the still clip's probability of what the whole sequence was taken for."""
        frames = np.arange(len(self.frame_sample))
        return np.asarray(self.frame_static[frames, self.prediction[self.frame_sample]])


def among_top(
    logits: Float[np.ndarray, "sample class"], label: Int[np.ndarray, " sample"], top_k: int
) -> Bool[np.ndarray, " sample"]:
    """Whether the label is among the `top_k` highest logits; ties go to the lower class."""
    best = np.argsort(-logits, axis=1, kind="stable")[:, :top_k]  # stable: ties as argmax has them
    return np.asarray((best == label[:, None]).any(axis=1))


@dataclass(frozen=True, eq=False)
class Pairs:
    """Counts of sequences and of correct answers, with and without the cluster, per pair."""

    label: np.ndarray
    cluster: np.ndarray
    correct_without: np.ndarray
    n_without: np.ndarray
    correct_with: np.ndarray
    n_with: np.ndarray

    def __len__(self) -> int:
        return len(self.label)

    @property
    def accuracy_with(self) -> np.ndarray:
        """acc_C of eq. 1."""
        return np.asarray(self.correct_with / self.n_with)

    @property
    def accuracy_without(self) -> np.ndarray:
        """acc_-C of eq. 1."""
        return np.asarray(self.correct_without / self.n_without)

    @property
    def error_contribution(self) -> np.ndarray:
        """Accuracy lost on the label when the cluster is on screen, in [-1, 1] (eq. 1)."""
        return np.asarray(self.accuracy_without - self.accuracy_with)

    @property
    def frequency(self) -> np.ndarray:
        """Share of the label's sequences with the cluster."""
        return np.asarray(self.n_with / (self.n_with + self.n_without))

    @property
    def _counts(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        return self.correct_without, self.n_without, self.correct_with, self.n_with

    def interval(self, confidence: float) -> tuple[np.ndarray, np.ndarray]:
        """Bootstrap interval of the error contribution."""
        return accuracy_gap_interval(*self._counts, confidence=confidence)

    def p_value(self) -> np.ndarray:
        """Exact permutation p-value: would correct answers, dealt at random, differ as much?"""
        return accuracy_gap_p_value(*self._counts)


def incidences(
    frame_sample: Int[np.ndarray, " frame"], frame_cluster: Int[np.ndarray, " frame"], clusters: int
) -> tuple[Int[np.ndarray, " incidence"], Int[np.ndarray, " incidence"]]:
    """Each (sequence, cluster) that meet in at least one frame, once."""
    # Eq. 1 counts sequences: one with five frames in the cluster must not count five times.
    code = np.unique(frame_sample.astype(np.int64) * clusters + frame_cluster)
    return code // clusters, code % clusters


def compare(observations: Observations, clusters: int) -> Pairs:
    """All pairs that can be compared, by label, then cluster."""
    classes, label = observations.classes, observations.label
    sample, cluster = incidences(observations.frame_sample, observations.frame_cluster, clusters)
    cell = label[sample] * clusters + cluster
    shape, cells = (classes, clusters), classes * clusters
    n_with = np.bincount(cell, minlength=cells).reshape(shape)
    correct_with = np.bincount(cell[observations.correct[sample]], minlength=cells).reshape(shape)
    n = np.bincount(label, minlength=classes)[:, None]
    n_correct = np.bincount(label[observations.correct], minlength=classes)[:, None]
    # acc_-C is of the same label's other sequences: a cluster must not be blamed for a hard label.
    n_without, correct_without = n - n_with, n_correct - correct_with
    pair = np.nonzero((n_with > 0) & (n_without > 0))
    counts = (correct_without, n_without, correct_with, n_with)
    return Pairs(*pair, *(count[pair] for count in counts))


@dataclass(frozen=True, eq=False)
class StaticBias:
    """Eq. 2 per pair: `value` is meaningful only where `n_frames` > 0."""

    value: np.ndarray
    n_frames: np.ndarray


def static_bias(
    observations: Observations, pairs: Pairs, clusters: int, *, across_labels: bool = False
) -> StaticBias:
    """Mean still-clip probability of the wrong answers, over the cluster's misclassified frames.

    Eq. 2 averages over all frames of C_wrong; the published code keeps those whose sequence has
    the pair's label. The latter is the default; `across_labels` gives the former.
    """
    wrong = np.flatnonzero(~observations.correct[observations.frame_sample])
    label = observations.label[observations.frame_sample[wrong]]
    # Across labels all frames of a cluster share one cell, whatever the label of their sequence.
    cell = (0 if across_labels else label) * clusters + observations.frame_cluster[wrong]
    pair = (0 if across_labels else pairs.label) * clusters + pairs.cluster
    cells = (1 if across_labels else observations.classes) * clusters
    n_frames = np.bincount(cell, minlength=cells)[pair]
    total = np.bincount(cell, weights=observations.frame_bias[wrong], minlength=cells)[pair]
    return StaticBias(total / np.maximum(n_frames, 1), n_frames)


@dataclass(frozen=True, eq=False)
class Mistake:
    """Per pair: the most common wrong answer with the cluster on screen.

    `share` of the label's errors with the cluster; `confidence`: mean calibrated probability of
    that answer over the cluster's frames of the sequences so mistaken. `prediction` -1: no error.
    """

    prediction: np.ndarray
    share: np.ndarray
    confidence: np.ndarray


def most_common_mistake(observations: Observations, pairs: Pairs, clusters: int) -> Mistake:
    """What the label's sequences with the cluster are mistaken for; ties go to the lower class."""
    classes, cells = observations.classes, observations.classes * clusters
    sample, cluster = incidences(observations.frame_sample, observations.frame_cluster, clusters)
    wrong = ~observations.correct[sample]
    sample, cluster = sample[wrong], cluster[wrong]
    pair = pairs.label * clusters + pairs.cluster
    cell = observations.label[sample] * clusters + cluster
    code, count = np.unique(cell * classes + observations.prediction[sample], return_counts=True)
    # Sorted by cell, then by how often: the first code of each cell is its most common mistake.
    ranked = code[np.lexsort((code, -count, code // classes))]
    first = np.unique(ranked // classes, return_index=True)[1]
    mistake = np.full(cells, -1)
    mistake[ranked[first] // classes] = ranked[first] % classes
    agrees = mistake[cell] == observations.prediction[sample]
    share = np.bincount(cell, weights=agrees, minlength=cells)[pair]
    errors = np.bincount(cell, minlength=cells)[pair]
    confidence = _confidence_in(observations, mistake, clusters)[pair]
    return Mistake(mistake[pair], share / np.maximum(errors, 1), confidence)


def _confidence_in(
    observations: Observations, mistake: Int[np.ndarray, " cell"], clusters: int
) -> Float[np.ndarray, " cell"]:
    """Mean static probability over the frames whose sequence makes the cell's common mistake."""
    sample = observations.frame_sample
    cell = observations.label[sample] * clusters + observations.frame_cluster
    made = ~observations.correct[sample] & (observations.prediction[sample] == mistake[cell])
    n = np.bincount(cell[made], minlength=len(mistake))
    total = np.bincount(cell[made], weights=observations.frame_bias[made], minlength=len(mistake))
    return np.asarray(total / np.maximum(n, 1))


# --------------------------------------------------------------------------- scores and findings


@dataclass(frozen=True, eq=False)
class ScoredPairs:
    """Everything that a finding needs, per pair. `score` is meaningful where `scored`."""

    pairs: Pairs
    bias: StaticBias
    p_value: np.ndarray
    q_value: np.ndarray
    finding: np.ndarray

    @property
    def scored(self) -> np.ndarray:
        """Whether any frame tells of the static bias."""
        return np.asarray(self.bias.n_frames > 0)

    @property
    def score(self) -> np.ndarray:
        """The TRoVe score: error contribution + static bias, in [-1, 2]."""
        return np.asarray(self.pairs.error_contribution + self.bias.value)


def score(observations: Observations, clusters: int, options: TRoVeOptions) -> ScoredPairs:
    """All pairs with their scores, p- and q-values (over every pair tried) and findings.

    Findings pass the paper's exclusions (appendix C) and the false discovery rate.
    """
    pairs = compare(observations, clusters)
    across_labels = options.static_bias == "cluster"
    bias = static_bias(observations, pairs, clusters, across_labels=across_labels)
    p_value = pairs.p_value()
    # Every pair tried counts, also those that other rules exclude: they were looked at too.
    q_value = np.array(benjamini_hochberg(p_value.tolist()), dtype=np.float64)
    # Chance is excluded too: a still clip gets any wrong answer right once in |Y| (appendix C).
    exceeds_chance = bias.value > 1 / observations.classes
    finding = (
        (pairs.error_contribution > options.min_error_contribution)
        & (bias.n_frames > 0)
        & (exceeds_chance | (not options.above_chance))
        & (pairs.frequency >= options.min_frequency)
        & (pairs.frequency <= options.max_frequency)
        & (q_value <= options.fdr)
    )
    return ScoredPairs(pairs, bias, p_value, q_value, finding)


def ranking(table: ScoredPairs) -> Int[np.ndarray, " pair"]:
    """Findings first, each group by score, pairs without a score last; ties by label, cluster."""
    # A pair without a wrong frame has no static bias: it is not a score of 0, it is none.
    strength = np.where(table.scored, table.score, -np.inf)
    return np.lexsort((-strength, ~table.finding))


def shuffle_within_labels(observations: Observations, rng: np.random.Generator) -> Observations:
    """The null: the model's answers are dealt anew among the sequences of each label."""
    # A label keeps its accuracy and its mistakes, so only the tie to the clusters is cut. The
    # still clips stay: the null is about which sequences go wrong.
    by_label = np.argsort(observations.label, kind="stable")
    shuffled = np.lexsort((rng.random(len(observations.label)), observations.label))
    source = np.empty(len(shuffled), dtype=np.int64)
    source[by_label] = shuffled
    return replace(
        observations,
        prediction=observations.prediction[source],
        correct=observations.correct[source],
    )


def score_interval(
    observations: Observations,
    pairs: Pairs,
    clusters: int,
    rng: np.random.Generator,
    confidence: float,
    *,
    across_labels: bool = False,
) -> tuple[Float[np.ndarray, " pair"], Float[np.ndarray, " pair"]]:
    """Percentile bootstrap interval of error contribution + static bias, per pair.

    Whole sequences are drawn anew, with and without the cluster: frames of a sequence are drawn
    together, as they are not independent. A resample without errors has no static bias to add.
    With `across_labels` the static bias is drawn from all sequences with the cluster, apart from
    those of the label.
    """
    if len(pairs) == 0:
        return np.empty(0), np.empty(0)
    sample, cluster = incidences(observations.frame_sample, observations.frame_cluster, clusters)
    cell = observations.label[sample] * clusters + cluster
    pair = pairs.label * clusters + pairs.cluster
    values = _values_per_incidence(observations, sample, cluster, clusters)
    resampled_scores = []
    for sums in _resampled_sums(values, cell, pair, rng):
        wrong_sums = sums
        if across_labels:
            wrong_sums = next(_resampled_sums(values, cluster, pairs.cluster, rng, len(sums)))
        # Resampling n answers of which k are right draws Binomial(n, k / n) right ones, so the
        # many sequences without the cluster need not be drawn one by one.
        shape = len(sums), len(pairs)
        correct_without = rng.binomial(pairs.n_without, pairs.accuracy_without, shape)
        gap = correct_without / pairs.n_without - sums[:, 0] / pairs.n_with
        resampled_scores.append(gap + wrong_sums[:, 1] / np.maximum(wrong_sums[:, 2], 1))
    # Percentiles of few discrete values miss them by rounding: `snapped` puts them back.
    low, high = percentiles(np.concatenate(resampled_scores), confidence)
    bias = static_bias(observations, pairs, clusters, across_labels=across_labels)
    value = pairs.error_contribution + bias.value
    return snap_to_value(low, value), snap_to_value(high, value)


def _values_per_incidence(
    observations: Observations,
    sample: Int[np.ndarray, " incidence"],
    cluster: Int[np.ndarray, " incidence"],
    clusters: int,
) -> Float[np.ndarray, "3 incidence"]:
    """Right or not; sum of static probabilities if wrong; number of frames if wrong."""
    code = sample * clusters + cluster  # sorted, as `incidences` gives them
    frame_code = observations.frame_sample * clusters + observations.frame_cluster
    incidence = np.searchsorted(code, frame_code)
    correct = observations.correct[sample]
    total = np.bincount(incidence, weights=observations.frame_bias, minlength=len(code))
    frames = np.bincount(incidence, minlength=len(code))
    return np.stack([correct, total * ~correct, frames * ~correct])


def _resampled_sums(
    values: Float[np.ndarray, "value incidence"],
    group: Int[np.ndarray, " incidence"],
    wanted: Int[np.ndarray, " pair"],
    rng: np.random.Generator,
    resamples: int | None = None,
) -> Iterator[Float[np.ndarray, "resample value pair"]]:
    """Sums over as many incidences of each wanted group as it has, drawn with replacement."""
    order = np.argsort(group, kind="stable")
    begin = np.searchsorted(group[order], wanted)
    size = np.searchsorted(group[order], wanted, side="right") - begin
    slot_begin, slot_size = np.repeat(begin, size), np.repeat(size, size)
    edges = np.concatenate([[0], np.cumsum(size)[:-1]])
    ordered = values[:, order]
    left = resamples or RESAMPLES
    # A slot is one draw of one pair: all pairs are drawn together, in portions that fit in memory.
    step = resamples or max(1, RANDOM_NUMBERS_AT_ONCE // len(slot_begin))
    while left > 0:
        count = min(step, left)
        offset = (rng.random((count, len(slot_begin))) * slot_size).astype(np.int64)
        index = slot_begin + offset
        yield np.stack([np.add.reduceat(row[index], edges, axis=1) for row in ordered], axis=1)
        left -= count
