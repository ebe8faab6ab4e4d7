"""Change of each label's accuracy where a cue is shown: one hierarchical model over all labels.

Whether a sample shows the cue is a probability. A draw of it is one completed data set, and the
posteriors of several are pooled (multiple imputation; Rubin, 1987). Where the recogniser reads the
model's own embedding this is exact, because the answer is a function of what the probability
conditions on; as an error in a variable it would be corrected twice. A recogniser that was taught
by few samples sees less than the model does: there the answer tells who shows the cue as well, and
each completed data set is drawn with it (data augmentation; Tanner and Wong, 1987).
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from jaxtyping import Float
from numpy.random import Generator
from scipy import special, stats

from cuescope_sdk.statistics._groups import Groups
from cuescope_sdk.statistics._shapes import IntPerSample, PerSample

PerLabel = Float[np.ndarray, " label"]
PerDraw = Float[np.ndarray, " draw"]

# on the logit scale: the scale of the Cauchy prior of a logistic regression's coefficient (Gelman
# and others, 2008), which leaves large effects alone, and the mean of rstanarm's prior of a spread
# over groups (Goodrich and others, 2024)
SLOPE = 2.5
SPREAD = 1.0
INTERCEPT = 5.0  # weak: an accuracy from 0.005% to 99.995% lies within two of it
IMPUTATIONS = 10  # Rubin (1987): more than ten change an interval by under 5%
DRAWS = 400  # of each
# of data augmentation: from 5 to 20 change no interval's width in test_label_effects.py
ROUNDS = 10
STEPS = 50
STEP = 2.0  # largest change of a logit at once: plain Newton may leave the scale
TOLERANCE = 1e-6
TINY = 1e-300
LEAST_RATE = 1e-12  # a rate of 0 has no logit


@dataclass(frozen=True, eq=False)
class LabelEffects:
    """Posterior draws of each label's accuracy without a cue and with it, and of the shared slope.

    `slope` is the log odds of a correct answer that the cue adds, where it draws samples to another
    label's answer negative for their own.
    """

    without: Float[np.ndarray, "draw label"]
    shown: Float[np.ndarray, "draw label"]
    slope: PerDraw

    @classmethod
    def of(
        cls,
        shows: PerSample,
        correct: PerSample,
        label: IntPerSample,
        sign: PerLabel,
        groups: Groups,
        rng: Generator,
        *,
        answers_tell: bool = False,
    ) -> "LabelEffects":
        """Effects of a cue that each sample shows with a probability, 0 to 1.

        `sign` is 1 for labels whose accuracy the cue would raise, -1 for those that it would lower.
        Logistic model: an intercept a label, a shared slope with a Cauchy prior, normal spread of
        slopes over labels; Laplace's approximation. Groups of samples that were drawn together
        count as fewer: the likelihood is tempered by their design effect (Pauli, Racugno and
        Ventura, 2011). With `answers_tell` a probability does not hold all that the model sees of
        the cue.
        """
        count = len(sign)
        weight = _weights(correct, label, count, groups)
        is_known = not answers_tell and bool(np.isin(shows, (0, 1)).all())
        parts = []
        posterior = None
        for _ in range(IMPUTATIONS):
            is_shown = rng.random(len(shows)) < shows
            # where it is known who shows the cue, all completed data sets are one
            if posterior is None or not is_known:
                cells = _Cells.of(is_shown, correct, label, weight)
                posterior = cells.posterior(sign)
            for _ in range(ROUNDS if answers_tell else 0):
                chance = _given_answers(shows, correct, label, posterior, sign, rng)
                is_shown = rng.random(len(shows)) < chance
                cells = _Cells.of(is_shown, correct, label, weight)
                posterior = cells.posterior(sign)
            parts.append(posterior.draw(sign, rng))
        without, shown, slope = (
            np.concatenate(draws) for draws in zip(*parts, strict=True)
        )
        return cls(without, shown, slope)

    @cached_property
    def change(self) -> Float[np.ndarray, "draw label"]:
        """Accuracy with the cue minus accuracy without it, -1 to 1."""
        return np.asarray(self.shown - self.without)

    @property
    def value(self) -> PerLabel:
        """The median change of each label."""
        return np.asarray(np.median(self.change, axis=0))

    def interval(self, confidence: float) -> tuple[PerLabel, PerLabel]:
        """The central interval of each label's change."""
        tail = (1 - confidence) / 2
        low, high = np.quantile(self.change, [tail, 1 - tail], axis=0)
        return low, high

    @property
    def accuracy_without(self) -> PerLabel:
        """The median accuracy of each label where the cue is not shown."""
        return np.asarray(np.median(self.without, axis=0))

    @property
    def accuracy_with(self) -> PerLabel:
        """The median accuracy of each label where the cue is shown."""
        return np.asarray(np.median(self.shown, axis=0))

    @cached_property
    def label_p_value(self) -> PerLabel:
        """Two-sided p-value of no change of each label's accuracy, by its log odds."""
        with_it, without = (
            special.logit(np.clip(rate, LEAST_RATE, 1 - LEAST_RATE))
            for rate in (self.shown, self.without)
        )
        change = with_it - without
        return np.asarray(
            2 * stats.norm.sf(np.abs(change.mean(axis=0) / change.std(axis=0)))
        )

    @property
    def z(self) -> float:
        """The shared slope in its standard deviations; positive where the cue draws its answer."""
        spread = float(self.slope.std())
        return float(self.slope.mean()) / spread if spread > 0 else 0.0

    @property
    def p_value(self) -> float:
        """Two-sided p-value of no shared slope."""
        return float(2 * stats.norm.sf(abs(self.z)))


