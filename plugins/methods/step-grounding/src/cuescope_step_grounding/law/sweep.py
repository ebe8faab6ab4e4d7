"""The law under other settings: of the verifier, of VRS, of the number of steps, of any option."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.random import Generator

from cuescope_sdk import Table
from cuescope_sdk.statistics import correlation, rank_correlation
from cuescope_step_grounding.law.components import CHANGED, VERIFIED
from cuescope_step_grounding.law.law import MeasuredModel
from cuescope_step_grounding.law.pairs import correlation_cells
from cuescope_step_grounding.law.settings import Setting

COLUMNS = ("setting", "SGR %", "VRS", "SGR and retention: r", "interval", "p", "ranks", "VRS ranks")


def sweep_table(swept: Mapping[Setting, Sequence[MeasuredModel]], rng: Generator) -> Table:
    """A row a setting; ranks are those of the models, against those of the first setting."""
    first = next(iter(swept.values()))
    rows = [
        dict(zip(COLUMNS, (str(setting), *_cells(models, first, rng)), strict=True))
        for setting, models in swept.items()
    ]
    notes = (
        f"{len(first)} models. Ranks: Spearman's correlation of the models' SGR (and VRS) with "
        "those of the first row. r, interval and p as in the table of the law.",
    )
    return Table(
        title="The same under other settings",
        columns=COLUMNS,
        rows=tuple(rows),
        decimals=2,
        notes=notes,
    )


def _cells(
    models: Sequence[MeasuredModel], first: Sequence[MeasuredModel], rng: Generator
) -> Iterator[Any]:
    sgr = np.array([model.sgr for model in models])
    retention = np.array([model.ood_accuracy / max(model.accuracy, 1e-9) for model in models])
    reliance = [model.figures.get(CHANGED) for model in models]
    told = [value for value in reliance if value is not None]
    yield 100 * float(sgr.mean())
    yield float(np.mean(told)) if len(told) == len(models) else None
    found = correlation(sgr, retention, rng)
    yield from correlation_cells(found) if found else (None, None, None)
    for name in (VERIFIED, CHANGED):
        yield _rank_agreement(models, first, name)


def _rank_agreement(
    models: Sequence[MeasuredModel], first: Sequence[MeasuredModel], name: str
) -> float | None:
    pairs = [(a.figures.get(name), b.figures.get(name)) for a, b in zip(models, first, strict=True)]
    if any(value is None for pair in pairs for value in pair):
        return None
    one, other = np.array(pairs, np.float64).T
    if one.std() == 0 or other.std() == 0:
        return None
    return rank_correlation(one, other)
