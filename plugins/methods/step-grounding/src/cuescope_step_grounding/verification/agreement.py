"""Two judges of the same claims."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.random import Generator

from cuescope_sdk import Sample
from cuescope_sdk.statistics import Bootstrap, Groups, cohen_kappa

VERDICTS = ("supported", "unsupported", "unverifiable")


@dataclass(frozen=True)
class Agreement:
    """Of `claims`, those that both decided, the share of these that both judge alike, and kappa.

    `kappa` is None where one of them says the same of all.
    """

    claims: int
    decided: int
    alike: float
    kappa: float | None
    low: float | None
    high: float | None


def agreement(
    pairs: Sequence[tuple[Sample, str, str]],
    rng: Generator,
) -> Agreement:
    """Of the two verdicts on each claim; the interval draws whole groups."""
    decided = [pair for pair in pairs if "unverifiable" not in pair[1:]]
    verdicts = np.array([pair[1:] for pair in decided]).reshape(-1, 2)
    first, second = (verdicts == "supported").T
    value = cohen_kappa(first, second)
    ends = None
    # A judge that says the same of all has no kappa, and neither has an interval around it.
    if value is not None and 0 < first.mean() < 1 and 0 < second.mean() < 1:
        ends = Bootstrap.bca_interval(
            lambda drawn: cohen_kappa(first[drawn], second[drawn]),
            Groups.of([sample for sample, _, _ in decided]),
            rng,
        )
    alike = float((first == second).mean()) if decided else 0.0
    return Agreement(len(pairs), len(decided), alike, value, *(ends or (None, None)))
