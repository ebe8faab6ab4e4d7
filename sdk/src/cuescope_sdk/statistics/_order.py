"""Do neighbours in an order agree? Samples of one source often stand side by side."""

import numpy as np

from cuescope_sdk.statistics._groups import level_indices
from cuescope_sdk.statistics._resampling import (
    TIE,
    monte_carlo_p_value,
    portions,
    stratified_orders,
)
from cuescope_sdk.statistics._shapes import IntPerSample, PerSample

SHUFFLES = 1999
VALUES_A_DEGREE = 10  # of a trend, at least


def neighbour_p_value(
    values: PerSample,
    strata: IntPerSample,
    rng: np.random.Generator,
    *,
    trend: int = 0,
) -> float:
    """One-sided p-value that neighbours of a stratum agree in their values (Monte Carlo).

    Samples are in their order, and neighbours are two of a stratum with none of it between them.
    The statistic is the serial correlation of lag one about the strata's means (Wald and Wolfowitz,
    1943); under the null, values of a stratum come in any order. 1 where no value differs. With a
    `trend`, it is about a polynomial in the place within the stratum, of this degree at most; under
    the null, what is left of it comes in any order (Freedman and Lane, 1983), about.
    """
    residuals = np.array(values, dtype=float)
    first = []
    second = []
    for members in level_indices(strata):
        # data that are sorted by label would agree with their neighbours for that alone
        residuals[members] -= _trend(residuals[members], trend)
        first.append(members[:-1])
        second.append(members[1:])
    before = np.concatenate(first)
    after = np.concatenate(second)
    observed = float(residuals[before] @ residuals[after])
    tie = TIE * float(residuals @ residuals)
    reached = 0
    for count in portions(SHUFFLES, len(residuals)):
        shuffled = residuals[stratified_orders(strata, count, rng)]
        products = shuffled[:, before] * shuffled[:, after]
        reached += int((products.sum(axis=1) >= observed - tie).sum())
    return monte_carlo_p_value(reached, SHUFFLES)


def _trend(values: PerSample, degree: int) -> PerSample:
    """Least squares of values in their order; their mean at degree 0, or where they are few."""
    degree = min(degree, len(values) // VALUES_A_DEGREE)
    place = np.linspace(-1, 1, len(values))
    powers = np.polynomial.legendre.legvander(place, degree)
    weights, *_ = np.linalg.lstsq(powers, values, rcond=None)
    return np.asarray(powers @ weights)
