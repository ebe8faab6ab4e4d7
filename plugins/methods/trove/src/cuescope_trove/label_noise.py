"""Sequences whose label looks wrong (Northcutt et al., 2021), and how many a finding may rest on.

A mislabelled sequence shows the cues of its true class and is answered with it: its label loses
accuracy wherever those cues are on screen, and no cue made the model err.
"""

from dataclasses import dataclass

import numpy as np

from cuescope_sdk.statistics import (
    Groups,
    lower_mean_p_value,
    most_by_chance,
    most_unseen,
)
from cuescope_trove.scores import Observations, Pairs, PerSample, SampleMask

UPPER = 0.95  # so sure that no more sequences are mislabelled than are set aside
LEAST_OWN = 10  # sequences of a class that show the cluster, to be compared with
DRAWS = 10_000
# log-odds of a probability that rounded to 0 would be infinite
SMALLEST = 1e-12  # probability


@dataclass(frozen=True, eq=False)
class Suspects:
    """`looks_like` is the other class that a sequence is confidently taken for, -1 for none.

    `rate` is the share of each class's own sequences that pass the same threshold.
    """

    looks_like: np.ndarray
    rate: np.ndarray

    def take(self, chosen: SampleMask) -> "Suspects":
        """Those of some of the sequences."""
        return Suspects(self.looks_like[chosen], self.rate)


def confident_disagreement(observations: Observations) -> Suspects:
    """The sequences in the off-diagonal cells of the confident joint (Northcutt et al., 2021).

    A class's threshold is the mean probability that its own sequences give it; a sequence counts
    for the most probable class whose threshold it reaches. No probabilities: no suspects.
    """
    label = observations.label
    probability = observations.probability
    classes = observations.classes
    if probability is None:
        return Suspects(np.full(len(label), -1), np.ones(classes))
    n = np.maximum(np.bincount(label, minlength=classes), 1)
    of_label = probability[np.arange(len(label)), label]
    threshold = np.bincount(label, weights=of_label, minlength=classes) / n
    # else the mean of no sequences, 0, would be a threshold that all reach
    threshold[np.bincount(label, minlength=classes) == 0] = np.inf
    # -1 is below any probability: a class under its threshold is never the best
    confident = np.where(probability >= threshold, probability, -1.0)
    best = confident.argmax(axis=1)
    counted = np.where(confident.max(axis=1) >= 0, best, -1)
    agrees = np.bincount(label[counted == label], minlength=classes)
    looks_like = np.where(counted == label, -1, counted)
    # a rate near 0 would let any number of wrong labels hide beside one suspect
    return Suspects(looks_like, np.clip(agrees / n, 0.05, 1.0))


def suspect_labels(
    observations: Observations,
    suspects: Suspects,
    pair: Pairs,
) -> SampleMask:
    """The sequences of one pair that may be mislabelled: suspects, and as many as hide beside them.

    Of a class's own sequences only a share is confident, and so it is for those of it that have
    another label. The sequences that give their label least are set aside as well: as many as
    there may be (Clopper and Pearson, 1934, at `UPPER`). They need not be taken for the same
    class, as a model errs on mislabelled sequences too.
    """
    label = pair.label.item()
    mine = observations.label == label
    wrong = mine & observations.shows(pair.cluster.item()) & ~observations.correct
    removed: SampleMask = wrong & (suspects.looks_like >= 0)
    # without a suspect nothing says which other class is meant, so all speak
    rate = np.delete(suspects.rate, label)
    if removed.any():
        rate = suspects.rate[suspects.looks_like[removed]]
    if observations.probability is not None:
        beside = np.flatnonzero(wrong & ~removed)
        order = np.argsort(observations.probability[beside, label], kind="stable")
        hidden = most_unseen(int(removed.sum()), float(rate.mean()), confidence=UPPER)
        removed[beside[order[:hidden]]] = True
    return removed


