"""Probability that a sample shows something, from a score that is higher where it does.

Which of a label's two groups shows it may be open where one is small. An answer that is commoner
where it is shown, by the same odds ratio in all labels, settles that. A sample's probability rests
on its score alone.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from jaxtyping import Float
from scipy import special, stats

from cuescope_sdk.statistics._label_effects import SLOPE
from cuescope_sdk.statistics._shapes import BoolPerSample, IntPerSample, PerSample

PerLabel = Float[np.ndarray, " label"]

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


class _Labels(NamedTuple):
    """Each label's log-likelihood, share of samples that show it, and mean of those that do not.

    `rate` is how often these get the answer.
    """

    likelihood: PerLabel
    share: PerLabel
    mean: PerLabel
    rate: PerLabel


class _Parts(NamedTuple):
    """Log-likelihood of each sample, how likely it shows it, and its weights in either mean."""

    likelihood: PerSample
    probability: PerSample
    weight_with: PerSample
    weight_without: PerSample


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
        fits = [
            _Fitting(score, label, given, count, freedom).from_share(share)
            for freedom in FREEDOMS
            for share in SHARES
        ]
        return max(fits, key=lambda fit: fit.likelihood)

    def probability(self, score: PerSample, label: IntPerSample) -> PerSample:
        """Of each sample to be of the group with the higher scores."""
        return np.asarray(special.expit(self.log_odds(score, label)))

    def log_odds(self, score: PerSample, label: IntPerSample) -> PerSample:
        """Natural logarithm of the odds of the group with the higher scores."""
        beside = (score - self.mean[label]) / self.width
        shown = stats.t.logpdf(beside - self.shift / self.width, self.freedom)
        prior = special.logit(self.share)[label]
        return np.asarray(prior + shown - stats.t.logpdf(beside, self.freedom))


@dataclass(frozen=True, eq=False)
class _Fitting:
    """Scores whose two groups are looked for, with the label of each sample."""

    score: PerSample
    label: IntPerSample
    given: BoolPerSample
    count: int
    freedom: float

    def from_share(self, share: float) -> TwoGroups:
        """Fit from a state in which the samples with the highest scores show it."""
        score = self.score
        is_first = score >= np.quantile(score, 1 - share)
        shift = float(score[is_first].mean() - score.mean())
        width = float(score.std()) or 1.0
        starts = self._starts(shift)
        slope = 0.0
        total = last = -np.inf
        for step in range(OUTER):
            fits = [self._labels(*start, slope, shift, width) for start in starts]
            best = _likeliest(fits)
            parts = self._parts(best.share, best.mean, best.rate, slope, shift, width)
            slope = self._slope(parts.probability, best.rate, slope)
            total = float(parts.likelihood.sum()) - len(score) * np.log(width)
            beside = score - best.mean[self.label]
            shift = max(parts.weight_with @ beside / parts.weight_with.sum(), LEAST)
            squares = parts.weight_with @ (beside - shift) ** 2
            squares += parts.weight_without @ beside**2
            width = float(np.sqrt(max(squares / len(score), LEAST)))
            if abs(total - last) < TOLERANCE * len(score):
                break
            last = total
            starts = self._starts(shift) if step % RESTART == RESTART - 1 else []
            starts.append((best.share, best.mean, best.rate))
        return TwoGroups(
            best.mean, best.share, float(shift), width, self.freedom, total
        )

    def _starts(self, shift: float) -> list[tuple[PerLabel, PerLabel, PerLabel]]:
        """Shares, means and rates of the answer from which each label may start."""
        means = self._sums(self.score) / self._sizes
        rate = (self._answered + 0.5) / (self._sizes + 1)
        return [
            (np.full(self.count, share), means - share * shift, rate)
            for share in LABEL_SHARES
        ]

    def _slope(self, probability: PerSample, rate: PerLabel, slope: float) -> float:
        """Log odds of the answer that the group adds: a Newton step, Cauchy prior."""
        expected = _with_odds(rate, slope)[self.label]
        prior = 2 / (SLOPE**2 + slope**2)
        gradient = probability @ (self.given - expected) - slope * prior
        curvature = probability @ (expected * (1 - expected)) + prior
        return slope + float(np.clip(gradient / curvature, -STEP, STEP))

    @cached_property
    def _sizes(self) -> PerLabel:
        sizes = np.bincount(self.label, minlength=self.count)
        return np.maximum(sizes, 1).astype(float)

    @cached_property
    def _answered(self) -> PerLabel:
        """Number of samples of each label that get the answer."""
        return self._sums(self.given.astype(float))

    def _sums(self, values: PerSample) -> PerLabel:
        return np.bincount(self.label, values, minlength=self.count)

    def _labels(
        self,
        share: PerLabel,
        mean: PerLabel,
        rate: PerLabel,
        slope: float,
        shift: float,
        width: float,
    ) -> _Labels:
        """Fit each label's share, mean and rate, where all else is given."""
        answered = self._answered
        for _ in range(INNER):
            parts = self._parts(share, mean, rate, slope, shift, width)
            # a sample of each kind more: no share is 0 or 1
            members = self._sums(parts.probability)
            share = (members + 1) / (self._sizes + 2)
            both = parts.weight_with + parts.weight_without
            pulled = self._sums(both * self.score - parts.weight_with * shift)
            mean = pulled / np.maximum(self._sums(both), LEAST)
            expected = members * _with_odds(rate, slope)
            expected += (self._sizes - members) * rate
            # moves to where as many get the answer as do
            odds = (answered + 0.5) / (self._sizes - answered + 0.5)
            odds *= (self._sizes - expected + 0.5) / (expected + 0.5)
            rate = special.expit(special.logit(rate) + np.log(odds))
        return _Labels(self._sums(parts.likelihood), share, mean, rate)

    def _parts(
        self,
        share: PerLabel,
        mean: PerLabel,
        rate: PerLabel,
        slope: float,
        shift: float,
        width: float,
    ) -> _Parts:
        beside = (self.score - mean[self.label]) / width
        shown = beside - shift / width
        log_with = np.log(share)[self.label] + self._log_density(shown)
        log_without = np.log1p(-share)[self.label] + self._log_density(beside)
        log_with += self._log_rate(_with_odds(rate, slope))
        log_without += self._log_rate(rate)
        total = np.logaddexp(log_with, log_without)
        probability = np.exp(log_with - total)
        return _Parts(
            total,
            probability,
            probability * self._weight(shown),
            (1 - probability) * self._weight(beside),
        )

    def _log_density(self, deviate: PerSample) -> PerSample:
        """Student's log density."""
        kernel = np.log1p(deviate**2 / self.freedom)
        return np.asarray(self._constant - (self.freedom + 1) / 2 * kernel)

    @cached_property
    def _constant(self) -> float:
        """Log density at 0: the freedoms are compared by it."""
        return float(stats.t.logpdf(0, self.freedom))

    def _weight(self, deviate: PerSample) -> PerSample:
        """How much a deviate counts for a mean: far ones count for little."""
        return np.asarray((self.freedom + 1) / (self.freedom + deviate**2))

    def _log_rate(self, rate: PerLabel) -> PerSample:
        """Log-probability of the answers, each of which comes at its label's rate."""
        return np.asarray(
            np.where(self.given, np.log(rate)[self.label], np.log1p(-rate)[self.label])
        )


def _likeliest(fits: list[_Labels]) -> _Labels:
    """The likeliest fit of each label."""
    table = np.array(fits)
    best = table[:, 0].argmax(axis=0)
    return _Labels(*table[best, :, np.arange(table.shape[2])].T)


def _with_odds(rate: PerLabel, slope: float) -> PerLabel:
    """Rates whose log odds are larger by a slope."""
    return np.asarray(special.expit(special.logit(rate) + slope))
