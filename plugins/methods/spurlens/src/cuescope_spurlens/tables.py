"""The tables of the report."""

from collections.abc import Iterable, Sequence

import numpy as np

from cuescope_sdk import Audit, Cell, Table
from cuescope_sdk.statistics import FEW, Groups, mean_interval
from cuescope_spurlens.options import SpurLensOptions
from cuescope_spurlens.paper import AVERAGE_COLUMNS, average_rows
from cuescope_spurlens.scores import CaseResult, Results
from cuescope_spurlens.trials import Study, benchmark_of

TITLES = {
    "recognition": "Recognition: the strongest cue of each class",
    "hallucination": "Hallucination: the strongest cue of each class",
    "drop": "Objects dropped from their images: the strongest cue of each class",
    "mask": "Objects blackened in their images: the strongest cue of each class",
}
STRONGEST_COLUMNS = (
    "class",
    "cue",
    "with it",
    "without",
    "gap",
    "95%",
    "random",
    "q",
    "K",
    "apart",
)


def attach_tables(audit: Audit, results: Results) -> None:
    """The strongest cues by task, their means, and what was left out."""
    options: SpurLensOptions = audit.options
    for task, title in TITLES.items():
        if cases := [result for result in results.cases if result.case.task == task]:
            audit.attach(strongest_table(title, cases, options.random_rankings))
    if results.cases:
        audit.attach(average_table(results, benchmark_of(audit), options))
    if results.study.exclusions:
        audit.attach(exclusion_table(results.study))


def make_table(
    title: str, columns: Sequence[str], rows: Iterable[Sequence[Cell]], *notes: str
) -> Table:
    """A table from the cells of its rows."""
    named = tuple(dict(zip(columns, cells, strict=True)) for cells in rows)
    return Table(title=title, columns=tuple(columns), rows=named, notes=notes)


def strongest_table(title: str, cases: Sequence[CaseResult], rankings: int) -> Table:
    """A row a class, the largest gap first; rates in percent, gaps in points."""
    rows: list[list[Cell]] = []
    for result in sorted(cases, key=lambda result: -result.gap[result.strongest]):
        with_cue, without, gap, random = (100 * rate for rate in _strongest_rates(result))
        q_value = f"{result.q_value:.3f}{' *' if result.finding else ''}"
        ends = _ends(*result.interval[result.strongest].tolist())
        apart = None
        if result.apart is not None:
            apart = f"{100 * result.apart.gap:.0f} {_ends(result.apart.low, result.apart.high)}"
        names = result.case.label, result.cue
        rows.append([*names, with_cue, without, gap, ends, random, q_value, result.case.k, apart])
    note = (
        "With it, without: percent of questions answered yes, in the K images that show the cue "
        f"most and in the K that show it least. Random: the mean largest gap of {rankings} random "
        "rankings. *: a finding. Apart: its gap in images in which no cue was looked for, which no "
        "choice among cues made large."
    )
    few = sorted({result.case.k for result in cases if result.case.k < FEW})
    warning = f"K below {FEW} is few: intervals are rough." if few else ""
    return make_table(title, STRONGEST_COLUMNS, rows, *filter(None, (note, warning)))


def _ends(low: float | None, high: float | None) -> str:
    return "" if low is None or high is None else f"[{100 * low:.0f}, {100 * high:.0f}]"


def _strongest_rates(result: CaseResult) -> tuple[float, float, float, float]:
    cue = result.strongest
    with_cue, without, gap = (float(x[cue]) for x in (result.with_cue, result.without, result.gap))
    return with_cue, without, gap, result.baseline


def average_table(results: Results, benchmark: str | None, options: SpurLensOptions) -> Table:
    """Means over the classes of their strongest cues, as tables 1 and 2 of the paper."""
    rows: list[dict[str, Cell]] = []
    paper: list[dict[str, Cell]] = []
    beside = options.beside
    for task in dict.fromkeys(result.case.task for result in results.cases):
        rates = [_strongest_rates(result) for result in results.cases if result.case.task == task]
        cells = (task, *(100 * np.mean(rates, axis=0)).tolist())
        gaps = np.array(
            [result.gap[result.strongest] for result in results.cases if result.case.task == task]
        )
        ends = mean_interval(gaps, Groups.single(len(gaps)), bounds=(-1, 1))
        rows.append({**dict(zip(AVERAGE_COLUMNS, cells, strict=True)), "95% of gap": _ends(*ends)})
        paper += average_rows(task, benchmark, beside)
    return Table(
        title="Mean over the classes",
        columns=(*AVERAGE_COLUMNS, "95% of gap"),
        rows=tuple(rows),
        paper=tuple(paper),
        notes=(
            "In percent. The strongest of many cues has a large gap by chance too: compare the "
            f"gap with the largest of {options.random_rankings} random rankings (the paper's are "
            "of 16).",
            *([f"In brackets: the paper's figures for {beside}."] if paper else []),
        ),
    )


def exclusion_table(study: Study) -> Table:
    """Every cue that is not tried, with the reason; a row a class."""
    by_class: dict[str, dict[str, list[str]]] = {}
    for label, cue, reason in study.exclusions:
        by_class.setdefault(label, {}).setdefault(reason, []).append(cue)
    rows = tuple(
        {"class": label, "cues": "; ".join(f"{', '.join(c)}: {why}" for why, c in reasons.items())}
        for label, reasons in by_class.items()
    )
    return Table(title="Cues that were left out", columns=("class", "cues"), rows=rows)
