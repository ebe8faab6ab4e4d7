"""The tables of a comparison."""

from collections.abc import Iterator, Sequence
from typing import Any

from cuescope.application import figure
from cuescope_commands.comparing._pairs import Pairs
from cuescope_sdk import Report, Score, Table

MOST_ROWS = 30
ALWAYS = {"method", "model", "data", "samples", "findings", "accuracy", "metric"}
SHOWN_KEYS = 8


def settings(
    names: Sequence[str], reports: Sequence[Report], accuracies: Sequence[str] = ()
) -> Table:
    """What was run, how right its plain answers were, and every setting in which runs differ."""
    columns = [_settings(report) for report in reports]
    for column, accuracy in zip(columns, accuracies, strict=False):
        column["accuracy"] = accuracy
    rows, alike = [], 0
    for setting in dict.fromkeys(name for column in columns for name in column):
        cells = [column.get(setting, "-") for column in columns]
        differ = len(set(cells)) > 1
        if differ or setting in ALWAYS:
            mark = "differs" if differ else "alike"
            rows.append({"": setting, **dict(zip(names, cells, strict=True)), "runs": mark})
        else:
            alike += 1
    notes = (f"{alike} more settings are alike.",)
    return Table(title="What was run", columns=("", *names, "runs"), rows=tuple(rows), notes=notes)


def _settings(report: Report) -> dict[str, str]:
    origin = report.provenance
    facts = {role: stamp.spec for role, stamp in origin.stamps}
    for role, stamp in origin.stamps:
        facts |= {f"{role}: {name}": str(value) for name, value in stamp.options.items()}
    facts |= {
        "data: content": (origin.data.fingerprint or "-")[:8],
        "seed": str(origin.seed),
        "limit": str(origin.limit or "all"),
        "samples": str(origin.samples),
        "labels": str(len(origin.labels)),
        "metric": report.metrics[0].title if report.metrics else "-",
        "findings": str(len(report.findings)),
    }
    return facts


def verdicts(names: Sequence[str], reports: Sequence[Report]) -> Iterator[Table]:
    """What the reports say: of the model as a whole, of labels, of features.

    A table a method: figures of two methods do not belong in one row.
    """
    runs: dict[str, list[tuple[str, Report]]] = {}
    for name, report in zip(names, reports, strict=True):
        runs.setdefault(report.provenance.method.spec.partition(":")[0], []).append((name, report))
    for method, of_method in runs.items():
        columns, alike = [name for name, _ in of_method], [report for _, report in of_method]
        said = [report.notes.get("verdict") for report in alike]
        rows = {"verdict": said} if any(said) else {}
        rows |= strongest(alike) | about_no_label(alike)
        if rows:
            metrics = alike[0].metrics
            figures = [f"The figures are {metrics[0].title}: {metrics[0].meaning}."] * bool(metrics)
            yield Table(
                title=f"The strongest finding for each label, and what is about none ({method})",
                columns=("", *columns),
                rows=tuple(
                    {"": row, **dict(zip(columns, cells, strict=True))}
                    for row, cells in rows.items()
                ),
                notes=(
                    *figures,
                    "* marks a finding. These figures were not paired: see the answers below.",
                ),
            )


def strongest(reports: Sequence[Report]) -> dict[str, list[str | None]]:
    """Label -> the strongest finding about it in each report, None where there is none."""
    if all(score.label is None for report in reports for score in report.findings):
        return {}
    labels = dict.fromkeys(label for report in reports for label in report.provenance.labels)
    return {label: [_strongest(report, label) for report in reports] for label in labels}


def about_no_label(reports: Sequence[Report]) -> dict[str, list[str | None]]:
    """Feature -> its headline figure in each report, of those that are about no one label."""
    of_runs = [
        {report.names[s.feature]: _figure(s) for s in report.headlines if s.label is None}
        for report in reports
    ]
    names = dict.fromkeys(name for of_run in of_runs for name in of_run)
    return {name: [of_run.get(name) for of_run in of_runs] for name in names}


def _strongest(report: Report, label: str) -> str | None:
    of_label = (score for score in report.findings if score.label == label)
    return next((f"{report.names[s.feature]} {_bounded(s)}" for s in of_label), None)


