"""The tables of the report."""

from collections.abc import Sequence

import numpy as np

from cuescope_sdk import Audit, Cell, Table
from cuescope_sdk.statistics import Groups, mean_interval
from cuescope_spurlens.analysis import CaseResult, Results
from cuescope_spurlens.options import RANKINGS, SpurLensOptions
from cuescope_spurlens.paper import AVERAGE_COLUMNS, average_rows
from cuescope_spurlens.trials import Study, benchmark_of

Rows = list[Sequence[Cell]]
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
    # in the order of the titles: images as they are come first
    for task, title in TITLES.items():
        if task in results.by_task:
            cases = results.by_task[task]
            audit.attach(strongest_table(title, cases))
    if results.cases:
        audit.attach(average_table(results, benchmark_of(audit), audit.options))
    if results.study.exclusions:
        audit.attach(exclusion_table(results.study))


def write_ends(low: float | None, high: float | None) -> str:
    """An interval of shares, in points; "" where there is none."""
    return "" if low is None or high is None else f"[{100 * low:.0f}, {100 * high:.0f}]"


def strongest_table(title: str, cases: Sequence[CaseResult]) -> Table:
    """A row a class, the largest gap first; rates in percent, gaps in points."""
    rows = []
    for result in sorted(cases, key=lambda result: -result.strongest_gap):
        q_value = f"{result.q_value:.3f}{' *' if result.finding else ''}"
        ends = write_ends(*result.interval[result.strongest].tolist())
        apart = None
        if result.apart is not None:
            ends_apart = write_ends(result.apart.low, result.apart.high)
            apart = f"{100 * result.apart.gap:.0f} {ends_apart}"
        # the paper's own random rankings reach 5 to 11 points: a gap alone says little
        *rates, random = (100 * _strongest_rates(result)).tolist()
        names = (result.case.label, result.cue)
        rows.append((*names, *rates, ends, random, q_value, result.case.k, apart))
    notes = [
        "With it, without: percent of questions answered yes, in the K images that show the cue "
        f"most and in the K that show it least. Random: the mean largest gap of {RANKINGS} random "
        "rankings. *: a finding. Apart: its gap in images in which no cue was looked for, which no "
        "choice among cues made large."
    ]
    if any(result.case.k < Groups.FEW for result in cases):
        notes.append(f"K below {Groups.FEW} is few: intervals are rough.")
    return Table.of(title, STRONGEST_COLUMNS, rows, *notes)


def _strongest_rates(result: CaseResult) -> np.ndarray:
    """With the strongest cue, without it, the gap, and that of random rankings."""
    by_cue = np.array([result.with_cue, result.without, result.gap])
    return np.append(by_cue[:, result.strongest], result.baseline)


def average_table(
    results: Results,
    benchmark: str | None,
    options: SpurLensOptions,
) -> Table:
    """Means over the classes of their strongest cues, as tables 1 and 2 of the paper."""
    rows = []
    paper: list[dict[str, Cell]] = []
    for task, cases in results.by_task.items():
        rates = np.array(list(map(_strongest_rates, cases)))
        # a gap is a difference of two shares
        ends = mean_interval(rates[:, 2], Groups.single(len(cases)), bounds=(-1, 1))
        means = (100 * rates.mean(axis=0)).tolist()
        rows.append((task, *means, write_ends(*ends)))
        paper += average_rows(task, benchmark, options.beside)
    notes = [
        "In percent. The strongest of many cues has a large gap by chance too: compare the "
        f"gap with the largest of {RANKINGS} random rankings."
    ]
    if paper:
        notes.append(f"In brackets: the paper's figures for {options.beside}.")
    columns = (*AVERAGE_COLUMNS, "95% of gap")
    return Table.of("Mean over the classes", columns, rows, *notes, paper=paper)


def exclusion_table(study: Study) -> Table:
    """Every cue that is not tried, with the reason; a row a class."""
    by_class: dict[str, dict[str, list[str]]] = {}
    for label, cue, reason in study.exclusions:
        # a reason is written once, with all its cues
        by_class.setdefault(label, {}).setdefault(reason, []).append(cue)
    rows = []
    for label, reasons in by_class.items():
        words = [f"{', '.join(cues)}: {reason}" for reason, cues in reasons.items()]
        rows.append((label, "; ".join(words)))
    return Table.of("Cues that were left out", ("class", "cues"), rows)
