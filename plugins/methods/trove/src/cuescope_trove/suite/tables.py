"""The suite's tables: the quality filter, Tables 1 and 3, and appendix B."""

import tomllib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from itertools import chain
from typing import Any

import numpy as np
from jaxtyping import Float

from cuescope_sdk import Cell, Table
from cuescope_sdk.report import signed
from cuescope_sdk.statistics import Groups, change_interval, mean_interval
from cuescope_trove.checks.annotated_cues import KS
from cuescope_trove.suite.configurations import CUES, Configuration
from cuescope_trove.suite.grading import MIN_GAP, Gaps, Grades

Row = dict[str, Cell]
PerResult = Float[np.ndarray, " result"]

MEASURES = (*(f"P@{k}" for k in KS), "R-Prec")
MAIN = MEASURES.index("P@100")
PAPER = tomllib.loads(files("cuescope_trove").joinpath("paper.toml").read_text("utf-8"))
# 1.01: the last limit must lie above a share of 1
SHARES = {"20 to 49%": 0.5, "50 to 79%": 0.8, "80 to 100%": 1.01}  # below


@dataclass(frozen=True)
class Result:
    """A configuration with its quality (appendix A) and the grades of each ranking.

    `temporal` and `single_frame` are accuracies on unbiased data, `gaps` those of the biased
    model on the label that suffers most, None where no label's gaps are large enough.
    """

    configuration: Configuration
    temporal: float
    single_frame: float
    gaps: Gaps | None
    grades: Mapping[str, Grades]

    @property
    def passes(self) -> bool:
        """Whether the configuration passes the paper's quality filter."""
        return self.gaps is not None and self.temporal - self.single_frame >= MIN_GAP


def all_tables(results: Sequence[Result]) -> list[Table]:
    """Quality; Table 1 by cue and over all; appendix B by length and share; paired differences."""
    passing = [result for result in results if result.passes]
    of_cue = _parts(passing, lambda configuration: configuration.cue)
    tables = [quality_table(results)]
    tables += [precision_table(cue, of_cue.get(cue, [])) for cue in CUES]
    tables.append(precision_table("all cues", passing))
    # a model that fails the filter has no cue worth ranking for (appendix A)
    if passing:
        of_length = _parts(passing, lambda configuration: configuration.length)
        of_share = _parts(passing, _share_words)
        tables.append(interval_table(passing))
        tables.append(difference_table(passing))
        tables.append(breakdown_table("frames of a sequence (Figure 5)", of_length))
        tables.append(
            breakdown_table("share of frames with the cue (Figure 6)", of_share)
        )
    return tables


def _parts(
    results: Sequence[Result], part: Callable[[Configuration], Any]
) -> dict[str, list[Result]]:
    parts: dict[str, list[Result]] = {}
    # sorted by the part: columns must not follow the order of the grid
    for result in sorted(results, key=lambda result: part(result.configuration)):
        name = str(part(result.configuration))
        parts.setdefault(name, []).append(result)
    return parts


def _share_words(configuration: Configuration) -> str:
    return next(words for words, limit in SHARES.items() if configuration.share < limit)


def quality_table(results: Sequence[Result]) -> Table:
    """What each configuration is worth (appendix A), in percent and points."""
    rows = []
    for result in results:
        gaps = result.gaps
        row: Row = {
            "configuration": result.configuration.name,
            "temporal": 100 * result.temporal,
            "one frame": 100 * result.single_frame,
            "image gap": 100 * gaps.image if gaps else None,
            "sequence gap": 100 * gaps.sequence if gaps else None,
            "label": gaps.label if gaps else None,
            "kept": "yes" if result.passes else "no",
        }
        rows.append(row)
    return _table(
        "Configurations and the quality filter of appendix A",
        rows,
        f"{sum(result.passes for result in results)} of {len(results)} are kept. On "
        "data without a cue the temporal model beats one frame by 20 points. The cue costs "
        "the label over 20 points of accuracy, counted by image and counted by sequence.",
    )