def _figure(score: Score) -> str | None:
    """With its interval, and a star where it is a finding."""
    return None if score.value is None else f"{_bounded(score)}{' *' * score.finding}"


def _bounded(score: Score) -> str:
    bounds = score.low is not None and score.high is not None
    interval = f" [{figure(score.low)}, {figure(score.high)}]" if bounds else ""
    return f"{figure(score.value)}{interval}"


def changes(names: tuple[str, str], reports: tuple[Report, Report], pairs: Pairs) -> Table:
    """Accuracy in both runs on the same trials; why not, where they cannot be paired."""
    if refusal := unlike(reports, pairs):
        return not_paired(names, refusal)
    found = pairs.changes()
    rows: list[dict[str, Any]] = [
        {
            "answers": change.kind,
            "n": change.n,
            names[0]: f"{change.first:.1%}",
            names[1]: f"{change.second:.1%}",
            "change": f"{100 * change.change:+.1f}" + " *" * (change.p_value <= 0.05),
            "95% interval": f"{100 * change.low:+.1f} to {100 * change.high:+.1f}",
            "p": f"{change.p_value:.4f}" if change.p_value >= 0.0001 else "< 0.0001",
            "lost": change.lost,
            "won": change.won,
        }
        for change in found[:MOST_ROWS]
    ]
    return Table(
        title=_title(names),
        columns=("answers", "n", *names, "change", "95% interval", "p", "lost", "won"),
        rows=tuple(rows),
        notes=tuple(_notes(reports, pairs, found)),
    )


def not_paired(names: tuple[str, str], why: str) -> Table:
    """In place of what `changes` tells."""
    return Table(
        title=_title(names),
        columns=("answers", *names),
        rows=(),
        notes=(f"Not paired: {why.rstrip('.')}.",),
    )


def _title(names: tuple[str, str]) -> str:
    return f"Answers of {names[1]} against {names[0]}, paired by sample"


def unlike(reports: tuple[Report, Report], pairs: Pairs) -> str | None:
    """Why the answers of two runs say nothing about each other; None where they do."""
    specs = [report.provenance.data.spec.partition(":")[0] for report in reports]
    if len(set(specs)) > 1:
        return f"they are of other data sets ({specs[0]} and {specs[1]})"
    if not pairs.rows:
        first, second, both = pairs.counts
        return (
            f"of {first} and {second} answers {both} are to the same sample under the same "
            "condition, and none of them has a label"
        )
    if not pairs.alike:
        return "samples of the same name have other labels"
    return None


def _notes(reports: tuple[Report, Report], pairs: Pairs, found: Sequence[Any]) -> Iterator[str]:
    yield (
        "In points of accuracy. * p <= 0.05, corrected for all rows (Holm). lost: right in the "
        "first run and wrong in the second; won: the other way round."
    )
    first, second, both = pairs.counts
    if both < max(first, second):
        yield f"{both} of {first} and {second} answers are to the same trial; the rest is left out."
    origins = [report.provenance for report in reports]
    if len({origin.data.fingerprint for origin in origins}) > 1:
        yield "The data differ in content: a pair shares its name, perhaps not its pixels."
    if len({origin.labels for origin in origins}) > 1:
        yield "The runs have other labels to choose from, so chance is not the same in both."
    groups, n = found[0].groups, found[0].n
    if groups < n:
        yield f"{n} pairs of {groups} groups: whole groups are drawn and flipped."
    else:
        yield "No two samples share a declared group: they are taken as independent."
    if found[0].few:
        yield f"Only {groups} groups: few, and the interval may be too short."
    for name, flips in zip(("lost", "won"), pairs.flips(pairs.conditions[0]), strict=True):
        if flips:
            rows = [row for _, row in flips]
            keys = [f"{r['sample']} ({r['label']}: {r['prediction'] or r['text']})" for r in rows]
            more = f" and {len(keys) - SHOWN_KEYS} more" * (len(keys) > SHOWN_KEYS)
            yield f"{name}: {', '.join(keys[:SHOWN_KEYS])}{more}"
    if len(found) > MOST_ROWS:
        yield f"{len(found) - MOST_ROWS} more rows are left out here."
