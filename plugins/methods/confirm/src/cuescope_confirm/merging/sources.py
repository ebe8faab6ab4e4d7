"""Tables of a dossier of several methods: what found each cue, and what each method found."""

from collections.abc import Iterator, Sequence

from cuescope_confirm.analysis import Results
from cuescope_confirm.merging import RULE
from cuescope_confirm.study import Cue, Study
from cuescope_sdk import Accuracy, Cell, Table


def sources(study: Study, results: Results) -> Iterator[Table | Accuracy]:
    """Nothing where one run's findings are taken as they are.

    How often the model is right is told from the runs: the test asks about chosen samples alone.
    """
    cues = [row.target.cue for row in results.rows]
    if any(cue.members for cue in cues):
        yield found_by(cues)
        known = [report.accuracy for report in study.reports.values() if report.accuracy]
        if known:
            yield sorted(known, key=lambda accuracy: accuracy.answered)[-1]
    if len(study.reports) + len(study.left_out) > 1:
        yield methods(study, cues)


def found_by(cues: Sequence[Cue]) -> Table:
    """A cue a line, with the findings that are this cue."""
    rows: list[dict[str, Cell]] = []
    for cue in cues:
        runs: dict[str, list[str]] = {}
        for member in cue.members or (cue,):
            runs.setdefault(member.run, []).append(member.id.removeprefix(f"{member.run} "))
        findings = "; ".join(f"{run}: {', '.join(ids)}" for run, ids in runs.items())
        rows.append({"cue": cue.name, "methods": len(runs), "findings": findings})
    return _table("What found each cue", rows, RULE)


def methods(study: Study, cues: Sequence[Cue]) -> Table:
    """A method a line: how many findings it has and of how many cues, or why it was left out."""
    rows: list[dict[str, Cell]] = []
    for run, findings in study.counts.items():
        count = sum(any(member.run == run for member in cue.members) for cue in cues)
        rows.append({"method": run, "findings": findings, "cues": count, "left out because": None})
    for name, why in study.left_out.items():
        rows.append({"method": name, "findings": None, "cues": None, "left out because": why})
    return _table("Methods", rows)


def _table(title: str, rows: Sequence[dict[str, Cell]], *notes: str) -> Table:
    return Table(title=title, columns=tuple(rows[0]), rows=tuple(rows), notes=notes)
