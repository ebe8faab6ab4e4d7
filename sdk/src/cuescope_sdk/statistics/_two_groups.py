"""Probability that a sample shows something, from a score that is higher where it does.

Which of a label's two groups shows it may be open where one is small. An answer that is commoner
where it is shown, by the same odds ratio in all labels, settles that. A sample's probability rests
on its score alone.
"""

from dataclasses import dataclass, replace
from functools import cached_property
from itertools import product
from typing import NamedTuple

import numpy as np
from jaxtyping import Float, Int
from scipy import special, stats

from cuescope_sdk.statistics._label_effects import SLOPE
from cuescope_sdk.statistics._shapes import BoolPerSample, IntPerSample, PerSample

PerLabel = Float[np.ndarray, " label"]
# all starts are fitted at once: of each a value, one a label, or one a sample
PerStart = Float[np.ndarray, "start 1 1"]
OfLabels = Float[np.ndarray, "start try label"]
OfSamples = Float[np.ndarray, "start try sample"]

# degrees of freedom of Student's t: what Lange, Little and Taylor (1989) take for robust fits, and
# next to a normal distribution; the likelier is taken
FREEDOMS = (4.0, 30.0)
# where a fit may start, since the likelihood has several modes: shares of all samples that show it
SHARES = (0.1, 0.3)
# and of a label's: few, half or nearly all of them
LABEL_SHARES = (0.1, 0.5, 0.9)
OUTER = 40
INNER = 4
RESTART = 4  # rounds from one time that labels start anew to the next
TOLERANCE = 1e-4  # of the log-likelihood a sample
LEAST = 1e-8
STEP = 1.0  # of a slope at once


@dataclass(frozen=True, eq=False)
class TwoGroups:
    """Two Student distributions of one width along a score, in each label `shift` apart.

    `mean` is that of a label's samples without it, `share` how many have it. By EM with weights for
    Student's t (Peel and McLachlan, 2000).
    """

    mean: PerLabel
    share: PerLabel
    shift: float
    width: float
    freedom: float
    likelihood: float

    @classmethod
    def fit(
        cls,
        score: PerSample,
        label: IntPerSample,
        given: BoolPerSample,
        count: int,
    ) -> "TwoGroups":
        """The likeliest of several starts; of `count` labels, some of which may have no sample.

        `given` says which samples get the answer.
        """
        order = np.argsort(label, kind="stable")
        present, sizes = np.unique(label, return_counts=True)
        fitted = _Fitting(score[order], given[order], sizes).fit()
        mean, share = np.zeros(count), np.full(count, 0.5)
        mean[present], share[present] = fitted.mean, fitted.share
        return replace(fitted, mean=mean, share=share)

    def probability(self, score: PerSample, label: IntPerSample) -> PerSample:
        """Of each sample to be of the group with the higher scores."""
        return np.asarray(special.expit(self.log_odds(score, label)))

    def log_odds(self, score: PerSample, label: IntPerSample) -> PerSample:
        """Natural logarithm of the odds of the group with the higher scores."""
        beside = (score - self.mean[label]) / self.width
        shown = stats.t.logpdf(beside - self.shift / self.width, self.freedom)
        prior = special.logit(self.share)[label]
        return np.asarray(prior + shown - stats.t.logpdf(beside, self.freedom))


class _Labels(NamedTuple):
    """Each label's log-likelihood, share of samples that show it, and mean of those that do not.

    `rate` is how often these get the answer.
    """

    likelihood: OfLabels
    share: OfLabels
    mean: OfLabels
    rate: OfLabels

    def best(self) -> "_Labels":
        """The likeliest try of each label."""
        best = self.likelihood.argmax(axis=1, keepdims=True)
        return _Labels(*(np.take_along_axis(each, best, axis=1) for each in self))


class _Shared(NamedTuple):
    """What all labels share: log odds of the answer, and how the groups are distributed."""

    slope: PerStart
    shift: PerStart
    width: PerStart
    freedom: PerStart


