"""Why an image was dropped, in one sentence; and how many were, for which fault."""

from collections import Counter
from collections.abc import Sequence

from cuescope_covar_build.manifest import Row
from cuescope_covar_build.quality.cases import Case
from cuescope_covar_build.quality.measures import FAULTS, MEASURES


def sentence(name: str, value: float, case: Case) -> str:
    """What a score says of an image."""
    return MEASURES[name].sentence.format(
        value=value,
        # at most 30 doublings: a larger power says nothing more
        ratio=2 ** min(abs(value), 30),
        asked=case.background or "the background asked for",
        label=case.label or "the object",
    )


def describe_faults(dropped: Sequence[Row]) -> str:
    """How many were dropped, by subset, and which check of the quality filter was the worst."""
    by_subset = Counter(row.subset for row in dropped)
    parts = []
    for subset, total in by_subset.most_common():
        faults = Counter(worst_fault(row) for row in dropped if row.subset == subset)
        counts = ", ".join(f"{count} {fault}" for fault, count in faults.most_common())
        parts.append(f"{subset}: {total} ({counts})")
    return "; ".join(parts)


def worst_fault(row: Row) -> str:
    """In words, the check with the largest score; the reason itself where none is above 1."""
    # None, where nobody measured it, is no fault
    scores = {name: getattr(row, f"score_{name}") or 0.0 for name in FAULTS}
    worst = max(scores, key=scores.__getitem__)
    return FAULTS[worst] if scores[worst] > 1 else row.dropped