def _given_answers(
    shows: PerSample,
    correct: PerSample,
    label: IntPerSample,
    posterior: "_Posterior",
    sign: PerLabel,
    rng: Generator,
) -> PerSample:
    """Probability of each sample to show the cue, its answer known, at a draw of accuracies."""
    without, shown, _ = posterior.draw(sign, rng)
    rates = (
        np.where(correct > 0, rate[0][label], 1 - rate[0][label])
        for rate in (shown, without)
    )
    likely, unlikely = (
        share * rate for share, rate in zip((shows, 1 - shows), rates, strict=True)
    )
    return np.asarray(likely / np.maximum(likely + unlikely, TINY))


def _weights(
    correct: PerSample, label: IntPerSample, count: int, groups: Groups
) -> PerLabel:
    """One over the design effect of each label's groups."""
    weight = np.ones(count)
    if groups.all_single:
        return weight
    for code in np.unique(label):
        mine = label == code
        weight[code] = 1 / groups.take(mine).design_effect(correct[mine])
    return weight


@dataclass(frozen=True, eq=False)
class _Cells:
    """Samples and correct ones of each label, without the cue (first column) and with it."""

    samples: Float[np.ndarray, "label side"]
    correct: Float[np.ndarray, "label side"]

    @classmethod
    def of(
        cls,
        is_shown: np.ndarray,
        correct: PerSample,
        label: IntPerSample,
        weight: PerLabel,
    ) -> "_Cells":
        cell = 2 * label + is_shown
        shape = len(weight), 2
        samples = np.bincount(cell, minlength=2 * len(weight)).reshape(shape)
        right = np.bincount(cell, correct, minlength=2 * len(weight)).reshape(shape)
        return cls(samples * weight[:, None], right * weight[:, None])

    def posterior(self, sign: PerLabel) -> "_Posterior":
        """The mode and curvature of the posterior, by Newton's method.

        Parameters are each label's logit without the cue and slope, and the shared slope. Labels
        meet only in the last one, so each step solves two equations a label (Schur complement).
        """
        intercept = np.zeros(len(sign))
        slope = np.zeros(len(sign))
        shared = 0.0
        for _ in range(STEPS):
            point = self._at(intercept, slope, shared, sign)
            steps = point.newton()
            largest = max(float(np.abs(step).max()) for step in steps)
            shrink = min(1.0, STEP / max(largest, TOLERANCE))
            intercept = intercept + shrink * steps[0]
            slope = slope + shrink * steps[1]
            shared += shrink * float(steps[2])
            if largest < TOLERANCE:
                break
        return self._at(intercept, slope, shared, sign)

    def _at(
        self, intercept: PerLabel, slope: PerLabel, shared: float, sign: PerLabel
    ) -> "_Posterior":
        logit = np.stack([intercept, intercept + sign * slope], axis=1)
        rate = special.expit(logit)
        residual = self.correct - self.samples * rate
        curvature = self.samples * rate * (1 - rate)
        return _Posterior(
            intercept,
            slope,
            shared,
            gradient_intercept=residual.sum(axis=1) - intercept / INTERCEPT**2,
            gradient_slope=sign * residual[:, 1] - (slope - shared) / SPREAD**2,
            both=curvature.sum(axis=1) + 1 / INTERCEPT**2,
            cross=sign * curvature[:, 1],
            own=curvature[:, 1] + 1 / SPREAD**2,
        )


