"""Findings of the commonest kind: a cue that draws an answer."""

from collections.abc import Iterable, Sequence

import numpy as np
from jaxtyping import Bool

from cuescope_core.conclusions import Finding, Impact, Row
from cuescope_sdk.statistics import Estimate


def shares_row(
    subject: str,
    with_cue: float | None,
    without_cue: float | None,
    change: Estimate[float] | None,
    *,
    label: str | None = None,
    n: int | None = None,
    q_value: float | None = None,
) -> Row:
    """A row of a finding, made of shares (1 is all): those with the cue, without it, the change."""
    value, low, high = (
        (change.value, change.low, change.high) if change else (None, None, None)
    )
    return Row(
        subject=subject,
        label=label,
        with_cue=_percent(with_cue),
        without_cue=_percent(without_cue),
        change=_percent(value),
        low=_percent(low),
        high=_percent(high),
        n=n,
        q_value=q_value,
    )


def _percent(share: float | None) -> float | None:
    return None if share is None else 100.0 * float(share)


def drawn_answer(
    feature: str,
    answer: str,
    rows: Iterable[Row],
    *,
    labels: Sequence[str | None],
    predictions: Sequence[str | None],
    shows: Bool[np.ndarray, " sample"],
    helps: bool = False,
) -> Finding:
    """A cue that draws an answer, with the errors of all samples that it explains.

    These are samples of other labels that show it and get the answer; where it `helps` the
    answer's own label, also those of this label that err without it.
    """
    label = np.array(labels, dtype=object)
    prediction = np.array(predictions, dtype=object)
    wrong = label != prediction
    taken = int((wrong & shows & (prediction == answer)).sum())
    missed = int((wrong & ~shows & (label == answer)).sum()) if helps else 0
    detail = f'{taken:,} with the cue answered "{answer}"'
    if helps:
        detail += f', {missed:,} of "{answer}" without it'
    return Finding(
        feature=feature,
        claim=f'{{feature}} draws the answer "{answer}"',
        rows=tuple(rows),
        impact=Impact(count=taken + missed, total=int(wrong.sum()), detail=detail),
    )
