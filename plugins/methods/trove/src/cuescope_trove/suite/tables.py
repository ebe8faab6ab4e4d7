"""The suite's tables: the quality filter, Tables 1 and 3, and appendix B."""

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files

import numpy as np

from cuescope_sdk import Table
from cuescope_sdk.statistics import Groups, change_interval, mean_interval
from cuescope_trove.checks.annotated_cues import KS
from cuescope_trove.suite.configurations import CUES, LENGTHS, Configuration
from cuescope_trove.suite.grading import MIN_GAP, Gaps, Grades

MEASURES = (*(f"P@{k}" for k in KS), "R-Prec")
MAIN = MEASURES.index("P@100")
PAPER = tomllib.loads(files("cuescope_trove").joinpath("paper.toml").read_text("utf-8"))
SHARES = {"20 to 49%": (0.0, 0.5), "50 to 79%": (0.5, 0.8), "80 to 100%": (0.8, 1.01)}


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
    of_cue = {c: [r for r in passing if r.configuration.cue == c] for c in CUES}
    tables = [quality_table(results)]
    tables += [precision_table(cue, some) for cue, some in of_cue.items()]
    tables.append(precision_table("all cues", passing))
    if passing:
        tables.append(interval_table(passing))
        tables.append(difference_table(passing))
        by_length = {
            str(length): [r for r in passing if r.configuration.length == length]
            for length in LENGTHS
        }
        tables.append(breakdown_table("frames of a sequence (Figure 5)", by_length))
        by_share = {
            name: [r for r in passing if low <= r.configuration.share < high]
            for name, (low, high) in SHARES.items()
        }
        tables.append(breakdown_table("share of frames with the cue (Figure 6)", by_share))
    return tables


def quality_table(results: Sequence[Result]) -> Table:
    """What each configuration is worth (appendix A), in percent and points."""
    rows = tuple(
        {
            "configuration": result.configuration.name,
            "temporal": 100 * result.temporal,
            "one frame": 100 * result.single_frame,
            "image gap": 100 * result.gaps.image if result.gaps else None,
            "sequence gap": 100 * result.gaps.sequence if result.gaps else None,
            "label": result.gaps.label if result.gaps else None,
            "kept": "yes" if result.passes else "no",
        }
        for result in results
    )
    return Table(
        title="Configurations and the quality filter of appendix A",
        columns=tuple(rows[0]),
        rows=rows,
        notes=(
            f"{sum(result.passes for result in results)} of {len(results)} are kept. On "
            "data without a cue the temporal model beats one frame by 20 points. The cue costs "
            "the label over 20 points of accuracy, counted by image and counted by sequence.",
        ),
    )


def precision_table(cue: str, results: Sequence[Result]) -> Table:
    """Mean grades of each ranking over these configurations, in percent."""
    return Table(
        title=f"{cue}: {len(results)} configurations (the paper's figures faint)",
        columns=("ranking", *MEASURES),
        rows=tuple(
            {
                "ranking": name,
                **{m: _mean(_column(results, name, at)) for at, m in enumerate(MEASURES)},
            }
            for name in _rankings(results)
        ),
        paper=tuple(
            {"ranking": ranking, **dict(zip(MEASURES, figures, strict=True))}
            for ranking, figures in PAPER[cue].items()
        ),
    )


def interval_table(results: Sequence[Result]) -> Table:
    """95% intervals of the means over configurations."""
    rows = []
    for name in _rankings(results):
        row: dict[str, str | None] = {"ranking": name}
        for at, measure in enumerate(MEASURES):
            values = np.array([v for v in _column(results, name, at) if v is not None])
            low, high = mean_interval(values, Groups.single(len(values)))
            row[measure] = None if low is None or high is None else _span(low, high)
        rows.append(row)
    return Table(
        title=f"95% intervals over {len(results)} configurations",
        columns=("ranking", *MEASURES),
        rows=tuple(rows),
        notes=("Each configuration, a model trained with a planted cue, is one draw.",),
    )


def difference_table(results: Sequence[Result]) -> Table:
    """TRoVe minus each other ranking on the same configurations, in points, with intervals."""
    rows = []
    for name in _rankings(results):
        row: dict[str, str | None] = {"TRoVe minus": name}
        for at, measure in enumerate(MEASURES):
            both = zip(_column(results, "TRoVe", at), _column(results, name, at), strict=True)
            change = np.array([a - b for a, b in both if a is not None and b is not None])
            low, high = change_interval(change, Groups.single(len(change)))
            row[measure] = None
            if low is not None and high is not None:
                row[measure] = f"{100 * change.mean():+.1f} [{_span(low, high)}]"
        if name != "TRoVe":
            rows.append(row)
    return Table(
        title="Paired differences, in points, with 95% intervals",
        columns=("TRoVe minus", *MEASURES),
        rows=tuple(rows),
    )


def breakdown_table(title: str, parts: Mapping[str, Sequence[Result]]) -> Table:
    """Mean P@100 of each ranking, part by part."""
    known = {name: some for name, some in parts.items() if some}
    rankings = _rankings([result for some in known.values() for result in some])
    columns = {name: f"{name} ({len(some)})" for name, some in known.items()}
    return Table(
        title=f"P@100 by {title}",
        columns=("ranking", *columns.values()),
        rows=tuple(
            {
                "ranking": ranking,
                **{columns[n]: _mean(_column(some, ranking, MAIN)) for n, some in known.items()},
            }
            for ranking in rankings
        ),
        notes=("In brackets: how many configurations.",),
    )


def _rankings(results: Sequence[Result]) -> list[str]:
    return list(dict.fromkeys(name for result in results for name in result.grades))


def _column(results: Sequence[Result], ranking: str, at: int) -> list[float | None]:
    return [result.grades[ranking][at] for result in results]


def _mean(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return 100 * sum(known) / len(known) if known else None


def _span(low: float, high: float) -> str:
    return f"{100 * low:.1f}, {100 * high:.1f}"
