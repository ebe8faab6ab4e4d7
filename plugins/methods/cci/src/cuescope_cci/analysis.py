"""What is counted of the sources of answers: groups, shares and findings."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from cuescope_cci.backgrounds.measure import Backgrounds, PullRow
from cuescope_cci.backgrounds.pulls import FEWEST
from cuescope_cci.error_source import (
    BACKGROUND,
    AnswerSource,
    Sources,
    groups,
    groups_of,
)
from cuescope_cci.options import CCIOptions
from cuescope_cci.scores import Figure, share


@dataclass(frozen=True)
class Row:
    """Images of a feature and label."""

    feature: str
    label: str | None
    sources: Sources


def rows(sources: Sources, labels: Sequence[str]) -> list[Row]:
    """All images, each label, and each factor's values."""
    by_name = groups(sources)
    rows = [Row(BACKGROUND, None, by_name.pop(BACKGROUND))]
    for label in labels:
        group = [source for source in sources if source.label == label]
        # a limit on the data may leave labels without images
        if group:
            rows.append(Row(BACKGROUND, label, group))
    for name, group in by_name.items():
        rows.append(Row(name, None, group))
    return rows


def share_of(
    sources: Sources,
    holds: Callable[[AnswerSource], bool],
    confidence: float,
) -> Figure:
    """The share of images for which something holds; its interval is for groups."""
    values = np.array([holds(source) for source in sources], dtype=bool)
    return share(values, groups_of(sources), confidence=confidence)


def is_pull(row: PullRow, options: CCIOptions) -> bool:
    """True if a kind of background pulls answers to a class.

    The background itself must turn answers there, as many as a test needs: a kind that only keeps
    answers from being turned elsewhere pulls nowhere. The interval of the pull may not hold 0.
    """
    turns_there = row.moved >= FEWEST and row.turned > 0
    return row.q_value <= options.fdr and turns_there and row.pull.low > 0


def is_overall_pull(known: Backgrounds, options: CCIOptions) -> bool:
    """True if the class answered goes with the kind of background, all kinds taken together."""
    q_value = known.tests.overall_q
    return q_value is not None and q_value <= options.fdr
