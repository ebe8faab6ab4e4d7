"""Correlations over models, with what else could explain them: pure functions of arrays."""

from dataclasses import dataclass
from itertools import permutations
from math import factorial

import numpy as np
from jaxtyping import Float, Int
from scipy import stats

Values = Float[np.ndarray, " model"]
EXACT = 5_040  # so many orders or fewer are all tried: seven models
TIE = 1e-12


@dataclass(frozen=True, slots=True)
class Correlation:
    """Pearson's r with its interval, and how often chance gives one as large (one-sided)."""

    r: float
    low: float
    high: float
    p_value: float
    n: int


def correlation(
    x: Values,
    y: Values,
    rng: np.random.Generator,
    *,
    given: Values | None = None,
    strata: Int[np.ndarray, " model"] | None = None,
    draws: int = 9_999,
    confidence: float = 0.95,
) -> Correlation | None:
    """Pearson's r of x and y, partial where something is `given`; None without variation.

    `strata` are groups of rows that are compared among themselves alone (benchmarks: their levels
    differ for reasons of their own): each is centred. The interval is Fisher's; p is a permutation
    test: y, or its residual (Freedman and Lane, 1983), is dealt anew within each stratum.
    """
    groups = np.zeros(len(x), int) if strata is None else strata
    spent = len(np.unique(groups)) - 1 + (given is not None)
    left, right = _centred(x, groups), _centred(y, groups)
    if given is not None:
        control = _centred(given, groups)
        left, right = _residual(left, control), _residual(right, control)
    scale = np.linalg.norm(left) * np.linalg.norm(right)
    if len(x) - spent < 4 or scale < TIE * max(1.0, float(np.abs(x).max() * np.abs(y).max())):
        return None
    r = float(left @ right / scale)
    null = np.array([left @ right[order] for order in _orders(groups, rng, draws)]) / scale
    exact = strata is None and factorial(len(x)) <= EXACT
    at_least = int((null >= r - TIE).sum())
    p_value = at_least / len(null) if exact else (1 + at_least) / (1 + len(null))
    low, high = fisher_interval(r, len(x) - spent, confidence)
    return Correlation(r, low, high, p_value, len(x))


def fisher_interval(r: float, n: int, confidence: float = 0.95) -> tuple[float, float]:
    """Interval of a correlation over n independent points (Fisher, 1921)."""
    reach = stats.norm.ppf((1 + confidence) / 2) / np.sqrt(n - 3)
    middle = np.arctanh(np.clip(r, -1 + TIE, 1 - TIE))
    return float(np.tanh(middle - reach)), float(np.tanh(middle + reach))


@dataclass(frozen=True, slots=True)
class Pair:
    """Two models alike in accuracy: the first is grounded better, and keeps so much more."""

    better: int
    worse: int
    more_grounded: float
    more_kept: float


def matched_pairs(
    grounding: Values,
    kept: Values,
    accuracy: Values,
    *,
    within: float,
    strata: Int[np.ndarray, " model"] | None = None,
) -> list[Pair]:
    """All pairs of a stratum whose accuracy differs by at most `within`, in its own unit."""
    groups = np.zeros(len(kept), int) if strata is None else strata
    pairs = []
    for one in range(len(kept)):
        for other in range(len(kept)):
            alike = groups[one] == groups[other] and abs(accuracy[one] - accuracy[other]) <= within
            if alike and grounding[one] > grounding[other]:
                more = float(grounding[one] - grounding[other])
                pairs.append(Pair(one, other, more, float(kept[one] - kept[other])))
    return pairs


def _centred(values: Values, groups: Int[np.ndarray, " model"]) -> Values:
    counts = np.bincount(groups)
    means = np.bincount(groups, values) / np.maximum(counts, 1)
    return np.asarray(values - means[groups], np.float64)


def _residual(values: Values, control: Values) -> Values:
    """What a line through `control` leaves; both are centred."""
    square = float(control @ control)
    return values if square < TIE else values - control * float(control @ values) / square


def _orders(
    groups: Int[np.ndarray, " model"], rng: np.random.Generator, draws: int
) -> list[Int[np.ndarray, " model"]]:
    """Orders of the rows that keep each in its group: all of one small group, else `draws`."""
    if groups.max(initial=0) == 0 and factorial(len(groups)) <= EXACT:
        return [np.array(order) for order in permutations(range(len(groups)))]
    # Sorting by group, then by random numbers, deals the rows of each group anew.
    home = np.argsort(groups, kind="stable")
    orders = []
    for _ in range(draws):
        order = np.empty(len(groups), int)
        order[home] = np.lexsort((rng.random(len(groups)), groups))
        orders.append(order)
    return orders