class _Parts(NamedTuple):
    """Log-likelihood of each sample, how likely it shows it, and its weights in either mean."""

    likelihood: OfSamples
    probability: OfSamples
    weight_with: OfSamples
    weight_without: OfSamples


@dataclass(frozen=True, eq=False)
class _Fitting:
    """Scores whose two groups are looked for, label by label; `sizes` says how many each has."""

    score: PerSample
    given: BoolPerSample
    sizes: Int[np.ndarray, " label"]

    def fit(self) -> TwoGroups:
        """From states in which the samples with the highest scores show it."""
        score = self.score
        freedom, shares = np.array(list(product(FREEDOMS, SHARES))).T
        is_first = score >= np.quantile(score, 1 - shares)[:, None]
        shift = is_first @ score / is_first.sum(axis=1) - score.mean()
        width = np.full(len(shares), float(score.std()) or 1.0)
        start = np.stack([np.zeros(len(shares)), shift, width, freedom])
        shared = _Shared(*start[:, :, None, None])
        tries = self._starts(shared.shift)
        last = np.full(len(shares), -np.inf)
        fits: list[TwoGroups] = []
        for step in range(OUTER):
            labels = self._labels(tries, shared).best()
            parts = self._parts(labels, shared)
            total = parts.likelihood.sum(axis=(1, 2))
            total -= len(score) * np.log(shared.width[:, 0, 0])
            shared = self._shared(parts, labels, shared)
            ended = np.abs(total - last) < TOLERANCE * len(score)
            ended |= step == OUTER - 1
            fits += [
                TwoGroups(
                    labels.mean[number, 0],
                    labels.share[number, 0],
                    float(shared.shift[number, 0, 0]),
                    float(shared.width[number, 0, 0]),
                    float(shared.freedom[number, 0, 0]),
                    float(total[number]),
                )
                for number in np.flatnonzero(ended)
            ]
            if ended.all():
                break
            shared = _Shared(*(each[~ended] for each in shared))
            tries = _Labels(*(each[~ended] for each in labels))
            last = total[~ended]
            if step % RESTART == RESTART - 1:
                pairs = zip(self._starts(shared.shift), tries, strict=True)
                tries = _Labels(*(np.concatenate(pair, axis=1) for pair in pairs))
        return max(fits, key=lambda fit: fit.likelihood)

    @cached_property
    def _answered(self) -> PerLabel:
        """Number of samples of each label that get the answer."""
        return self._sums(self.given.astype(float))

    def _starts(self, shift: PerStart) -> _Labels:
        """Shares, means and rates of the answer from which each label may start."""
        share = np.broadcast_to(
            np.reshape(LABEL_SHARES, (1, -1, 1)),
            (len(shift), len(LABEL_SHARES), len(self.sizes)),
        )
        means = self._sums(self.score) / self.sizes
        rate = np.broadcast_to((self._answered + 0.5) / (self.sizes + 1), share.shape)
        return _Labels(np.zeros(share.shape), share, means - share * shift, rate)

    def _labels(self, labels: _Labels, shared: _Shared) -> _Labels:
        """Fit each label's share, mean and rate, where all else is given."""
        sizes, answered = self.sizes, self._answered
        for _ in range(INNER):
            parts = self._parts(labels, shared)
            # a sample of each kind more: no share is 0 or 1
            members = self._sums(parts.probability)
            both = parts.weight_with + parts.weight_without
            pulled = self._sums(both * self.score - parts.weight_with * shared.shift)
            expected = members * _with_odds(labels.rate, shared.slope)
            expected += (sizes - members) * labels.rate
            # moves to where as many get the answer as do
            odds = (answered + 0.5) / (sizes - answered + 0.5)
            odds = odds * (sizes - expected + 0.5) / (expected + 0.5)
            labels = _Labels(
                self._sums(parts.likelihood),
                (members + 1) / (sizes + 2),
                pulled / np.maximum(self._sums(both), LEAST),
                special.expit(special.logit(labels.rate) + np.log(odds)),
            )
        return labels

    def _shared(self, parts: _Parts, labels: _Labels, shared: _Shared) -> _Shared:
        """What labels have in common, where each label's share, mean and rate are given."""
        beside = self.score - self._of_samples(labels.mean)
        weight = parts.weight_with.sum(axis=-1, keepdims=True)
        pull = (parts.weight_with * beside).sum(axis=-1, keepdims=True)
        shift = np.maximum(pull / weight, LEAST)
        squares = parts.weight_with * (beside - shift) ** 2
        squares += parts.weight_without * beside**2
        width = np.sqrt(np.maximum(squares.mean(axis=-1, keepdims=True), LEAST))
        slope = self._slope(parts, labels, shared.slope)
        return _Shared(slope, shift, width, shared.freedom)

    def _slope(self, parts: _Parts, labels: _Labels, slope: PerStart) -> PerStart:
        """Log odds of the answer that the group adds: a Newton step, Cauchy prior."""
        shown = parts.probability
        expected = self._of_samples(_with_odds(labels.rate, slope))
        prior = 2 / (SLOPE**2 + slope**2)
        gradient = (shown * (self.given - expected)).sum(axis=-1, keepdims=True)
        curvature = (shown * expected * (1 - expected)).sum(axis=-1, keepdims=True)
        step = (gradient - slope * prior) / (curvature + prior)
        return np.asarray(slope + np.clip(step, -STEP, STEP))

    def _parts(self, labels: _Labels, shared: _Shared) -> _Parts:
        beside = (self.score - self._of_samples(labels.mean)) / shared.width
        shown = beside - shared.shift / shared.width
        log_with = _log_density(shown, shared.freedom)
        log_with += self._log_given(labels.share, _with_odds(labels.rate, shared.slope))
        log_without = _log_density(beside, shared.freedom)
        log_without += self._log_given(1 - labels.share, labels.rate)
        total = np.logaddexp(log_with, log_without)
        probability = np.exp(log_with - total)
        return _Parts(
            total,
            probability,
            probability * _weight(shown, shared.freedom),
            (1 - probability) * _weight(beside, shared.freedom),
        )

    def _log_given(self, share: OfLabels, rate: OfLabels) -> OfSamples:
        """Log-probability of each sample's group and answer, which comes at its label's rate."""
        with_answer = self._of_samples(np.log(share) + np.log(rate))
        without = self._of_samples(np.log(share) + np.log1p(-rate))
        return np.where(self.given, with_answer, without)

    def _sums(self, values: np.ndarray) -> np.ndarray:
        """Of each label, along the last axis."""
        firsts = np.cumsum(self.sizes) - self.sizes
        return np.add.reduceat(values, firsts, axis=-1)

    def _of_samples(self, values: OfLabels) -> OfSamples:
        """What each sample's label has."""
        return np.repeat(values, self.sizes, axis=-1)


def _log_density(deviate: OfSamples, freedom: PerStart) -> OfSamples:
    """Student's log density."""
    kernel = np.log1p(deviate**2 / freedom)
    # at 0: the freedoms are compared by it
    middle = special.gammaln((freedom + 1) / 2) - special.gammaln(freedom / 2)
    middle -= np.log(freedom * np.pi) / 2
    return np.asarray(middle - (freedom + 1) / 2 * kernel)


def _weight(deviate: OfSamples, freedom: PerStart) -> OfSamples:
    """How much a deviate counts for a mean: far ones count for little."""
    return np.asarray((freedom + 1) / (freedom + deviate**2))


def _with_odds(rate: OfLabels, slope: PerStart) -> OfLabels:
    """Rates whose log odds are larger by a slope."""
    return np.asarray(special.expit(special.logit(rate) + slope))
