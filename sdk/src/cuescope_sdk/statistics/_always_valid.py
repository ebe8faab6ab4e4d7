"""Bounds of a mean that hold at every look: samples may be added until they tell enough."""

import numpy as np

from cuescope_sdk.statistics._shapes import PerItem

# shares of what a bet may lose: nobody knows before which is best, so a little goes to each
STAKES = np.array([0.02, 0.05, 0.1, 0.2, 0.35, 0.55, 0.8, 0.95])
STEPS = 30  # of bisection: a bound to 1e-9


def always_valid_bounds(
    values: PerItem,
    error: float,
    *,
    bounds: tuple[float, float] = (0.0, 1.0),
) -> tuple[float, float]:
    """Lower and upper bound of the mean, each missed with chance `error` over all looks together.

    `values` are independent draws within `bounds`, in the order in which they came; further ones
    may be added after any look, and for any reason. By betting (Waudby-Smith and Ramdas, 2024,
    "Estimating means of bounded random variables by betting"): whoever bets on a mean that is too
    small grows rich, and against the true mean a fortune reaches 1/`error` with chance `error` at
    most (Ville, 1939). Deviates: fixed stakes, averaged, in place of adapted ones; so the fortune
    falls with the mean, and the bound is found by bisection.
    """
    lowest, highest = bounds
    scale = highest - lowest
    shares = (np.asarray(values, dtype=float) - lowest) / scale
    low = _lower_bound(shares, error)
    high = 1 - _lower_bound(1 - shares, error)
    return lowest + scale * low, lowest + scale * high


def _lower_bound(shares: PerItem, error: float) -> float:
    """The largest mean that is rejected as too small; 0 where none is."""
    if not len(shares):
        return 0.0
    # answers take few values, and a fortune does not depend on their order
    values, counts = np.unique(shares, return_counts=True)
    enough = -np.log(error)
    low = 0.0
    high = float(shares.mean())
    # the fortune falls as the mean rises; at the mean of the values themselves no bet wins
    for _ in range(STEPS):
        middle = (low + high) / 2
        if middle > 0 and _log_fortune(values, counts, middle) >= enough:
            low = middle
        else:
            high = middle
    return low


def _log_fortune(values: PerItem, counts: np.ndarray, mean: float) -> float:
    """Log-fortune of one who bets at each draw that it is above `mean`, averaged over stakes."""
    gains = 1 + STAKES[:, None] * (values / mean - 1)
    return float(np.logaddexp.reduce(np.log(gains) @ counts) - np.log(len(STAKES)))
