"""Many tests that do not count alike: weights of the error budget, and tests that cannot pass."""

import numpy as np
from jaxtyping import Bool

from cuescope_sdk.statistics._shapes import IntPerCell, PerCell, PerTest
from cuescope_sdk.statistics._tests import accuracy_gap_p_value


def least_gap_p_value(n_with: IntPerCell, n_without: IntPerCell, wrong: int) -> PerCell:
    """The smallest that `accuracy_gap_p_value` can be, were all wrong answers those with a feature.

    1 where so many wrong answers leave nothing to compare.
    """
    total = n_with + n_without
    right_with = np.maximum(n_with - wrong, 0)
    right_without = total - wrong - right_with
    is_comparable = n_without >= np.maximum(right_without, 1)
    least = np.ones(len(n_with))
    counts = np.stack([right_without, n_without, right_with, n_with])
    least[is_comparable] = accuracy_gap_p_value(*counts[:, is_comparable])
    return least


def can_pass(least: PerTest, level: float) -> Bool[np.ndarray, " test"]:
    """Tests whose `least` possible p-value could pass at all (Tarone, 1990).

    What could not pass, whatever is found, is neither tested nor counted; for the false discovery
    rate: Gilbert (2005).
    """
    for tests in range(1, len(least) + 1):
        possible = least <= level / tests
        # corrected for so many tests, no more than these could pass
        if possible.sum() <= tests:
            return np.asarray(possible)
    return np.zeros(len(least), dtype=bool)
