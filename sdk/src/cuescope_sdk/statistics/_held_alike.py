"""A gap among samples that are alike in something else: what else explains it is set aside."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from jaxtyping import Float
from scipy import stats

from cuescope_sdk.statistics._groups import Groups
from cuescope_sdk.statistics._shapes import BoolPerSample, PerSample

UNITS_A_LEVEL = 20
MOST_LEVELS = 10
# p-value from which on what is left is not clear; at 0.05 a tenth of what noisy sizes made stays,
# for a gap is found where chance made it larger
LEFT = 0.005
ROUNDING = 1e-9  # of a sum of squares, below which nothing is left of it


@dataclass(frozen=True)
class HeldAlike:
    """A gap, and what is left of it among samples that are alike in some conditions.

    `gap` is the mean value with less that without. `rough` is what would be left of a gap that the
    conditions made alone, had they been measured as roughly as was said; `p_value` is two-sided, of
    no more being left than that. `matters` is the p-value of the conditions telling
    nothing of the values, beyond the gap itself; `differs` that of their being alike in samples
    with and without. NaN is left where none with and without are alike.
    """

    gap: float
    left: float
    rough: float
    p_value: float
    matters: float
    differs: float

    # the share of what is measured that is no noise; the rest leaves a part of what a condition
    # explains (regression dilution; Frost and Thompson, 2000)
    RELIABILITY: ClassVar[float] = 2 / 3
    # p-value of a condition that may tell of the values: at 0.1 three times as many slip by
    MATTERS: ClassVar[float] = 0.5
    # the same of a condition that may differ between both sides: what makes a gap that is found
    # differs by nearly as many standard errors as the gap
    DIFFERS: ClassVar[float] = 0.2

    @property
    def is_clear(self) -> bool:
        """True if more is left than the conditions would leave of a gap that they made alone."""
        more = (self.left - self.rough) * np.sign(self.gap) > 0
        return bool(more and self.p_value <= LEFT)

    @property
    def goes_along(self) -> bool:
        """True if the conditions may go with what is marked: else they make no gap."""
        return self.differs <= self.DIFFERS

    @property
    def explains(self) -> bool:
        """True if the conditions may be why there is a gap: too little is left of it."""
        if np.isnan(self.left):
            return True
        matters = self.matters <= self.MATTERS
        return matters and self.goes_along and not self.is_clear


def gap_held_alike(
    values: PerSample,
    shows: BoolPerSample,
    conditions: Float[np.ndarray, "sample condition"],
    groups: Groups,
    *,
    reliability: float = HeldAlike.RELIABILITY,
) -> HeldAlike:
    """The gap between samples that `shows` marks and the others, conditions held alike.

    `reliability` is the share of the conditions' variance that is no error of measurement.

    Least squares of the values on `shows`, the levels of each condition (quantiles, of about 20
    units, at most ten) and its rank; NaN is a level of its own. A group counts once with and once
    without, and the error is robust to groups (Liang and Zeger, 1986). Some samples must be marked,
    and some not.
    """
    _, codes = np.unique(2 * groups.codes + shows, return_inverse=True)
    units = Groups(codes, int(codes.max()) + 1, declared=True)
    value = units.means(values)
    marked = units.means(shows)
    with_mean = float(value[marked == 1].mean())
    without_mean = float(value[marked == 0].mean())
    gap = with_mean - without_mean
    columns = [np.ones((units.count, 1))]
    columns += [_columns(condition) for condition in units.means(conditions).T]
    alike = _orthonormal(np.hstack(columns))
    free = units.count - alike.shape[1] - 1
    marked_left = marked - alike @ (alike.T @ marked)
    value_left = value - alike @ (alike.T @ value)
    spread = float(marked_left @ marked_left)
    if free < 1 or spread <= ROUNDING * units.count:
        return HeldAlike(gap, np.nan, gap, 1.0, 0.0, 0.0)
    left = float(marked_left @ value_left) / spread
    centred = marked - marked.mean()
    whole = float(centred @ centred)
    # noise is the larger part of a measure the more of the rest goes with what is marked
    dilution = (1 - reliability) * whole / spread
    rough = dilution * gap
    more = alike.shape[1] - 1
    differs = _differs(marked, units.means(conditions), (whole - spread) / spread, more)
    residual = value_left - left * marked_left
    unexplained = float(residual @ residual)
    of_gap = value - np.where(marked == 1, with_mean, without_mean)
    explained = float(of_gap @ of_gap) - unexplained
    # a value that is the same everywhere leaves no error, and nothing to explain
    if more == 0 or explained <= ROUNDING or unexplained <= ROUNDING:
        return HeldAlike(gap, left, rough, float(unexplained > ROUNDING), 1.0, differs)
    matters = stats.f.sf(explained / more / (unexplained / free), more, free)
    _, of_unit = np.unique(units.means(groups.codes), return_inverse=True)
    weight = marked_left / spread - dilution * centred / whole
    # residuals are small where a sample draws the fit to itself (HC3: MacKinnon and White, 1985)
    leverage = (alike**2).sum(axis=1) + marked_left**2 / spread
    scores = np.bincount(
        of_unit, weight * residual / np.maximum(1 - leverage, ROUNDING)
    )
    count = len(scores)
    error = np.sqrt(count / max(1, count - 1) * (scores @ scores))
    # the fewer of both sides tell how much that side varies
    fewer = min(int(marked.sum()), len(marked) - int(marked.sum()))
    p_value = 2 * stats.t.sf(abs(left - rough) / error, max(1, fewer - 1))
    return HeldAlike(gap, left, rough, float(p_value), float(matters), differs)


def _differs(
    marked: Float[np.ndarray, " unit"],
    conditions: Float[np.ndarray, "unit condition"],
    explained: float,
    columns: int,
) -> float:
    """The smallest p-value of conditions being alike in units that are marked and in others.

    By ranks (Mann and Whitney, 1947), and by what their `columns` explain of the marks, beside what
    they do not: a condition may be both high and low where these are.
    """
    if not columns:
        return 1.0
    free = len(marked) - columns - 1
    p_values = [float(stats.f.sf(explained / columns * free, columns, free))]
    for condition in conditions.T:
        known = ~np.isnan(condition)
        sides = condition[known & (marked == 1)], condition[known & (marked == 0)]
        if all(map(len, sides)) and np.ptp(condition[known]) > 0:
            p_values.append(float(stats.mannwhitneyu(*sides).pvalue))
    return min(p_values)


def _columns(condition: Float[np.ndarray, " unit"]) -> Float[np.ndarray, "unit column"]:
    """Which level each unit has, and its rank within all."""
    known = ~np.isnan(condition)
    ranks = np.full(len(condition), 0.5)
    levels = np.full(len(condition), -1)
    if known.any():
        # equal values share a level, and where there are two values they do not
        ranks[known] = (stats.rankdata(condition[known]) - 0.5) / known.sum()
        most = int(np.clip(known.sum() // UNITS_A_LEVEL, 2, MOST_LEVELS))
        levels[known] = (ranks[known] * most).astype(int)
    dummies = levels[:, None] == np.unique(levels)
    return np.hstack([dummies.astype(float), ranks[:, None]])


def _orthonormal(
    columns: Float[np.ndarray, "unit column"],
) -> Float[np.ndarray, "unit kept"]:
    """A basis of what the columns span; levels add up to one, so these are not independent."""
    basis, sizes, _ = np.linalg.svd(columns, full_matrices=False)
    return np.asarray(basis[:, sizes > 1e-8 * sizes[0]])
