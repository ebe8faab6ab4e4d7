"""TRoVe's scores as functions of arrays (Varma et al., 2025, section 3.2). No loop over clusters.

A *pair* is a (label, cluster) whose label has sequences both with and without the cluster: only
those can be compared. Arrays over pairs hold what is defined; the others do not appear.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from operator import itemgetter
from typing import NamedTuple

import numpy as np
from jaxtyping import Bool, Float, Int
from scipy import sparse

from cuescope_sdk.statistics import Groups, gap_intervals, mean_interval

Codes = Int[np.ndarray, " sample"]
SampleMask = Bool[np.ndarray, " sample"]
PerSample = Float[np.ndarray, " sample"]
PerPair = Float[np.ndarray, " pair"]
IntPerPair = Int[np.ndarray, " pair"]
PairMask = Bool[np.ndarray, " pair"]
IntPerFrame = Int[np.ndarray, " frame"]
IntPerMember = Int[np.ndarray, " member"]


@dataclass(frozen=True, eq=False)
class Observations:
    """What the model answered, in numbers.

    label, prediction, correct: one a sequence; frame_sample: the sequence that a frame belongs to;
    frame_static (frame, class): calibrated probabilities of its still clip; `member`: a sparse
    (frame, cluster) of the clusters that it is in, one or several. `groups` says which sequences
    were drawn together.
    """

    label: np.ndarray
    prediction: np.ndarray
    correct: np.ndarray
    frame_sample: np.ndarray
    frame_static: np.ndarray
    member: sparse.csr_array
    groups: Groups

    @property
    def classes(self) -> int:
        """Size of the label set, |Y|."""
        return int(self.frame_static.shape[1])

    @property
    def clusters(self) -> int:
        """How many clusters there are."""
        return int(self.member.shape[1])

    @property
    def frame_label(self) -> IntPerFrame:
        """The label of each frame's sequence."""
        return np.asarray(self.label[self.frame_sample])

    @property
    def member_frame(self) -> IntPerMember:
        """The frame of each (frame, cluster) that belong together."""
        return np.asarray(self.member.tocoo().row)

    @property
    def member_cluster(self) -> IntPerMember:
        """The cluster of each (frame, cluster) that belong together."""
        return np.asarray(self.member.indices)

    @property
    def frame_bias(self) -> np.ndarray:
        """Per frame: the still clip's probability of what the whole sequence was taken for."""
        frames = np.arange(len(self.frame_sample))
        return np.asarray(self.frame_static[frames, self.prediction[self.frame_sample]])

    @property
    def values(self) -> PerSample:
        """1 for a right answer, 0 for a wrong one."""
        return np.asarray(self.correct.astype(float))


def partition(frame_cluster: IntPerFrame, clusters: int) -> sparse.csr_array:
    """The `member` of frames that are in one of so many clusters each."""
    frames = len(frame_cluster)
    rows = np.arange(frames + 1)
    inside = np.ones(frames, dtype=bool)
    return sparse.csr_array((inside, frame_cluster, rows), shape=(frames, clusters))


def among_top(
    logits: Float[np.ndarray, "sample class"],
    label: Codes,
    top_k: int,
) -> SampleMask:
    """Whether the label is among the `top_k` highest logits; ties go to the lower class."""
    # stable: ties as argmax has them
    order = np.argsort(-logits, axis=1, kind="stable")
    is_label = order[:, :top_k] == label[:, None]
    return np.asarray(is_label.any(axis=1))


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

    def take(self, chosen: np.ndarray | Sequence[int]) -> "Pairs":
        """Some of the pairs."""
        columns = map(itemgetter(chosen), vars(self).values())
        return Pairs(*columns)


def incidences(
    observations: Observations,
) -> tuple[Int[np.ndarray, " incidence"], Int[np.ndarray, " incidence"]]:
    """Each (sequence, cluster) that meet in at least one frame, once."""
    # Eq. 1 counts sequences: one with five frames in the cluster must not count five times.
    sample = observations.frame_sample[observations.member_frame].astype(np.int64)
    clusters = observations.clusters
    code = np.unique(sample * clusters + observations.member_cluster)
    return np.divmod(code, clusters)


def meets(observations: Observations) -> sparse.csr_array:
    """(sequence, cluster): whether they meet in any frame; sparse, as a sequence meets few."""
    sample, cluster = incidences(observations)
    shape = len(observations.label), observations.clusters
    true = np.ones(len(sample), dtype=bool)
    return sparse.csr_array((true, (sample, cluster)), shape=shape)


