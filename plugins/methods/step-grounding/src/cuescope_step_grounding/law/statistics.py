"""Correlations over models, with what else could explain them: pure functions of arrays."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import permutations
from math import factorial

import numpy as np
from jaxtyping import Float, Int

from cuescope_sdk import Cell
from cuescope_sdk.statistics import correlation_interval, permutation_p_value

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
    models: Int[np.ndarray, " model"] | None = None,
    draws: int = 9_999,
) -> Correlation | None:
    """Pearson's r of x and y, partial where something is `given`; None without variation.

    `strata` are groups of rows that are compared among themselves alone (benchmarks: their levels
    differ for reasons of their own): each is centred. `models` says which rows are of one model:
    what makes it robust on one benchmark makes it robust on the next, so its rows are dealt whole,
    and the interval and `n` count models. The interval is Fisher's; p is a permutation test: y, or
    its residual (Freedman and Lane, 1983), is dealt anew among models with the same benchmarks.
    """
    groups = np.zeros(len(x), int) if strata is None else strata
    whole = np.arange(len(x)) if models is None else np.unique(models, return_inverse=True)[1]
    orders, count, every = _orders(groups, whole.ravel(), rng, draws)
    spent = int(given is not None)
    if models is None:
        spent += len(np.unique(groups)) - 1
    x_rest, y_rest = _centre(x, groups), _centre(y, groups)
    if given is not None:
        control = _centre(given, groups)
        x_rest, y_rest = _residual(x_rest, control), _residual(y_rest, control)
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
    strata: Int[np.ndarray, " model"],
    models: Int[np.ndarray, " model"],
    rng: np.random.Generator,
    draws: int,
) -> tuple[list[Int[np.ndarray, " model"]], int, bool]:
    """Orders of the rows that deal whole models, how many models there are, and if these are all.

    A model changes places with models that have as many rows in the same strata.
    """
    rows = [np.flatnonzero(models == model) for model in range(int(models.max(initial=-1)) + 1)]
    rows = [of[np.argsort(strata[of], kind="stable")] for of in rows]
    shapes: dict[tuple[int, ...], list[int]] = {}
    for model, of in enumerate(rows):
        shapes.setdefault(tuple(strata[of].tolist()), []).append(model)
    # Of each shape a row a model: what is dealt are these rows.
    blocks = [np.stack([rows[model] for model in members]) for members in shapes.values()]

    def order(dealt: Sequence[Int[np.ndarray, " some"]]) -> Int[np.ndarray, " model"]:
        out = np.empty(len(models), int)
        for block, others in zip(blocks, dealt, strict=True):
            out[block] = block[others]
        return out

    if len(blocks) == 1 and factorial(len(rows)) <= EXACT:
        every = permutations(range(len(rows)))
        return [order([np.array(each)]) for each in every], len(rows), True
    dealt = ([rng.permutation(len(block)) for block in blocks] for _ in range(draws))
    return [order(each) for each in dealt], len(rows), False
