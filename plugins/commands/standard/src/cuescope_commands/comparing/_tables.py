"""The tables of a comparison."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from typing import Any

from cuescope.application import figure, with_ends
from cuescope_commands.comparing._pairs import Change, Pairs
from cuescope_commands.comparing._runs import UNKNOWN, Run, Runs, names_of
from cuescope_sdk import Score, Table
from cuescope_sdk.data import shorten_names
from cuescope_sdk.report import count_of, signed

MOST_ROWS = 30
# share of the answers whose pictures may have changed between two runs
MOST_UNLIKE = 0.01
ALWAYS = {"method", "model", "data", "samples", "findings", "accuracy", "metric"}
MARKS = {
    "*": "a finding",
    "?": "one that is in doubt: `cuescope show RUN` says why",
}
Cells = list[str | None]  # one of each run


def settings(runs: Runs) -> Table:
    """What was run, how right its plain answers were, and every setting in which runs differ."""
    rows = []
    # what differs is shown; what is alike is counted, or the table would hide the difference
    alike = 0
    for setting, cells in _join(list(map(_settings, runs))).items():
        differ = len(set(cells)) > 1
        if differ or setting in ALWAYS:
            row = _row(setting, runs, ["-" if cell is None else cell for cell in cells])
            row["runs"] = "differs" if differ else "alike"
            if UNKNOWN in cells:
                row["runs"] = UNKNOWN
            rows.append(row)
        else:
            alike += 1
    return Table(
        title="What was run",
        columns=("", *names_of(runs), "runs"),
        rows=tuple(rows),
        notes=(f"{alike} more settings are alike.",),
    )


def _join(columns: Sequence[Mapping[str, str | None]]) -> dict[str, Cells]:
    """For each name that any of the columns has its values in all of them, None where none."""
    # a dict keeps the order in which the columns have them
    names = dict.fromkeys(chain(*columns))
    rows = {}
    for name in names:
        rows[name] = [column.get(name) for column in columns]
    return rows


def _settings(run: Run) -> dict[str, str]:
    report = run.report
    origin = report.provenance
    facts = {role: stamp.spec for role, stamp in origin.stamps}
    for role, stamp in origin.stamps:
        for option, value in stamp.options.items():
            facts[f"{role}: {option}"] = str(value)
    return facts | {
        # a part of the digest shows a difference as well
        "data: content": (origin.data.fingerprint or "-")[:8],
        "seed": str(origin.seed),
        "limit": str(origin.limit or "all"),
        "samples": str(origin.samples),
        "labels": str(len(origin.labels)),
        "metric": report.metrics[0].title if report.metrics else "-",
        "findings": str(len(report.findings)),
        "accuracy": run.plain_accuracy,
    }


def _row(name: str, runs: Runs, cells: Cells) -> dict[str, Any]:
    row: dict[str, Any] = {"": name}
    for run, cell in zip(runs, cells, strict=True):
        row[run.name] = cell
    return row


def verdicts(runs: Runs) -> Iterator[Table]:
    """What the reports say: of the model as a whole, of labels, of features.

    A table a method: figures of two methods do not belong in one row.
    """
    for method in dict.fromkeys(run.method for run in runs):
        alike = [run for run in runs if run.method == method]
        said = [run.report.notes.get("verdict") for run in alike]
        # methods without a verdict get no empty row
        rows = {"verdict": said} if any(said) else {}
        rows |= strongest(alike) | about_no_label(alike)
        notes = ["These figures were not paired: see the answers below."]
        notes = [*_legend(rows), *notes]
        for metric in alike[0].report.metrics[:1]:
            # figures of one method share one metric
            notes.insert(0, f"The figures are {metric.title}: {metric.meaning}.")
        if rows:
            yield Table(
                title=f"The strongest finding for each label, and what is about none ({method})",
                columns=("", *names_of(alike)),
                rows=tuple(_row(name, alike, cells) for name, cells in rows.items()),
                notes=tuple(notes),
            )


def strongest(runs: Runs) -> dict[str, Cells]:
    """Label -> the strongest finding about it in each run, None where there is none."""
    columns = []
    for run in runs:
        # a label without a finding has its row too
        column: dict[str, str | None] = dict.fromkeys(run.labels)
        for label, score in run.strongest.items():
            figures = _with_mark(score)
            column[label] = f"{run.cue_names[score.feature]} {figures}"
        columns.append(column)
    # without any finding all cells would be empty
    return _join(columns) if any(run.strongest for run in runs) else {}


def about_no_label(runs: Runs) -> dict[str, Cells]:
    """Feature -> its headline figure in each run, of those that are about no one label."""
    columns = []
    for run in runs:
        column = {}
        for score in run.report.headlines:
            if score.label is None:
                value = None if score.value is None else _with_mark(score)
                column[run.cue_names[score.feature]] = value
        columns.append(column)
    return _join(columns)


def _legend(rows: Mapping[str, Cells]) -> Iterator[str]:
    """What the marks that stand in the rows say."""
    cells = [cell for row in rows.values() for cell in row if cell]
    for mark, words in MARKS.items():
        if any(cell.endswith(f" {mark}") for cell in cells):
            yield f"{mark} marks {words}."


def _with_mark(score: Score) -> str:
    return f"{_with_interval(score)} {score.mark}".rstrip()


def _with_interval(score: Score) -> str:
    if score.value is None or score.low is None or score.high is None:
        return figure(score.value)
    value, low, high = with_ends(score.value, score.low, score.high)
    return f"{value} [{low}, {high}]"


def changes(first: Run, second: Run, pairs: Pairs) -> Table:
    """Accuracy in both runs on the same trials, which must not be `unlike`."""
    changes = pairs.changes()
    rows: list[dict[str, Any]] = []
    for change in changes[:MOST_ROWS]:
        star = " *" if change.p_value <= 0.05 else ""
        row = {
            "answers": change.kind,
            "n": change.n,
            first.name: f"{change.first:.1%}",
            second.name: f"{change.second:.1%}",
            "change": signed(100 * change.change) + star,
            "95% interval": f"{signed(100 * change.low)} to {signed(100 * change.high)}",
            "p": change.p_value,
            "lost": change.lost,
            "won": change.won,
        }
        rows.append(row)
    columns = (
        "n",
        first.name,
        second.name,
        "change",
        "95% interval",
        "p",
        "lost",
        "won",
    )
    return Table(
        title=_title(first, second),
        columns=("answers", *columns),
        rows=tuple(rows),
        notes=tuple(_notes(first, second, pairs, changes)),
    )


def unpaired_table(first: Run, second: Run, why: str) -> Table:
    """In place of what `changes` tells."""
    return Table(
        title=_title(first, second),
        columns=("answers", first.name, second.name),
        rows=(),
        notes=(f"Not paired: {why.rstrip('.')}.",),
    )


def _title(first: Run, second: Run) -> str:
    return f"Answers of {second.name} against {first.name}, paired by sample"


def unlike(first: Run, second: Run, pairs: Pairs) -> str | None:
    """Why the answers of two runs say nothing about each other; None where they do."""
    # pairs by name would be pairs of strangers
    # samples of other data may have the same keys by chance
    if first.dataset != second.dataset:
        return f"they are of other data sets ({first.dataset} and {second.dataset})"
    before, after, both = pairs.counts
    if len(pairs.unlike) > MOST_UNLIKE * both:
        return (
            f"{count_of(len(pairs.unlike), 'samples')} of the same name with other pictures (such "
            f"as {pairs.unlike[0]}), so the data are not the same. Where these are other frames "
            "of the same clips, pair them with --by-name"
        )
    if not pairs.rows:
        shared = (
            f"of {before} and {count_of(after, 'answers')} {both} are to the same sample under "
            "the same "
            "condition"
        )
        if both:
            return f"{shared}, and none of them has a label"
        return f"{shared}. Samples are the same by key, question, choices and pictures"
    return None if pairs.alike else "samples of the same name have other labels"


def _notes(
    first: Run,
    second: Run,
    pairs: Pairs,
    changes: Sequence[Change],
) -> Iterator[str]:
    yield (
        "In points of accuracy. * p <= 0.05. The first row is tested first; the others are "
        "corrected for each other (Holm), and have no star where the first has none. lost: right "
        "in the first run and wrong in the second; won: the other way round."
    )
    before, after, both = pairs.counts
    if both < max(before, after):
        yield (
            f"{both} of {before} and {count_of(after, 'answers', 'are')} to the same trial; "
            "the rest is left out."
        )
    if pairs.unlike:
        yield (
            f"{count_of(len(pairs.unlike), 'samples')} left out: the two runs have other "
            "pictures of them."
        )
    origin = first.report.provenance
    other = second.report.provenance
    if origin.data.fingerprint != other.data.fingerprint:
        yield "The data differ in options or content; pairs have one name and the same pictures."
    if origin.labels != other.labels:
        yield "The runs have other labels to choose from, so chance is not the same in both."
    # the first row is the plain condition
    plain = changes[0]
    if plain.groups < plain.n:
        yield (
            f"{count_of(plain.n, 'pairs')} of {plain.groups} groups: interval and p-value are "
            "of groups."
        )
    else:
        yield "No two samples share a declared group: they are taken as independent."
    if plain.few:
        yield f"Only {count_of(plain.groups, 'groups')}: few, and the interval may be too short."
    lost, won = pairs.flips(pairs.conditions[0])
    for name, flips in (("lost", lost), ("won", won)):
        if flips:
            keys = []
            for _, row in flips:
                # an answer in free words has no prediction
                answer = row["prediction"] or row["text"]
                said = f", answered {answer}" if name == "lost" else ""
                keys.append(f"{row['sample']} (right is {row['label']}{said})")
            # whoever doubts a change begins with a few of its samples
            yield f"{name}: {shorten_names(keys)}"
    if len(changes) > MOST_ROWS:
        yield f"{len(changes) - MOST_ROWS} more rows are left out here."
