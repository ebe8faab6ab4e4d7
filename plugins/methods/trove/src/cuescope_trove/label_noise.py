"""Sequences whose label looks wrong (Northcutt et al., 2021), and how many a finding may rest on.

A mislabelled sequence shows the cues of its true class and is answered with it: its label loses
accuracy wherever those cues are on screen, and no cue made the model err.
"""

from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Bool, Float, Int

from cuescope_sdk.statistics import lower_mean_p_value, most_by_chance, most_unseen, split_groups
from cuescope_trove.scores import Observations, Pairs

UPPER = 0.95  # so sure that no more sequences are mislabelled than are set aside
LEAST_OWN = 10  # sequences of a class that show the cluster, to be compared with
DRAWS = 10_000
SMALLEST = 1e-12  # probability


@dataclass(frozen=True, eq=False)
class Suspects:
    """`looks_like` is the other class that a sequence is confidently taken for, -1 for none.

    `rate` is the share of each class's own sequences that pass the same threshold.
    """

    looks_like: np.ndarray
    rate: np.ndarray

    def take(self, chosen: Bool[np.ndarray, " sample"]) -> "Suspects":
        """Those of some of the sequences."""
        return Suspects(self.looks_like[chosen], self.rate)


@dataclass(frozen=True, eq=False)
class Suspicion:
    """`removed` marks the sequences of a pair that may be mislabelled: `count` `of` its label's."""

    removed: np.ndarray
    count: int
    of: int


def confident_disagreement(observations: Observations) -> Suspects:
    """The sequences in the off-diagonal cells of the confident joint (Northcutt et al., 2021).

    A class's threshold is the mean probability that its own sequences give it; a sequence counts
    for the most probable class whose threshold it reaches. No probabilities: no suspects.
    """
    label, probability = observations.label, observations.probability
    if probability is None:
        return Suspects(np.full(len(label), -1), np.ones(observations.classes))
    classes = probability.shape[1]
    n = np.bincount(label, minlength=classes)
    own = probability[np.arange(len(label)), label]
    threshold = np.bincount(label, weights=own, minlength=classes) / np.maximum(n, 1)
    threshold[n == 0] = np.inf
    confident = np.where(probability >= threshold, probability, -1.0)
    counted = np.where(confident.max(axis=1) >= 0, confident.argmax(axis=1), -1)
    agrees = np.bincount(label[counted == label], minlength=classes)
    looks_like = np.where(counted == label, -1, counted)
    return Suspects(looks_like, np.clip(agrees / np.maximum(n, 1), 0.05, 1.0))


def mislabelled(
    observations: Observations, suspects: Suspects, pair: Pairs, clusters: int
) -> Suspicion:
    """The sequences of one pair that may be mislabelled: suspects, and as many as hide beside them.

    Of a class's own sequences only a share is confident, and so it is for those of it that have
    another label. The sequences that give their label least are set aside as well: as many as
    there may be (Clopper and Pearson, 1934, at `UPPER`). They need not be taken for the same
    class, as a model errs on mislabelled sequences too.
    """
    label, cluster = int(pair.label[0]), int(pair.cluster[0])
    shows = np.zeros(len(observations.label), dtype=bool)
    shows[observations.frame_sample[observations.frame_cluster == cluster]] = True
    mine = observations.label == label
    wrong = mine & shows & ~observations.correct
    removed = wrong & (suspects.looks_like >= 0)
    others = suspects.looks_like[removed]
    rate = suspects.rate[others] if len(others) else np.delete(suspects.rate, label)
    if observations.probability is not None:
        beside = np.flatnonzero(wrong & ~removed)
        order = np.argsort(observations.probability[beside, label], kind="stable")
        hidden = most_unseen(int(removed.sum()), float(rate.mean()), confidence=UPPER)
        removed[beside[order[:hidden]]] = True
    return Suspicion(removed, int(removed.sum()), int(mine.sum()))


