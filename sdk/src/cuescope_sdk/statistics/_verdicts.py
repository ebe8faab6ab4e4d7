"""Verdicts on many effects at once, by the probability of each that it is above a margin."""

from collections.abc import Sequence
from typing import Literal

Verdict = Literal["cause", "not a cause", "inconclusive"]


def decide(
    above: Sequence[float | None], error: float
) -> list[tuple[Verdict, float | None]]:
    """Verdicts by the probability of each cue that its effect is above the margin.

    The surest are told as long as the expected number of false ones among all that are told is at
    most `error` (after Müller, Parmigiani, Robert and Rousseau, 2004), so a single cue is a cause
    from 1 - `error` on. With each stands the expected share of false ones up to there.

    >>> decide([0.99, 0.97, 0.5, None], 0.05)[:2]
    [('cause', 0.01), ('cause', 0.02)]
    """
    verdicts: list[tuple[Verdict, float | None]] = [("inconclusive", None)] * len(above)
    wrong = []
    for row, probability in enumerate(above):
        if probability is not None:
            wrong.append((min(probability, 1 - probability), row))
    total = 0.0
    for count, (chance, row) in enumerate(sorted(wrong), 1):
        total += chance
        told: Verdict = "inconclusive"
        if total <= error:
            told = "cause" if (above[row] or 0.0) > 0.5 else "not a cause"
        verdicts[row] = told, round(total / count, 6)
    return verdicts
