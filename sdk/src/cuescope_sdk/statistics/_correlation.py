"""Correlations of two figures over the same things, with what else could explain them."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import permutations
from math import factorial

import numpy as np
from jaxtyping import Int
from scipy import stats

from cuescope_sdk.statistics._resampling import permutation_p_value
from cuescope_sdk.statistics._shapes import IntPerRow, PerItem, PerRow
from cuescope_sdk.statistics._tests import correlation_interval

FEWEST = 4  # points, from which on Fisher's interval has a width
EXACT = 5_040  # so many orders or fewer are all tried: seven units
TIE = 1e-12


@dataclass(frozen=True, slots=True)
class Correlation:
    """Pearson's r with its interval, and how often chance gives one as large (one-sided)."""

    r: float
    low: float
    high: float
    p_value: float
    n: int


def pearson_interval(first: PerItem, second: PerItem) -> tuple[float, float, float]:
    """Pearson's r (1895) of independent items, with its interval (Fisher, 1921).

    Fewer than four items tell nothing: their interval is from -1 to 1. Raises ValueError for fewer
    than two; r is NaN where one of the two does not vary.
    """
    r = float(stats.pearsonr(first, second).statistic)
    count = len(first)
    if count < FEWEST:
        return r, -1.0, 1.0
    low, high = correlation_interval(r, count)
    return r, low, high


def correlation(
    x: PerRow,
    y: PerRow,
    rng: np.random.Generator,
    *,
    given: PerRow | None = None,
    strata: IntPerRow | None = None,
    units: IntPerRow | None = None,
    draws: int = 9_999,
) -> Correlation | None:
    """Pearson's r of x and y, partial where something is `given`; None without variation.

    `strata` are rows that are compared among themselves alone, as their levels differ for reasons
    of their own: each is centred. `units` says which rows go together (the rows of one model over
    several benchmarks): they are dealt whole, and the interval and `n` count units. The interval is
    Fisher's (1921); p is a permutation test (Pitman, 1937): y, or its residual (Freedman and Lane,
    1983), is dealt anew among units with rows in the same strata.
    """
    groups = np.zeros(len(x), int) if strata is None else strata
    whole = np.arange(len(x)) if units is None else np.unique(units, return_inverse=True)[1]
    orders, count, every = _orders(groups, whole.ravel(), rng, draws)
    spent = int(given is not None)
    if units is None:
        spent += len(np.unique(groups)) - 1
    x_rest = _centre(x, groups)
    y_rest = _centre(y, groups)
    if given is not None:
        control = _centre(given, groups)
        x_rest = _residual(x_rest, control)
        y_rest = _residual(y_rest, control)
    scale = np.linalg.norm(x_rest) * np.linalg.norm(y_rest)
    if count - spent < 4 or scale < TIE * max(1.0, float(np.abs(x).max() * np.abs(y).max())):
        return None
    r = float(x_rest @ y_rest / scale)
    p_value = permutation_p_value(
        lambda order: float(x_rest @ y_rest[order] / scale), orders, tie=TIE, exact=every
    )
    # Each control costs a degree of freedom, and of single rows each stratum's mean.
    low, high = correlation_interval(r, count - spent, confidence=0.95)
    return Correlation(r, low, high, p_value, count)


def _centre(values: PerRow, groups: IntPerRow) -> PerRow:
    counts = np.bincount(groups)
    means = np.bincount(groups, values) / np.maximum(counts, 1)
    return np.asarray(values - means[groups], np.float64)


def _residual(values: PerRow, control: PerRow) -> PerRow:
    """What a line through `control` leaves; both are centred."""
    square = float(control @ control)
    return values if square < TIE else values - control * float(control @ values) / square


def _orders(
    strata: IntPerRow, units: IntPerRow, rng: np.random.Generator, draws: int
) -> tuple[list[IntPerRow], int, bool]:
    """Orders of the rows that deal whole units, how many units there are, and if these are all.

    A unit changes places with units that have as many rows in the same strata.
    """
    rows = [np.flatnonzero(units == unit) for unit in range(int(units.max(initial=-1)) + 1)]
    rows = [of[np.argsort(strata[of], kind="stable")] for of in rows]
    shapes: dict[tuple[int, ...], list[int]] = {}
    for unit, of in enumerate(rows):
        shapes.setdefault(tuple(strata[of].tolist()), []).append(unit)
    # Of each shape a row a unit: what is dealt are these rows.
    blocks = [np.stack([rows[unit] for unit in members]) for members in shapes.values()]

    def order(dealt: Sequence[Int[np.ndarray, " some"]]) -> IntPerRow:
        out = np.empty(len(units), int)
        for block, others in zip(blocks, dealt, strict=True):
            out[block] = block[others]
        return out

    if len(blocks) == 1 and factorial(len(rows)) <= EXACT:
        every = permutations(range(len(rows)))
        return [order([np.array(each)]) for each in every], len(rows), True
    dealt = ([rng.permutation(len(block)) for block in blocks] for _ in range(draws))
    return [order(each) for each in dealt], len(rows), False
