"""The law under other settings: of the verifier, of VRS, of the number of steps, of any option."""

from collections.abc import Iterator, Mapping, Sequence
from operator import attrgetter
from typing import Any

import numpy as np
from numpy.random import Generator

from cuescope_sdk import Table
from cuescope_sdk.report import count_of
from cuescope_sdk.statistics import Correlation
from cuescope_step_grounding.law.components import CHANGED, VERIFIED
from cuescope_step_grounding.law.law import MeasuredModel
from cuescope_step_grounding.law.pairs import correlation_cells
from cuescope_step_grounding.law.settings import Setting
from cuescope_step_grounding.scores import mean

COLUMNS = (
    "setting",
    "SGR %",
    "VRS",
    "SGR and retention: r",
    "interval",
    "p",
    "ranks",
    "VRS ranks",
)


def sweep_table(
    swept: Mapping[Setting, Sequence[MeasuredModel]], rng: Generator
) -> Table:
    """A row a setting; ranks are those of the models, against those of the first setting."""
    first = next(iter(swept.values()))
    rows = []
    for setting, models in swept.items():
        rows.append((str(setting), *_cells(models, first, rng)))
    return Table.of(
        "The same under other settings",
        COLUMNS,
        rows,
        f"{count_of(len(first), 'models')}. Ranks: Spearman's correlation of the models' SGR "
        "(and VRS) with "
        "those of the first row. r, interval and p as in the table of the law.",
        decimals=2,
    )


def _cells(
    models: Sequence[MeasuredModel],
    first: Sequence[MeasuredModel],
    rng: Generator,
) -> Iterator[Any]:
    figures = list(map(attrgetter("sgr", "retention"), models))
    sgr, retention = np.array(figures).T
    reliance = [model.figures.get(CHANGED) for model in models]
    yield 100 * float(sgr.mean())
    # a mean over some of the models could not be compared with other rows
    yield None if None in reliance else mean(reliance)
    yield from correlation_cells(Correlation.of(sgr, retention, rng))[:3]
    for name in (VERIFIED, CHANGED):
        yield _rank_agreement(models, first, name)


def _rank_agreement(
    models: Sequence[MeasuredModel],
    first: Sequence[MeasuredModel],
    name: str,
) -> float | None:
    swept = np.array([model.figures.get(name) for model in models], float)
    others = np.array([model.figures.get(name) for model in first], float)
    # Of a figure that is missing the deviation is none (NaN).
    vary = swept.std() > 0 and others.std() > 0
    return Correlation.spearman(swept, others) if vary else None
