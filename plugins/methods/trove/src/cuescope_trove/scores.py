"""TRoVe's scores as functions of arrays (Varma et al., 2025, section 3.2). No loop over clusters.

A *pair* is a (label, cluster) whose label has sequences both with and without the cluster: only
those can be compared. Arrays over pairs hold what is defined; the others do not appear.
"""

from collections.abc import Iterator
from dataclasses import dataclass, fields, replace

import numpy as np
from jaxtyping import Bool, Float, Int
from scipy import sparse

from cuescope_sdk.statistics import Groups, gap_intervals, mean_interval

UNKNOWN_GROUPS = Groups.single(0)


@dataclass(frozen=True, eq=False)
class Observations:
    """What the model answered, in numbers.

    label, prediction, correct: one a sequence; frame_sample, frame_cluster: the sequence and the
    cluster that a frame belongs to; frame_static (frame, class): calibrated probabilities of its
    still clip. `groups` says which sequences were drawn together (each by itself unless given).
    `probability` (sample, class) are those of the sequences, where label errors are looked for;
    `control` is the level of what else may explain errors (an object's size), -1 where unknown.
    """

    label: np.ndarray
    prediction: np.ndarray
    correct: np.ndarray
    frame_sample: np.ndarray
    frame_cluster: np.ndarray
    frame_static: np.ndarray
    groups: Groups = UNKNOWN_GROUPS
    probability: np.ndarray | None = None
    control: np.ndarray | None = None

    def __post_init__(self) -> None:
        if self.groups is UNKNOWN_GROUPS:
            object.__setattr__(self, "groups", Groups.single(len(self.label)))

    @property
    def classes(self) -> int:
        """Size of the label set, |Y|."""
        return int(self.frame_static.shape[1])

    @property
    def frame_bias(self) -> np.ndarray:
        """Per frame: the still clip's probability of what the whole sequence was taken for."""
        frames = np.arange(len(self.frame_sample))
        return np.asarray(self.frame_static[frames, self.prediction[self.frame_sample]])

    def take(self, chosen: Bool[np.ndarray, " sample"]) -> "Observations":
        """Those of some of the sequences, with their frames."""
        number = np.cumsum(chosen) - 1
        frames = chosen[self.frame_sample]
        return replace(
            self,
            label=self.label[chosen],
            prediction=self.prediction[chosen],
            correct=self.correct[chosen],
            frame_sample=number[self.frame_sample[frames]],
            frame_cluster=self.frame_cluster[frames],
            frame_static=self.frame_static[frames],
            groups=self.groups.take(chosen),
            probability=None if self.probability is None else self.probability[chosen],
            control=None if self.control is None else self.control[chosen],
        )


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

    def take(self, chosen: np.ndarray) -> "Pairs":
        """Some of the pairs."""
        columns = (getattr(self, column.name)[chosen] for column in fields(self))
        return Pairs(*columns)


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


# -------------------------------------------------------------------- label by label, for groups


def label_parts(
    observations: Observations, pairs: Pairs, clusters: int
) -> Iterator[
    tuple[
        Int[np.ndarray, " some_pair"],
        Int[np.ndarray, " some_sample"],
        Bool[np.ndarray, "some_sample some_pair"],
    ]
]:
    """For each label: its pairs, its sequences, and which of these show each pair's cluster."""
    sample, cluster = incidences(observations.frame_sample, observations.frame_cluster, clusters)
    meets = sparse.csr_array(
        (np.ones(len(sample), dtype=bool), (sample, cluster)),
        shape=(len(observations.label), clusters),
    )
    for label in np.unique(pairs.label):
        chosen = np.flatnonzero(pairs.label == label)
        samples = np.flatnonzero(observations.label == label)
        present = meets[samples].toarray()[:, pairs.cluster[chosen]]
        yield chosen, samples, np.asarray(present, dtype=bool)


def gap_limits(
    observations: Observations, pairs: Pairs, clusters: int, confidence: float
) -> tuple[Float[np.ndarray, " pair"], Float[np.ndarray, " pair"]]:
    """Interval of the error contribution of each pair; groups of sequences count as one draw."""
    low, high = np.full(len(pairs), -1.0), np.full(len(pairs), 1.0)
    for chosen, samples, present in label_parts(observations, pairs, clusters):
        low[chosen], high[chosen] = gap_intervals(
            observations.correct[samples].astype(float),
            present,
            observations.groups.take(samples),
            confidence=confidence,
        )
    # one group says nothing of how much groups vary
    return np.nan_to_num(low, nan=-1.0), np.nan_to_num(high, nan=1.0)


def bias_limits(
    observations: Observations,
    pairs: Pairs,
    clusters: int,
    confidence: float,
    *,
    across_labels: bool = False,
) -> tuple[Float[np.ndarray, " pair"], Float[np.ndarray, " pair"]]:
    """Interval of the static bias of each pair: frames of a group are drawn together."""
    low, high = np.zeros(len(pairs)), np.ones(len(pairs))
    wrong = np.flatnonzero(~observations.correct[observations.frame_sample])
    sample = observations.frame_sample[wrong]
    label = 0 * sample if across_labels else observations.label[sample]
    cell = label * clusters + observations.frame_cluster[wrong]
    order = np.argsort(cell, kind="stable")
    wanted = (0 if across_labels else pairs.label) * clusters + pairs.cluster
    edges = [np.searchsorted(cell[order], wanted, side=side) for side in ("left", "right")]
    value = observations.frame_bias[wrong]
    for pair, (start, end) in enumerate(zip(*edges, strict=True)):
        if end > start:
            frames = order[start:end]
            drawn = observations.groups.take(sample[frames])
            limits = mean_interval(value[frames], drawn, confidence=confidence)
            low[pair], high[pair] = limits
    return np.nan_to_num(low, nan=0.0), np.nan_to_num(high, nan=1.0)
