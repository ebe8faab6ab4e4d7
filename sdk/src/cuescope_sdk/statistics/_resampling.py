"""Bootstraps and permutations: intervals and p-values from random draws.

Each function takes its numbers from the generator in the same order whatever it holds in memory at
a time, so a seed gives the same interval on every machine.
"""

from collections.abc import Callable, Sequence

import numpy as np
from jaxtyping import Float, Int, Shaped
from numpy.random import Generator
from scipy import special, stats

from cuescope_sdk.statistics._groups import Groups, level_indices
from cuescope_sdk.statistics._shapes import IntPerSample, PerDraw

AT_ONCE = 4_000_000  # numbers of a draw that are in memory together
# of a bootstrap, as Efron and Tibshirani (1993, chapter 14) draw, and deals of a permutation
RESAMPLES = 2000
TIE = 1e-9  # the same terms add up otherwise in another order


def portions(total: int, width: int) -> list[int]:
    """Numbers of rows of `width` that are drawn together: `total` in all, within AT_ONCE numbers.

    >>> portions(10, AT_ONCE // 4)
    [4, 4, 2]
    """
    # Small integers are cut from words of 32 bits. Multiples of four rows end at a word, so that
    # how a draw is cut into portions does not change what is drawn.
    step = max(4, AT_ONCE // width // 4 * 4)
    return [min(step, total - start) for start in range(0, total, step)]


# ----------------------------------------------------------------------------------- bootstraps


class Bootstrap:
    """Draws of whole groups with replacement (Efron, 1979)."""

    @staticmethod
    def bca_interval(
        figure: Callable[[IntPerSample], float | None],
        groups: Groups,
        rng: Generator,
        *,
        confidence: float = 0.95,
        resamples: int = 2000,
    ) -> tuple[float, float] | None:
        """Bias-corrected, accelerated bootstrap (Efron, 1987) of whole groups, for what is no mean.

        `figure` takes the indices of the drawn samples. None where it has no value for the samples
        themselves; draws and omissions without one are left out.
        """
        value = figure(np.arange(len(groups.codes)))
        if value is None or groups.count < 2:
            return None
        members = level_indices(groups.codes)
        resampled = []
        for draw in rng.integers(groups.count, size=(resamples, groups.count)):
            samples = np.concatenate([members[code] for code in draw])
            resampled.append(figure(samples))
        omitted = [
            figure(np.flatnonzero(groups.codes != code)) for code in range(groups.count)
        ]
        figures = _drop_missing(resampled)
        jackknife = _drop_missing(omitted)
        if not len(figures) or not len(jackknife):
            return None
        # ties count half, or a figure of few distinct values would look biased
        below = ((figures < value).mean() + (figures <= value).mean()) / 2
        # ndtri is infinite at 0 and 1
        least = 1 / (len(figures) + 1)
        bias = special.ndtri(np.clip(below, least, 1 - least))
        residuals = jackknife.mean() - jackknife
        spread = float((residuals**2).sum())
        skew = float((residuals**3).sum())
        # 0: whichever group is left out, the figure is the same
        acceleration = skew / (6 * spread**1.5) if spread > 0 else 0.0
        # groups are few: the percentiles are widened as Student's t is (Hesterberg, 2015)
        freedom = groups.count - 1
        quantile = stats.t.ppf((1 + confidence) / 2, freedom)
        reach = quantile * np.sqrt(groups.count / freedom)
        ends = bias + np.array([-reach, reach])
        shares = special.ndtr(bias + ends / (1 - acceleration * ends))
        low, high = np.quantile(figures, shares)
        # the shift by bias and skewness may leave the figure itself outside
        return min(float(low), value), max(float(high), value)


def _drop_missing(figures: list[float | None]) -> Float[np.ndarray, " draw"]:
    return np.array([figure for figure in figures if figure is not None])


def percentile_interval(figures: PerDraw, confidence: float) -> tuple[float, float]:
    """Percentile bootstrap interval (Efron, 1979).

    Draws that have no value (NaN) are left out. Raises ValueError where none has.
    """
    figures = figures[~np.isnan(figures)]
    if not len(figures):
        raise ValueError(
            "expected draws with a value, got none: draw more, or of more samples"
        )
    tail = (1 - confidence) / 2
    low, high = np.quantile(figures, (tail, 1 - tail)).tolist()
    return low, high


# ---------------------------------------------------------------------------------- permutations


def monte_carlo_p_value(reached: int, draws: int) -> float:
    """P-value of the draws, the data itself among them (Davison and Hinkley, 1997, eq. 4.11)."""
    # The data is one of the equally likely draws, so no p-value is 0 (Phipson and Smyth, 2010).
    return (1 + reached) / (1 + draws)


def stratified_orders(
    stratum: Shaped[np.ndarray, " sample"],
    draws: int,
    rng: Generator,
) -> Int[np.ndarray, "draw sample"]:
    """Random orders of samples that change places within their stratum (Pitman, 1937)."""
    orders = np.empty((draws, len(stratum)), dtype=int)
    for members in level_indices(stratum):
        orders[:, members] = rng.permuted(np.tile(members, (draws, 1)), axis=1)
    return orders


def permutation_p_value(
    statistic: Callable[[IntPerSample], float],
    orders: Sequence[IntPerSample],
    *,
    tie: float = 1e-9,
    exact: bool = False,
) -> float:
    """One-sided p-value of a statistic of samples in their order, among `orders` of them.

    `exact` says that these are all orders there are. What is lower by `tie` counts as equal.
    """
    observed = statistic(np.arange(len(orders[0]))) - tie
    reached = sum(bool(statistic(order) >= observed) for order in orders)
    if exact:  # among all orders is the observed one, which is not counted twice
        return reached / len(orders)
    return monte_carlo_p_value(reached, len(orders))