def unlike_p_value(
    observations: Observations,
    pair: Pairs,
    rng: np.random.Generator,
) -> float:
    """Are the wrong answers of a pair unlike those that mislabelled sequences would have?

    Mislabelled sequences of a class are answered as its own sequences are, and look like them in
    every frame. A cue that pulls at right labels leaves something of them: the log-odds of the
    wrong class against the label are lower, or the frames without the cue look like the label.
    Either counts, and both together pay for two tests. One-sided, Monte Carlo: drawn are as many
    own sequences of that class with its answer, and in their midst as many of the label's ordinary
    errors as there may be. Means of groups.
    """
    # 1: without probabilities nothing can show that it is no label noise
    if observations.probability is None:
        return 1.0
    label = pair.label.item()
    cluster = pair.cluster.item()
    shows = observations.shows(cluster)
    mine = observations.label == label
    wrong = mine & ~observations.correct
    answers = observations.prediction[wrong & shows]
    if not len(answers):
        return 1.0
    other = int(np.bincount(answers).argmax())
    answered = observations.prediction == other
    proper = answered & (observations.label == other)
    if other == label or not proper.any():
        return 1.0

    def compare(values: PerSample, proper: SampleMask) -> float:
        taken = wrong & answered
        return _less_like_p_value(
            observations.groups, values, mine, taken, proper, shows, rng
        )

    by_answer = compare(_log_odds(observations.probability, other, label), proper)
    # the looks of the class are learned from half of its sequences, and held against the others
    learned = proper & observations.groups.split(rng)
    rest = proper & ~learned
    # too few to compare looks with: one test, and no second to pay for
    if (rest & shows).sum() < LEAST_OWN:
        return by_answer
    looks = _looks(observations, learned, cluster)
    looks -= _looks(observations, mine & observations.correct, cluster)
    # twice the better of two tests (Bonferroni)
    return min(1.0, 2 * min(by_answer, compare(looks, rest)))


def _less_like_p_value(
    groups: Groups,
    values: PerSample,
    mine: SampleMask,
    taken: SampleMask,
    proper: SampleMask,
    shows: SampleMask,
    rng: np.random.Generator,
) -> float:
    """Are `values` of the mistaken sequences with the cluster lower than label errors have them?

    `mine` are sequences of the label, of which some are `taken` for a class; `proper` are those of
    that class, rightly answered. `shows` marks sequences with the cluster.
    """
    # what is on screen also makes its own answers more or less sure
    if (proper & shows).sum() >= LEAST_OWN:
        proper = proper & shows
    here, ordinary, of_class = (
        groups.take(part).means(values[part])
        for part in (taken & shows, taken & ~shows, proper)
    )
    outside = int((mine & ~shows).sum())
    rate = int((taken & ~shows).sum()) / max(outside, 1)
    errors = 0
    if len(ordinary):
        # ordinary errors happen with the cluster on screen too, as often as without it
        inside = int((mine & shows).sum())
        errors = min(most_by_chance(inside, rate, confidence=UPPER), len(here))
    return lower_mean_p_value(
        here,
        of_class,
        rng,
        others=ordinary,
        mixed=errors,
        draws=DRAWS,
    )


def _log_odds(probability: np.ndarray, other: int, label: int) -> PerSample:
    """Log-odds of the other class against the label."""
    probability = np.maximum(probability, SMALLEST)
    return np.asarray(np.log(probability[:, other] / probability[:, label]))


def _looks(observations: Observations, part: SampleMask, cluster: int) -> PerSample:
    """Log-probability of each sequence's other frames, were they drawn from those of the part."""
    member_frame = observations.member_frame
    of_sample = observations.frame_sample[member_frame]
    # frames of the cue are left out: only the other frames tell both apart
    shows_cue = np.zeros(len(observations.frame_sample), dtype=bool)
    shows_cue[observations.frames_of(cluster)] = True
    others = ~shows_cue[member_frame]
    shown = observations.member_cluster[part[of_sample] & others]
    # half a frame more each: one unseen cluster must not rule a sequence out
    counts = np.bincount(shown, minlength=observations.clusters) + 0.5
    chance = np.log(counts / np.delete(counts, cluster).sum())
    weights = np.where(others, chance[observations.member_cluster], 0.0)
    return np.bincount(of_sample, weights, minlength=len(observations.label))
