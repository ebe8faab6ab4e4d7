"""p-values of intervals: one question has one answer, whether a star or an interval tells it."""

from collections.abc import Callable

import numpy as np
from scipy import optimize

LEAST_P = 1e-6
WIDEST = 1 - 1e-9  # an interval of confidence 0 has no ends


def inverted_p_value(beyond: Callable[[float], float]) -> float:
    """The smallest error of an interval that still excludes what is tested; 1 where none does.

    `beyond` tells by how much the interval of a confidence lies beyond it, and is below 0 where the
    interval holds it. So p is at most 0.05 exactly where the 95% interval excludes it (a test by
    inverting an interval: Lehmann and Romano, 2005, 3.5). LEAST_P at least.
    """

    def beyond_at(log_error: float) -> float:
        return beyond(1 - float(np.exp(log_error)))

    least = float(np.log(LEAST_P))
    most = float(np.log(WIDEST))
    if beyond_at(least) > 0:
        return LEAST_P
    # an interval that touches what is tested holds it
    if beyond_at(most) <= 0:
        return 1.0
    # on a scale of powers of ten (Brent, 1973)
    root = optimize.brentq(beyond_at, least, most)
    return float(np.exp(root))


def one_sided_p_value(beyond: Callable[[float], float]) -> float:
    """Half of `inverted_p_value`, for only one end of the interval may fail; 1 where none excludes.

    At most 0.025 exactly where the 95% interval excludes what is tested.
    """
    error = inverted_p_value(beyond)
    return error / 2 if error < 1 else 1.0
