"""Tables of a dossier of several methods: what found each cue, and what each method found."""

from collections import Counter
from collections.abc import Iterator, Sequence

from cuescope_confirm.merging import RULE
from cuescope_confirm.scores import Results
from cuescope_confirm.study import Cues, Study
from cuescope_sdk import Accuracy, Cell, Table


def sources(results: Results) -> Iterator[Table | Accuracy]:
    """Nothing where one run's findings are taken as they are.

    How often the model is right is told from the runs: the test asks about chosen samples alone.
    """
    study = results.study
    cues = [row.target.cue for row in results.rows]
    if any(cue.members for cue in cues):
        yield sources_table(cues)
        known = [
            report.accuracy for report in study.reports.values() if report.accuracy
        ]
        if known:
            # the run that asked most knows the accuracy best
            yield sorted(known, key=lambda accuracy: accuracy.answered)[-1]
    if len(study.reports) + len(study.left_out) > 1:
        yield methods(study, cues)


def sources_table(cues: Cues) -> Table:
    """A cue a line, with the findings that are this cue."""
    rows = []
    for cue in cues:
        runs: dict[str, list[str]] = {}
        for member in cue.members or (cue,):
            ids = runs.setdefault(member.run, [])
            # keys that two methods share have the run before them
            ids.append(member.id.removeprefix(f"{member.run} "))
        findings = [f"{run}: {', '.join(ids)}" for run, ids in runs.items()]
        rows.append((cue.name, len(runs), "; ".join(findings)))
    return Table.of(
        "What found each cue",
        ("cue", "methods", "findings"),
        rows,
        RULE,
    )


def methods(study: Study, cues: Cues) -> Table:
    """A method a line: how many findings it has and of how many cues, or why it was left out."""
    findings = Counter(cue.run for cue in study.cues)
    of_cues: Counter[str] = Counter()
    for cue in cues:
        of_cues.update(cue.runs)
    rows: list[Sequence[Cell]] = [
        (run, findings[run], of_cues[run], None) for run in study.reports
    ]
    rows += [(name, None, None, why) for name, why in study.left_out.items()]
    return Table.of(
        "Methods",
        ("method", "findings", "cues", "left out because"),
        rows,
    )