def unlike_p_value(
    observations: Observations, pair: Pairs, clusters: int, rng: np.random.Generator
) -> float:
    """Are the wrong answers of a pair unlike those that mislabelled sequences would have?

    Mislabelled sequences of a class are answered as its own sequences are, and look like them in
    every frame. A cue that pulls at right labels leaves something of them: the log-odds of the
    wrong class against the label are lower, or the frames without the cue look like the label.
    Either counts, and both together pay for two tests. One-sided, Monte Carlo: drawn are as many
    own sequences of that class with its answer, and in their midst as many of the label's ordinary
    errors as there may be. Means of groups.
    """
    if observations.probability is None:
        return 1.0
    label, cluster = int(pair.label[0]), int(pair.cluster[0])
    shows = np.zeros(len(observations.label), dtype=bool)
    shows[observations.frame_sample[observations.frame_cluster == cluster]] = True
    mine = observations.label == label
    wrong = mine & ~observations.correct
    if not (wrong & shows).any():
        return 1.0
    other = int(np.bincount(observations.prediction[wrong & shows]).argmax())
    own = (observations.label == other) & (observations.prediction == other)
    if other == label or not own.any():
        return 1.0
    rivals = _Rivals(mine, shows, wrong & (observations.prediction == other), own)
    by_answer = _less_like_p_value(observations, rivals, _log_odds(observations, other, label), rng)
    # the looks of the class are learned from half of its sequences, and held against the others
    learned = own & split_groups(observations.groups, rng)
    rest = replace(rivals, own=own & ~learned)
    if (rest.own & shows).sum() < LEAST_OWN:
        return by_answer
    labelled = mine & observations.correct
    looks = _looks(observations, learned, clusters, cluster)
    looks -= _looks(observations, labelled, clusters, cluster)
    return min(1.0, 2 * min(by_answer, _less_like_p_value(observations, rest, looks, rng)))


@dataclass(frozen=True, eq=False)
class _Rivals:
    """Masks of sequences: the label's, those with the cluster, the mistaken ones of the label.

    `own` are those of the class they are taken for, rightly answered.
    """

    mine: np.ndarray
    shows: np.ndarray
    taken: np.ndarray
    own: np.ndarray


def _less_like_p_value(
    observations: Observations,
    rivals: _Rivals,
    values: Float[np.ndarray, " sample"],
    rng: np.random.Generator,
) -> float:
    """Are `values` of the mistaken sequences with the cluster lower than label errors have them?"""
    mine, shows, taken, own = rivals.mine, rivals.shows, rivals.taken, rivals.own
    if (own & shows).sum() >= LEAST_OWN:
        own = own & shows  # what is on screen also makes the class's own answers more or less sure
    here, ordinary, proper = (
        _group_means(observations, part, values) for part in (taken & shows, taken & ~shows, own)
    )
    outside = int((mine & ~shows).sum())
    rate = int((taken & ~shows).sum()) / max(outside, 1)
    errors = most_by_chance(int((mine & shows).sum()), rate, confidence=UPPER)
    errors = min(errors if len(ordinary) else 0, len(here))
    return lower_mean_p_value(here, proper, rng, others=ordinary, mixed=errors, draws=DRAWS)


def _log_odds(observations: Observations, other: int, label: int) -> Float[np.ndarray, " sample"]:
    """Log-odds of the other class against the label."""
    assert observations.probability is not None
    probability = np.maximum(observations.probability, SMALLEST)
    return np.asarray(np.log(probability[:, other] / probability[:, label]))


def _looks(
    observations: Observations, part: Bool[np.ndarray, " sample"], clusters: int, cluster: int
) -> Float[np.ndarray, " sample"]:
    """Log-probability of each sequence's other frames, were they drawn from those of the part."""
    of_part = part[observations.frame_sample]
    counts = np.bincount(observations.frame_cluster[of_part], minlength=clusters) + 0.5
    chance = np.log(counts / np.delete(counts, cluster).sum())
    chance[cluster] = 0.0
    return np.bincount(
        observations.frame_sample,
        weights=chance[observations.frame_cluster],
        minlength=len(observations.label),
    )


def _group_means(
    observations: Observations,
    part: Bool[np.ndarray, " sample"],
    values: Float[np.ndarray, " sample"],
) -> Float[np.ndarray, " group"]:
    """A mean for each group of the part."""
    groups = observations.groups.take(part)
    return np.asarray(groups.sums(values[part]) / groups.sums(np.ones(int(part.sum()))))


def suspects_by_label(
    suspects: Suspects, label: Int[np.ndarray, " sample"]
) -> dict[int, Int[np.ndarray, " some"]]:
    """The suspects of each label, by their numbers."""
    marked = np.flatnonzero(suspects.looks_like >= 0)
    return {int(each): marked[label[marked] == each] for each in np.unique(label[marked])}