def compare(observations: Observations) -> Pairs:
    """All pairs that can be compared, by label, then cluster."""
    label = observations.label
    correct = observations.correct
    sample, cluster = incidences(observations)
    shape = observations.classes, observations.clusters
    n_with = np.zeros(shape, dtype=np.int64)
    correct_with = np.zeros(shape, dtype=np.int64)
    # add.at: a plain += would count a (label, cluster) that repeats only once
    np.add.at(n_with, (label[sample], cluster), 1)
    np.add.at(correct_with, (label[sample], cluster), correct[sample])
    n = np.bincount(label, minlength=observations.classes)
    n_correct = np.bincount(label[correct], minlength=observations.classes)
    # acc_-C is of the same label's other sequences: a cluster must not be blamed for a hard label.
    n_without = n[:, None] - n_with
    correct_without = n_correct[:, None] - correct_with
    # without sequences on both sides eq. 1 has no value
    pair = np.nonzero((n_with > 0) & (n_without > 0))
    return Pairs(
        label=pair[0],
        cluster=pair[1],
        correct_without=correct_without[pair],
        n_without=n_without[pair],
        correct_with=correct_with[pair],
        n_with=n_with[pair],
    )


@dataclass(frozen=True, eq=False)
class StaticBias:
    """Eq. 2 per pair: `value` is meaningful only where `n_frames` > 0."""

    value: np.ndarray
    n_frames: np.ndarray


def static_bias(
    observations: Observations,
    pairs: Pairs,
    *,
    across_labels: bool = False,
) -> StaticBias:
    """Mean still-clip probability of the wrong answers, over the cluster's misclassified frames.

    Eq. 2 averages over all frames of C_wrong; the published code keeps those whose sequence has
    the pair's label. The latter is the default; `across_labels` gives the former.
    """
    wrong = ~observations.correct[observations.frame_sample]
    cell, pair = _cells(observations, pairs, across_labels)
    n_frames, mean = _cell_means(cell, wrong[observations.member_frame], observations)
    return StaticBias(mean[pair], n_frames[pair])


def _cell_means(
    cell: IntPerMember,
    among: Bool[np.ndarray, " member"],
    observations: Observations,
) -> tuple[Int[np.ndarray, " cell"], Float[np.ndarray, " cell"]]:
    """How many of some frames each cell has, and their mean still-clip bias; 0 where none."""
    cells = observations.classes * observations.clusters
    n_frames = np.bincount(cell[among], minlength=cells)
    bias = observations.frame_bias[observations.member_frame[among]]
    total = np.bincount(cell[among], bias, minlength=cells)
    # an empty cell has a total of 0, and must not divide 0 by 0
    return n_frames, total / np.maximum(n_frames, 1)


def _cells(
    observations: Observations,
    pairs: Pairs,
    across_labels: bool,
) -> tuple[IntPerMember, Int[np.ndarray, " pair"]]:
    """The cells of all members and of the pairs: label and cluster, or the cluster alone."""
    if across_labels:
        return observations.member_cluster, pairs.cluster
    clusters = observations.clusters
    of_frame = observations.frame_label[observations.member_frame] * clusters
    cells = of_frame + observations.member_cluster
    return cells, pairs.label * clusters + pairs.cluster


@dataclass(frozen=True, eq=False)
class Mistake:
    """Per pair: the most common wrong answer with the cluster on screen.

    `share` of the label's errors with the cluster; `taken_with` and `taken_without`: share of the
    label's sequences that are so mistaken, with the cluster and without; `confidence`: mean
    calibrated probability of that answer over the cluster's frames of the sequences so mistaken.
    `prediction` -1: no error.
    """

    prediction: np.ndarray
    share: np.ndarray
    taken_with: np.ndarray
    taken_without: np.ndarray
    confidence: np.ndarray

    @property
    def surplus(self) -> np.ndarray:
        """How much more often the label is so mistaken where the cluster is on screen."""
        return np.asarray(self.taken_with - self.taken_without)

    def take(self, chosen: np.ndarray | Sequence[int]) -> "Mistake":
        """Those of some of the pairs."""
        columns = map(itemgetter(chosen), vars(self).values())
        return Mistake(*columns)