@dataclass(frozen=True, eq=False)
class _Posterior:
    """A point, the gradient there, and the precision: two by two a label, beside the shared slope.

    `both` and `own` are the precisions of intercepts and slopes, `cross` what they have in common.
    """

    intercept: PerLabel
    slope: PerLabel
    shared: float
    gradient_intercept: PerLabel
    gradient_slope: PerLabel
    both: PerLabel
    cross: PerLabel
    own: PerLabel

    @property
    def _determinant(self) -> PerLabel:
        return np.asarray(self.both * self.own - self.cross**2)

    @property
    def _slope_variance(self) -> PerLabel:
        """Of each label's slope, given the shared one."""
        return np.asarray(self.both / self._determinant)

    @property
    def _prior_precision(self) -> float:
        """Of the normal distribution that stands for the Cauchy prior here, as in EM."""
        return float(2 / (SLOPE**2 + self.shared**2))

    @property
    def _shared_precision(self) -> float:
        """Of the shared slope, with labels' own integrated out."""
        count = len(self.slope)
        prior = self._prior_precision + count / SPREAD**2
        return float(prior - self._slope_variance.sum() / SPREAD**4)

    def newton(self) -> tuple[PerLabel, PerLabel, np.ndarray]:
        """The step to the mode of the quadratic approximation."""
        determinant = self._determinant
        first = self.own * self.gradient_intercept - self.cross * self.gradient_slope
        second = self.both * self.gradient_slope - self.cross * self.gradient_intercept
        first, second = first / determinant, second / determinant
        pull = (self.slope - self.shared).sum() / SPREAD**2
        gradient = pull - self.shared * self._prior_precision
        step = (gradient + second.sum() / SPREAD**2) / self._shared_precision
        # a moved shared slope moves each label's parameters along
        first = first - self.cross / determinant / SPREAD**2 * step
        second = second + self._slope_variance / SPREAD**2 * step
        return first, second, np.asarray(step)

    def draw(
        self, sign: PerLabel, rng: Generator
    ) -> tuple[
        Float[np.ndarray, "draw label"], Float[np.ndarray, "draw label"], PerDraw
    ]:
        """Accuracies without the cue and with it, and shared slopes."""
        shape = DRAWS, len(sign)
        moved = rng.standard_normal(DRAWS) / np.sqrt(self._shared_precision)
        own = np.sqrt(self._slope_variance) * rng.standard_normal(shape)
        own += self._slope_variance / SPREAD**2 * moved[:, None]
        # of the intercept given the slope
        logit = rng.standard_normal(shape) / np.sqrt(self.both)
        logit += self.intercept - self.cross / self.both * own
        shown = logit + sign * (self.slope + own)
        return special.expit(logit), special.expit(shown), self.shared + moved
