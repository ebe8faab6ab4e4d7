"""Correlations over models, with what else could explain them: pure functions of arrays."""

from dataclasses import dataclass
from itertools import permutations
from math import factorial

import numpy as np
from jaxtyping import Float, Int

from cuescope_sdk import Cell
from cuescope_sdk.maths import correlation_interval, permutation_p_value

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

    @property
    def cells(self) -> tuple[Cell, ...]:
        """r, interval and p of a table: 0.83, "0.64 to 0.93", "0.012" or "< 0.001"."""
        p_value = "< 0.001" if self.p_value < 0.001 else f"{self.p_value:.3f}"
        return self.r, f"{self.low:.2f} to {self.high:.2f}", p_value


def correlation(
    x: Values,
    y: Values,
    rng: np.random.Generator,
    *,
    given: Values | None = None,
    strata: Int[np.ndarray, " model"] | None = None,
    draws: int = 9_999,
) -> Correlation | None:
    """Pearson's r of x and y, partial where something is `given`; None without variation.

    `strata` are groups of rows that are compared among themselves alone (benchmarks: their levels
    differ for reasons of their own): each is centred. The interval is Fisher's; p is a permutation
    test: y, or its residual (Freedman and Lane, 1983), is dealt anew within each stratum.
    """
    groups = np.zeros(len(x), int) if strata is None else strata
    spent = len(np.unique(groups)) - 1 + (given is not None)
    x_rest, y_rest = _centre(x, groups), _centre(y, groups)
    if given is not None:
        control = _centre(given, groups)
        x_rest, y_rest = _residual(x_rest, control), _residual(y_rest, control)
    scale = np.linalg.norm(x_rest) * np.linalg.norm(y_rest)
    if len(x) - spent < 4 or scale < TIE * max(1.0, float(np.abs(x).max() * np.abs(y).max())):
        return None
    r = float(x_rest @ y_rest / scale)
    p_value = permutation_p_value(
        lambda order: float(x_rest @ y_rest[order] / scale),
        _orders(groups, rng, draws),
        tie=TIE,
        exact=strata is None and factorial(len(x)) <= EXACT,
    )
    # Each stratum's mean and each control cost a degree of freedom.
    low, high = correlation_interval(r, len(x) - spent, confidence=0.95)
    return Correlation(r, low, high, p_value, len(x))


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
    for better in range(len(kept)):
        for worse in range(len(kept)):
            alike = (
                groups[better] == groups[worse]
                and abs(accuracy[better] - accuracy[worse]) <= within
            )
            if alike and grounding[better] > grounding[worse]:
                more_grounded = float(grounding[better] - grounding[worse])
                pairs.append(Pair(better, worse, more_grounded, float(kept[better] - kept[worse])))
    return pairs


def _centre(values: Values, groups: Int[np.ndarray, " model"]) -> Values:
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