def most_common_mistake(observations: Observations, pairs: Pairs) -> Mistake:
    """What the label's sequences with the cluster are mistaken for; ties go to the lower class."""
    classes = observations.classes
    cells = classes * observations.clusters
    sample, cluster = incidences(observations)
    wrong = ~observations.correct[sample]
    sample = sample[wrong]
    cell = observations.label[sample] * observations.clusters + cluster[wrong]
    code, count = np.unique(
        cell * classes + observations.prediction[sample], return_counts=True
    )
    # The most common mistake of a cell comes last, of equals the lower class, and stays in it.
    order = np.lexsort((-code, count))
    mistaken, answer = np.divmod(code[order], classes)
    mistake = np.full(cells, -1)
    mistake[mistaken] = answer
    agree = np.zeros(cells)
    agree[mistaken] = count[order]
    # all errors of a cell, not only the agreeing ones: the report says what share agrees
    errors = np.bincount(cell, minlength=cells)
    cell, pair = _cells(observations, pairs, across_labels=False)
    of_member = observations.frame_sample[observations.member_frame]
    # with top_k a right sequence may have the mistake as its best answer
    made = ~observations.correct[of_member] & (
        observations.prediction[of_member] == mistake[cell]
    )
    _, confidence = _cell_means(cell, made, observations)
    share = agree / np.maximum(errors, 1)
    # of the whole label, with the cluster and without it; without an error nothing is mistaken
    taken = np.zeros((classes, classes + 1))
    wrong = ~observations.correct
    np.add.at(taken, (observations.label[wrong], observations.prediction[wrong]), 1)
    in_all = taken[pairs.label, mistake[pair]]
    return Mistake(
        prediction=mistake[pair],
        share=share[pair],
        taken_with=agree[pair] / pairs.n_with,
        taken_without=(in_all - agree[pair]) / pairs.n_without,
        confidence=confidence[pair],
    )


# -------------------------------------------------------------------- label by label, for groups


class LabelPart(NamedTuple):
    """A label's `pairs` and `samples`, by index, and which samples show each pair's cluster.

    `values` are 1 for right answers, `groups` those of the samples.
    """

    pairs: Int[np.ndarray, " some_pair"]
    samples: Int[np.ndarray, " some_sample"]
    present: Bool[np.ndarray, "some_sample some_pair"]
    values: Float[np.ndarray, " some_sample"]
    groups: Groups


def label_parts(observations: Observations, pairs: Pairs) -> Iterator[LabelPart]:
    """The pairs and sequences, label by label."""
    shows = meets(observations)
    for label in np.unique(pairs.label):
        chosen = np.flatnonzero(pairs.label == label)
        samples = np.flatnonzero(observations.label == label)
        # only one label at a time is made dense
        present = shows[samples].toarray()[:, pairs.cluster[chosen]]
        yield LabelPart(
            pairs=chosen,
            samples=samples,
            present=np.asarray(present, dtype=bool),
            values=observations.values[samples],
            groups=observations.groups.take(samples),
        )


def gap_limits(
    observations: Observations, pairs: Pairs, confidence: float
) -> tuple[PerPair, PerPair]:
    """Interval of the error contribution of each pair; groups of sequences count as one draw."""
    low = np.full(len(pairs), -1.0)
    high = np.full(len(pairs), 1.0)
    for part in label_parts(observations, pairs):
        low[part.pairs], high[part.pairs] = gap_intervals(
            part.values, part.present, part.groups, confidence=confidence
        )
    # one group says nothing of how much groups vary
    return np.nan_to_num(low, nan=-1.0), np.nan_to_num(high, nan=1.0)


def bias_limits(
    observations: Observations,
    pairs: Pairs,
    confidence: float,
    *,
    across_labels: bool = False,
) -> tuple[PerPair, PerPair]:
    """Interval of the static bias of each pair: frames of a group are drawn together."""
    # without a wrong frame nothing is known: the whole range of a probability
    low = np.zeros(len(pairs))
    high = np.ones(len(pairs))
    cell, wanted = _cells(observations, pairs, across_labels)
    is_wrong = ~observations.correct[observations.frame_sample]
    wrong = np.flatnonzero(is_wrong[observations.member_frame])
    # sorted once, so that the frames of a pair are one slice and need no mask each
    order = wrong[np.argsort(cell[wrong], kind="stable")]
    starts = np.searchsorted(cell[order], wanted, side="left")
    ends = np.searchsorted(cell[order], wanted, side="right")
    bias = observations.frame_bias
    for pair in np.flatnonzero(ends > starts):
        frames = observations.member_frame[order[starts[pair] : ends[pair]]]
        drawn = observations.groups.take(observations.frame_sample[frames])
        low[pair], high[pair] = mean_interval(
            bias[frames], drawn, confidence=confidence
        )
    return np.nan_to_num(low, nan=0.0), np.nan_to_num(high, nan=1.0)
