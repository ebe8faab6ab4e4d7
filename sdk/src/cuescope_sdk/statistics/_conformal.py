"""Limits that a new draw keeps, whatever the distribution."""

from collections.abc import Sequence

import numpy as np


def conformal_quantile(values: Sequence[float], level: float) -> float:
    """The value that a new draw stays at or below with probability `level` at least.

    Split conformal prediction (Vovk, Gammerman and Shafer, 2005), for values that are exchangeable
    with the new one. The largest where there are too few values for the level. Raises ValueError
    for no values.
    """
    if not len(values):
        raise ValueError("expected values to take a limit from, got none")
    # the new draw is one of n + 1, each of which is as likely to have any rank
    rank = min(len(values), int(np.ceil(level * (len(values) + 1))))
    return float(np.sort(values)[rank - 1])
