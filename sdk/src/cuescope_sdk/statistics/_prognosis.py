"""A gap with everything held alike that samples look like: what else goes with it is set aside."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int
from numpy.random import Generator

from cuescope_sdk.maths import on_one_thread
from cuescope_sdk.statistics._estimate import NORMAL, Estimate
from cuescope_sdk.statistics._groups import Groups
from cuescope_sdk.statistics._shapes import BoolPerSample, PerSample

FOLDS = 5
STEEPEST = 3.0  # a slope above it is told by next to nothing
LEAST = 10  # samples of a stratum on each side: fewer tell nothing
RARE = 0.01  # of samples without the thing: what is further out, nobody has seen without it
HELD = 0.999  # of the variance of looks, by the directions that are kept
DRAWS = 200  # of the model, by which its own error is told
Rows = Float[np.ndarray, "sample dim"]
Strata = Int[np.ndarray, " sample"]
Scores = Float[np.ndarray, "sample *draw"]


@dataclass(frozen=True)
class PrognosticGap:
    """Mean value of samples that show something, less that of others, in some strata: -1 to 1.

    `plain` is that gap, `alike` what is left of it where samples are held alike in what they would
    be worth without it.
    """

    plain: Estimate[float]
    alike: Estimate[float]
    n: int

    @property
    def bias(self) -> float:
        """Standard deviation of what hidden confounders leave in `alike`.

        They are as strong as those that were adjusted for (Altonji, Elder and Taber, 2005).
        """
        return abs(self.plain.value - self.alike.value)

    @property
    def robustness(self) -> float:
        """How strong something unseen has to be for no gap to be left, 0 to 1.

        The share of the variance, of what shows and of values, that it has to explain (Cinelli and
        Hazlett, 2020, equation 20), by `alike` and `n` samples.
        """
        error = (self.alike.high - self.alike.low) / 2 / NORMAL
        squared = (self.alike.value / error) ** 2 / max(self.n, 1)
        return float((np.sqrt(squared**2 + 4 * squared) - squared) / 2)


@on_one_thread
def prognostic_gap(
    values: PerSample,
    shows: BoolPerSample,
    strata: Strata,
    looks: Rows,
    groups: Groups,
    rng: Generator,
    own: BoolPerSample | None = None,
) -> PrognosticGap | None:
    """The gap within strata, and what is left of it beyond the prognostic score (95%).

    The prognostic score of a sample is the value that it would have without the thing, told by its
    `looks`: a model of samples that do not show it (Hansen, 2008). What else moves values stands in
    these too, so nobody has to name it. What only samples with the thing look like has no part in
    it. Here it is a ridge regression whose penalty is chosen by the evidence (MacKay, 1992), of
    groups that the sample is none of. Its own error is in the interval. It does not go beyond what
    it says of samples without the thing: a red picture is not worth a hundred times what a red spot
    is (King and Zeng, 2006, on counterfactuals that are too far from all that was seen).

    The gap is that of the strata that `own` marks, each drawn to all others as far as they are
    alike (`Estimate.drawn_together`). Values are shares, 0 to 1 or 0 to -1. None where no such
    stratum has ten samples of each side.
    """
    kept = _in_full_strata(shows, strata)
    own = kept if own is None else kept & own
    if not own.any():
        return None
    sides = _Sides(values[kept], shows[kept], strata[kept], groups.take(kept))
    names = set(np.unique(strata[own]).tolist())
    plain = sides.gap(sides.values, names)
    rows = sides.less_those_without(looks[kept])
    # what is alike in all tells nothing
    spread = rows.std(axis=0)
    telling = spread > 0
    if not telling.any():
        return PrognosticGap(plain, plain, int(own.sum()))
    rows = _main_directions(rows[:, telling] / spread[telling])
    expected, error = sides.prognosis(rows, names, rng)
    alike = sides.gap(sides.values - expected, names)
    reach = NORMAL * error
    # how sure the prognosis is has nothing to do with how sure the mean of what is left is
    down = float(np.hypot(alike.value - alike.low, reach))
    up = float(np.hypot(alike.high - alike.value, reach))
    figures = np.array([alike.value, alike.value - down, alike.value + up])
    alike = Estimate(*figures.clip(-1, 1).tolist())
    return PrognosticGap(plain, alike, int(own.sum()))


@dataclass(frozen=True)
class _Sides:
    """Samples with the thing and without it, in strata that have both."""

    values: PerSample
    shows: BoolPerSample
    strata: Strata
    groups: Groups

    def gap(self, values: PerSample, names: set[int]) -> Estimate[float]:
        """The mean gap of some strata, each drawn to all."""
        by_stratum = dict(self._gaps(values))
        own = [name in names for name in by_stratum]
        return Estimate.drawn_together(list(by_stratum.values()), own)

    def _gaps(self, values: PerSample) -> Iterator[tuple[int, Estimate[float]]]:
        for name in np.unique(self.strata).tolist():
            inside = self.strata == name
            one_stratum = np.zeros(int(inside.sum()), int)
            groups = self.groups.take(inside)
            gap = Estimate.within(
                values[inside], self.shows[inside], one_stratum, groups
            )
            if gap is not None:
                yield name, gap

    def less_those_without(self, rows: Rows) -> Rows:
        """Rows less the mean of those of their stratum that lack the thing."""
        centred = rows.astype(float)
        for name in np.unique(self.strata):
            inside = self.strata == name
            centred[inside] -= rows[inside & ~self.shows].mean(axis=0)
        return centred

    def prognosis(
        self,
        rows: Rows,
        names: set[int],
        rng: Generator,
    ) -> tuple[PerSample, float]:
        """What each sample would be worth without the thing, by a model of other groups.

        Less the mean of its stratum without it. And the standard error of what this says of the
        gap.
        """
        from sklearn.linear_model import BayesianRidge

        centred = self.less_those_without(self.values[:, None])[:, 0]
        own = np.isin(self.strata, list(names))
        folds = self.groups.folds(FOLDS, rng)
        scores = np.zeros(len(rows))
        models = []
        for fold in range(FOLDS):
            learned = ~self.shows & (folds != fold)
            # of one source, or answers that are all alike, nothing is told
            if learned.sum() < LEAST or np.ptp(centred[learned]) == 0:
                continue
            model = BayesianRidge(fit_intercept=False)
            model.fit(rows[learned], centred[learned])
            scores[folds == fold] = rows[folds == fold] @ model.coef_
            models.append(model)
        errors = []
        for model in models:
            # of the posterior: directions that few samples without the thing have are unsure
            drawn = rng.multivariate_normal(
                model.coef_,
                model.sigma_,
                DRAWS,
                check_valid="ignore",
                method="eigh",
            )
            worth = self._within_what_is_seen(rows @ drawn.T)
            errors.append(worth[own & self.shows].mean(axis=0).std())
        slope = _calibration_slope(scores[~self.shows], centred[~self.shows])
        scores = self._within_what_is_seen(scores)
        return slope * scores, slope * float(np.mean(errors or [0.0]))

    def _within_what_is_seen(self, scores: Scores) -> Scores:
        """No score is further out than those of samples without the thing, but for a few."""
        low, high = np.quantile(scores[~self.shows], [RARE, 1 - RARE], axis=0)
        return np.asarray(scores.clip(low, high))


def _main_directions(rows: Rows) -> Float[np.ndarray, "sample kept"]:
    """Rows by the directions that hold nearly all of their variance.

    A ridge regression is the same in any directions, and draws what the others tell to nothing.
    """
    is_wide = len(rows) < rows.shape[1]
    # of a hundred pictures' ten thousand figures the small product has the same variances
    variances, axes = np.linalg.eigh(rows @ rows.T if is_wide else rows.T @ rows)
    # the largest come last
    held = np.cumsum(variances[::-1]) / variances.sum()
    count = int(np.searchsorted(held, HELD)) + 1
    kept = axes[:, -count:]
    if is_wide:
        return np.asarray(kept * np.sqrt(variances[-count:]))
    return np.asarray(rows @ kept)


def _calibration_slope(scores: PerSample, values: PerSample) -> float:
    """By what scores of other groups' models have to be taken times (Cox, 1958; Copas, 1983).

    Above 1 where few of many figures tell, and the penalty draws them to 0. 0 where they tell
    nothing.
    """
    power = float(scores @ scores)
    if power == 0:
        return 0.0
    return float(np.clip(scores @ values / power, 0, STEEPEST))


def _in_full_strata(shows: BoolPerSample, strata: Strata) -> BoolPerSample:
    kept = np.zeros(len(shows), bool)
    for name in np.unique(strata):
        inside = strata == name
        if min((inside & shows).sum(), (inside & ~shows).sum()) >= LEAST:
            kept |= inside
    return kept
