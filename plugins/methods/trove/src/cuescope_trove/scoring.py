"""TRoVe's scores as functions of arrays (Varma et al., 2025, section 3.2). No loop over clusters.

A *pair* is a (label, cluster) whose label has sequences both with and without the cluster: only
those can be compared. Arrays over pairs hold what is defined; the others do not appear.
"""

from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Bool, Float, Int

from cuescope_sdk.maths import accuracy_gap_interval, accuracy_gap_p_value, benjamini_hochberg


@dataclass(frozen=True, eq=False)
class Observed:
    """What the model said, in numbers.

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


@dataclass(frozen=True)
class Rule:
    """When a pair is a finding. `min_static_bias` must be exceeded, chance by default."""

    min_error_contribution: float
    min_static_bias: float
    min_frequency: float
    max_frequency: float
    fdr: float


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


@dataclass(frozen=True, eq=False)
class StaticBias:
    """Eq. 2 per pair: `value` is meaningful only where `n_frames` > 0."""

    value: np.ndarray
    n_frames: np.ndarray


@dataclass(frozen=True, eq=False)
class Mistake:
    """Per pair: the commonest wrong answer with the cluster on screen.

    `share` of the label's errors with the cluster; `confidence`: mean calibrated probability of
    that answer over the cluster's frames of the sequences so mistaken. `prediction` -1: no error.
    """

    prediction: np.ndarray
    share: np.ndarray
    confidence: np.ndarray


@dataclass(frozen=True, eq=False)
class Table:
    """Everything that a finding needs, per pair. `score` is meaningful where `scored`."""

    pairs: Pairs
    bias: StaticBias
    p_value: np.ndarray
    q_value: np.ndarray
    finding: np.ndarray

    @property
    def scored(self) -> np.ndarray:
        """Whether any frame speaks for the static bias."""
        return np.asarray(self.bias.n_frames > 0)

    @property
    def score(self) -> np.ndarray:
        """The TRoVe score: error contribution + static bias, in [-1, 2]."""
        return np.asarray(self.pairs.error_contribution + self.bias.value)


def incidences(
    frame_sample: Int[np.ndarray, " frame"], frame_cluster: Int[np.ndarray, " frame"], clusters: int
) -> tuple[Int[np.ndarray, " incidence"], Int[np.ndarray, " incidence"]]:
    """Each (sequence, cluster) that meet in at least one frame, once."""
    met = np.unique(frame_sample.astype(np.int64) * clusters + frame_cluster)
    return met // clusters, met % clusters


def compare(observed: Observed, clusters: int) -> Pairs:
    """All pairs that can be compared, by label, then cluster."""
    classes, label = observed.classes, observed.label
    sample, cluster = incidences(observed.frame_sample, observed.frame_cluster, clusters)
    cell = label[sample] * clusters + cluster
    shape = (classes, clusters)
    n_with = np.bincount(cell, minlength=classes * clusters).reshape(shape)
    right = np.bincount(cell[observed.correct[sample]], minlength=classes * clusters).reshape(shape)
    n = np.bincount(label, minlength=classes)[:, None]
    n_right = np.bincount(label[observed.correct], minlength=classes)[:, None]
    at = np.nonzero((n_with > 0) & (n_with < n))
    return Pairs(
        label=at[0], cluster=at[1],
        correct_without=(n_right - right)[at], n_without=(n - n_with)[at],
        correct_with=right[at], n_with=n_with[at],
    )  # fmt: skip


def static_bias(
    observed: Observed, pairs: Pairs, clusters: int, *, across_labels: bool = False
) -> StaticBias:
    """Mean still-clip probability of the wrong answers, over the cluster's misclassified frames.

    Eq. 2 averages over all frames of C_wrong; the published code keeps those whose sequence has
    the pair's label. The latter is the default; `across_labels` gives the former.
    """
    wrong = np.flatnonzero(~observed.correct[observed.frame_sample])
    row = observed.label[observed.frame_sample[wrong]]
    cell = (0 if across_labels else row) * clusters + observed.frame_cluster[wrong]
    at = (0 if across_labels else pairs.label) * clusters + pairs.cluster
    size = (1 if across_labels else observed.classes) * clusters
    n_frames = np.bincount(cell, minlength=size)[at]
    total = np.bincount(cell, weights=observed.frame_bias[wrong], minlength=size)[at]
    return StaticBias(total / np.maximum(n_frames, 1), n_frames)


def commonest_mistake(observed: Observed, pairs: Pairs, clusters: int) -> Mistake:
    """What the label's sequences with the cluster are mistaken for; ties go to the lower class."""
    classes = observed.classes
    sample, cluster = incidences(observed.frame_sample, observed.frame_cluster, clusters)
    wrong = ~observed.correct[sample]
    sample, cluster = sample[wrong], cluster[wrong]
    at = pairs.label * clusters + pairs.cluster
    cell = observed.label[sample] * clusters + cluster
    code, count = np.unique(cell * classes + observed.prediction[sample], return_counts=True)
    winner = code[np.lexsort((code, -count, code // classes))]
    first = np.unique(winner // classes, return_index=True)[1]
    mistaken = np.full(classes * clusters, -1)
    mistaken[winner[first] // classes] = winner[first] % classes
    share = np.bincount(cell, weights=mistaken[cell] == observed.prediction[sample],
                        minlength=classes * clusters)[at]  # fmt: skip
    errors = np.bincount(cell, minlength=classes * clusters)[at]
    confidence = _confidence_in(observed, mistaken, clusters)[at]
    return Mistake(mistaken[at], share / np.maximum(errors, 1), confidence)


def _confidence_in(
    observed: Observed, mistaken: Int[np.ndarray, " cell"], clusters: int
) -> Float[np.ndarray, " cell"]:
    """Mean static probability over the frames whose sequence makes the cell's commonest mistake."""
    sample = observed.frame_sample
    cell = observed.label[sample] * clusters + observed.frame_cluster
    made = ~observed.correct[sample] & (observed.prediction[sample] == mistaken[cell])
    n = np.bincount(cell[made], minlength=len(mistaken))
    total = np.bincount(cell[made], weights=observed.frame_bias[made], minlength=len(mistaken))
    return np.asarray(total / np.maximum(n, 1))


def is_finding(
    pairs: Pairs, bias: StaticBias, q_value: Float[np.ndarray, " pair"], rule: Rule
) -> Bool[np.ndarray, " pair"]:
    """The paper's exclusions (appendix C) and the false discovery rate, all at once."""
    return np.asarray(
        (pairs.error_contribution > rule.min_error_contribution)
        & (bias.n_frames > 0)
        & (bias.value > rule.min_static_bias)
        & (pairs.frequency >= rule.min_frequency)
        & (pairs.frequency <= rule.max_frequency)
        & (q_value <= rule.fdr)
    )


def score(observed: Observed, clusters: int, rule: Rule, *, across_labels: bool = False) -> Table:
    """All pairs with their scores, p- and q-values (over every pair tried) and findings."""
    pairs = compare(observed, clusters)
    bias = static_bias(observed, pairs, clusters, across_labels=across_labels)
    p_value = pairs.p_value()
    q_value = np.array(benjamini_hochberg(p_value.tolist()), dtype=np.float64)
    return Table(pairs, bias, p_value, q_value, is_finding(pairs, bias, q_value, rule))


def ranked(table: Table) -> Int[np.ndarray, " pair"]:
    """Findings first, each group by score, pairs without a score last; ties by label, cluster."""
    strength = np.where(table.scored, table.score, -np.inf)
    return np.lexsort((-strength, ~table.finding))


def shuffled_within_labels(observed: Observed, rng: np.random.Generator) -> Observed:
    """The null: the model's answers are dealt anew among the sequences of each label."""
    by_label = np.argsort(observed.label, kind="stable")
    dealt = np.lexsort((rng.random(len(observed.label)), observed.label))
    source = np.empty(len(dealt), dtype=np.int64)
    source[by_label] = dealt
    return replace(
        observed, prediction=observed.prediction[source], correct=observed.correct[source]
    )
