"""Labels that all, some or none of several models have findings about (TRoVe, app. E)."""

from collections.abc import Iterator, Sequence
from operator import itemgetter
from typing import Any

import numpy as np

from cuescope_commands.comparing._runs import Run, Runs, names_of
from cuescope_sdk import Table, UserError
from cuescope_sdk.data import shorten_names
from cuescope_sdk.report import count_of
from cuescope_sdk.statistics import Overlap


def consensus_tables(runs: Runs) -> Iterator[Table]:
    """How many labels and which, and what chance would give."""
    for run in runs:
        _refuse_unlike(run, runs[0])
    yield agreement(runs)
    yield labels_table(runs)


def _refuse_unlike(run: Run, first: Run) -> None:
    """Raise UserError where findings are not about the same things."""
    subject = f"compare --consensus: {run.name}"
    if run.method != first.method:
        audit = f"an audit by {first.method}, as {first.name}"
        raise UserError(subject, expected=audit, got=run.method)
    expected = set(first.labels)
    if not run.labels or set(run.labels) != expected:
        common = len(expected.intersection(run.labels))
        raise UserError(
            subject,
            expected=f"the {len(expected)} labels of {first.name}",
            got=f"{count_of(len(run.labels), 'labels')}, {common} of them the same",
        )


# --------------------------------------------------------------------------------------- labels


def agreement(runs: Runs) -> Table:
    """Labels with a finding in all, some, none of the runs, beside what chance would give."""
    total = len(runs[0].labels)
    labels = [set(run.strongest) for run in runs]
    with_finding = list(map(len, labels))
    without = [total - size for size in with_finding]
    in_all = len(set.intersection(*labels))
    in_none = total - len(set.union(*labels))
    all_row = _agreement_row("all", in_all, total, with_finding)
    none_row = _agreement_row("none", in_none, total, without)
    some_row = {
        "found by": "some",
        "labels": total - in_all - in_none,
        # what is left, so that the rows add up to all labels
        "by chance": total - (all_row["by chance"] + none_row["by chance"]),
        "p": None,
    }
    return Table(
        title=f"Labels with a finding, over {count_of(len(runs), 'runs')} and "
        f"{count_of(total, 'labels')}",
        columns=("found by", "labels", "by chance", "p"),
        rows=(all_row, some_row, none_row),
        notes=(
            "By chance: each run has as many labels with a finding as it has, drawn at random and "
            "apart from the others' (exact, a chain of hypergeometric draws); p is one-sided, for "
            "so many or more. Labels that are hard or rare for every model raise agreement too: "
            "more than chance does not say that the models share a cue.",
        ),
    )


def _agreement_row(
    who: str,
    count: int,
    total: int,
    sizes: Sequence[int],
) -> dict[str, Any]:
    chances = Overlap.chances(total, sizes)
    return {
        "found by": who,
        "labels": count,
        "by chance": float(chances @ np.arange(total + 1)),
        # sums of rounded chances may be a little above 1
        "p": min(float(chances[count:].sum()), 1.0),
    }


def labels_table(runs: Runs) -> Table:
    """Which labels: found by most first, then by the mean of their strongest findings."""
    rows = []
    missed = []
    for label in runs[0].labels:
        row: dict[str, str | None] = {"label": label}
        values = []
        for run in runs:
            score = run.strongest.get(label)
            row[run.name] = run.cue_names[score.feature] if score else None
            if score:
                values.append(score.value or 0.0)
        row["runs"] = f"{len(values)} of {len(runs)}"
        if values:
            rank = (len(values), sum(values) / len(values))
            rows.append((rank, row))
        else:
            missed.append(label)
    rows.sort(key=itemgetter(0), reverse=True)
    ending = f": {shorten_names(missed)}" if missed else ""
    return Table(
        title="Labels, and the cue of the strongest finding in each run",
        columns=("label", "runs", *names_of(runs)),
        rows=tuple(row for _, row in rows),
        notes=(f"No run has a finding about {len(missed)} labels{ending}.",),
    )
