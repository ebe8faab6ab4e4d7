"""Correlations of two figures over the same things, with what else could explain them."""

from dataclasses import dataclass
from itertools import permutations
from math import factorial

import numpy as np
from jaxtyping import Float
from scipy import stats

from cuescope_sdk.statistics._groups import level_indices
from cuescope_sdk.statistics._resampling import (
    RESAMPLES,
    TIE,
    percentile_interval,
    permutation_p_value,
)
from cuescope_sdk.statistics._shapes import IntPerRow, PerItem, PerRow
from cuescope_sdk.statistics._tests import correlation_interval

FEWEST = 4  # points: the variance of Fisher's z is 1 / (n - 3) (Fisher, 1921)
EXACT = 5_040  # so many orders or fewer are all tried: seven units


@dataclass(frozen=True, slots=True)
class Correlation:
    """Pearson's r with its interval, and how often chance gives one as large (one-sided)."""

    r: float
    low: float
    high: float
    p_value: float
    n: int

    @classmethod
    def of(
        cls,
        x: PerRow,
        y: PerRow,
        rng: np.random.Generator,
        *,
        given: PerRow | None = None,
        strata: IntPerRow | None = None,
        units: IntPerRow | None = None,
        draws: int = 9_999,
    ) -> "Correlation | None":
        """Pearson's r of x and y, partial where something is `given`; None without variation.

        `strata` are rows that are compared among themselves alone, as their levels differ for
        reasons of their own: each is centred. `units` says which rows go together (the rows of one
        model over several benchmarks): they are dealt whole, and the interval and `n` count units.
        The interval is Fisher's (1921); p is a permutation test (Pitman, 1937): y, or its residual
        (Freedman and Lane, 1983), is dealt anew among units with rows in the same strata.
        """
        groups = np.zeros(len(x), int) if strata is None else strata
        # Each control costs a degree of freedom, and of single rows each stratum's mean.
        spent = int(given is not None)
        if units is None:
            spent += len(np.unique(groups)) - 1
            units = np.arange(len(x))
        rows = level_indices(units)
        count = len(rows)
        if not count:
            return None
        x_rest = _centre(x, groups)
        y_rest = _centre(y, groups)
        if given is not None:
            control = _centre(given, groups)
            x_rest = _residual(x_rest, control)
            y_rest = _residual(y_rest, control)
        orders, is_exact = _orders(groups, rows, rng, draws)
        # an order changes neither norm, so one scale serves all orders
        scale = np.linalg.norm(x_rest) * np.linalg.norm(y_rest)
        largest = float(np.abs(x).max() * np.abs(y).max())
        # what does not vary is seldom exactly 0 once centred: rounding grows with the values
        least = TIE * max(1.0, largest)
        if count - spent < FEWEST or scale < least:
            return None

        def correlation_in(order: IntPerRow) -> float:
            return float(x_rest @ y_rest[order] / scale)

        p_value = permutation_p_value(correlation_in, orders, tie=TIE, exact=is_exact)
        r = correlation_in(np.arange(len(x)))
        low, high = correlation_interval(r, count - spent)
        return cls(r, low, high, p_value, count)

    @staticmethod
    def pearson_interval(first: PerItem, second: PerItem) -> tuple[float, float, float]:
        """Pearson's r (1895) of independent items, with its interval (Fisher, 1921).

        Fewer than four items tell nothing: their interval is from -1 to 1. Raises ValueError for
        fewer than two; r is NaN where one of the two does not vary.
        """
        r = float(stats.pearsonr(first, second).statistic)
        count = len(first)
        if count < FEWEST:
            return r, -1.0, 1.0
        low, high = correlation_interval(r, count)
        return r, low, high

    @staticmethod
    def spearman(first: PerItem, second: PerItem) -> float:
        """Spearman's rho (1904). NaN where one of the two does not vary."""
        return float(stats.spearmanr(first, second).statistic)

    @staticmethod
    def spearman_interval(
        levels: Float[np.ndarray, " level"],
        values: Float[np.ndarray, "level repeat"],
        rng: np.random.Generator,
        *,
        confidence: float = 0.95,
        resamples: int = RESAMPLES,
    ) -> tuple[float, float, float]:
        """Spearman's rho (1904) of values with their levels, with its percentile interval.

        Each level's repeats are drawn anew among themselves (Efron, 1979), for levels are chosen,
        not drawn.
        """
        repeats = values.shape[1]
        draws = rng.integers(repeats, size=(resamples, *values.shape))
        # Repeats change places within their level, so every draw has all levels.
        resampled = np.take_along_axis(values[None], draws, axis=2)
        # The data are the first row, so that they and their draws are ranked alike.
        rows = np.concatenate([values[None], resampled]).reshape(resamples + 1, -1)
        centred = stats.rankdata(np.repeat(levels, repeats))
        centred -= centred.mean()
        ranks = stats.rankdata(rows, axis=1)
        ranks -= ranks.mean(axis=1, keepdims=True)
        scale = np.sqrt((centred @ centred) * (ranks**2).sum(axis=1))
        correlation = ranks @ centred / scale
        low, high = percentile_interval(correlation[1:], confidence)
        return float(correlation[0]), low, high


def _centre(values: PerRow, groups: IntPerRow) -> PerRow:
    sizes = np.maximum(np.bincount(groups), 1)
    means = np.bincount(groups, values) / sizes
    return np.asarray(values - means[groups], np.float64)


def _residual(values: PerRow, control: PerRow) -> PerRow:
    """Residual of a line through `control`; both are centred."""
    square = float(control @ control)
    return (
        # a control that does not vary explains nothing
        values if square < TIE else values - control * float(control @ values) / square
    )


def _orders(
    strata: IntPerRow,
    units: list[np.ndarray],
    rng: np.random.Generator,
    draws: int,
) -> tuple[list[IntPerRow], bool]:
    """Orders of the rows that deal whole units, and whether these are all orders there are.

    A unit changes places with units that have as many rows in the same strata.
    """
    shapes: dict[tuple[int, ...], list[np.ndarray]] = {}
    for unit in units:
        # by stratum, so that each dealt row takes the place of one of its own stratum
        rows = unit[np.argsort(strata[unit], kind="stable")]
        shape = tuple(strata[rows].tolist())
        shapes.setdefault(shape, []).append(rows)
    # Of each shape a row a unit: what is dealt are these rows.
    blocks = [np.stack(members) for members in shapes.values()]
    # the orders of several shapes multiply, so they are drawn
    is_exact = len(blocks) == 1 and factorial(len(units)) <= EXACT
    orders = []
    if is_exact:
        for dealt in permutations(blocks[0]):
            order = np.empty_like(strata)
            order[blocks[0]] = dealt
            orders.append(order)
        return orders, True
    for _ in range(draws):
        order = np.empty_like(strata)
        for block in blocks:
            order[block] = rng.permutation(block)
        orders.append(order)
    return orders, False