def precision_table(cue: str, results: Sequence[Result]) -> Table:
    """Mean grades of each ranking over these configurations, in percent."""
    published = []
    for ranking, figures in PAPER[cue].items():
        paper_row = dict(zip(MEASURES, figures, strict=True))
        published.append({"ranking": ranking, **paper_row})
    rows = []
    for name in _rankings(results):
        cells = map(_mean, _grades(results, name))
        rows.append(_row("ranking", name, cells))
    return Table(
        title=f"{cue}: {len(results)} configurations (the paper's figures faint)",
        columns=("ranking", *MEASURES),
        rows=tuple(rows),
        paper=tuple(published),
    )


def interval_table(results: Sequence[Result]) -> Table:
    """95% intervals of the means over configurations."""
    rows = []
    for name in _rankings(results):
        cells = map(_interval, _grades(results, name))
        rows.append(_row("ranking", name, cells))
    return _table(
        f"95% intervals over {len(results)} configurations",
        rows,
        "Each configuration, a model trained with a planted cue, is one draw.",
    )


def difference_table(results: Sequence[Result]) -> Table:
    """TRoVe minus each other ranking on the same configurations, in points, with intervals."""
    rows = []
    ours = _grades(results, "TRoVe")
    for name in _rankings(results):
        if name != "TRoVe":
            cells = map(_change, ours - _grades(results, name))
            rows.append(_row("TRoVe minus", name, cells))
    return Table(
        title="Paired differences, in points, with 95% intervals",
        columns=("TRoVe minus", *MEASURES),
        rows=tuple(rows),
    )


def breakdown_table(title: str, parts: Mapping[str, Sequence[Result]]) -> Table:
    """Mean P@100 of each ranking, part by part."""
    rows: dict[str, Row] = {}
    for part, results in parts.items():
        for ranking in _rankings(results):
            row = rows.setdefault(ranking, {"ranking": ranking})
            row[f"{part} ({len(results)})"] = _mean(_grades(results, ranking)[MAIN])
    return _table(
        f"P@100 by {title}",
        list(rows.values()),
        "In brackets: how many configurations.",
    )


def _table(title: str, rows: Sequence[Row], note: str) -> Table:
    columns = tuple(rows[0])
    return Table(title=title, columns=columns, rows=tuple(rows), notes=(note,))


def _row(column: str, name: str, cells: Iterable[Cell]) -> Row:
    by_measure = dict(zip(MEASURES, cells, strict=True))
    return {column: name, **by_measure}


def _rankings(results: Sequence[Result]) -> list[str]:
    return list(dict.fromkeys(chain.from_iterable(result.grades for result in results)))


def _grades(
    results: Sequence[Result], ranking: str
) -> Float[np.ndarray, "measure result"]:
    """NaN where a result has no grade."""
    return np.array([result.grades[ranking] for result in results], dtype=float).T


def _known_values(grades: PerResult) -> Float[np.ndarray, " known"]:
    # NaN: fewer frames were ranked than the measure needs
    return np.asarray(grades[np.isfinite(grades)])


def _mean(grades: PerResult) -> float | None:
    known = _known_values(grades).tolist()
    return 100 * sum(known) / len(known) if known else None


def _interval(grades: PerResult) -> str | None:
    known = _known_values(grades)
    configurations = Groups.single(len(known))
    return _span(*mean_interval(known, configurations))


def _change(changes: PerResult) -> str | None:
    known = _known_values(changes)
    # on the same models: what is hard for both rankings cancels out
    configurations = Groups.single(len(known))
    span = _span(*change_interval(known, configurations))
    return span and f"{signed(100 * known.mean())} [{span}]"


def _span(low: float | None, high: float | None) -> str | None:
    if low is None or high is None:
        return None
    return f"{100 * low:.1f}, {100 * high:.1f}"
