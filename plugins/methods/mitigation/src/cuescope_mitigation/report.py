"""Rows, tables and sentences: before and after, beside what chance and a shift do."""

from collections.abc import Iterator

from cuescope_mitigation.measuring import Results, Row, measure, other_gaps, points
from cuescope_mitigation.options import MitigationOptions
from cuescope_mitigation.paper import papers_tables
from cuescope_mitigation.scores import Change
from cuescope_mitigation.trials import Comparison, mitigator_name
from cuescope_sdk import Accuracy, Audit, Cell, Score, Table

OTHERS = 8  # other cues in the table


def scores(audit: Audit, options: MitigationOptions, comparison: Comparison) -> Iterator[Score]:
    """A row a cue and metric, the largest gain first; the tables are attached."""
    results = audit.once(measure, audit, options, comparison)
    audit.attach(of_measured(comparison))
    for table in tables(results, comparison, options):
        audit.attach(table)
    if not comparison.mitigator.changes_answers:
        audit.note("answers", "this mitigator leaves the model as it is: train with what it wrote")
    helped = sum(row.verdict == "helps" for row in results.rows)
    audit.note(
        "result",
        f"The remedy helps with {helped} of {len(results.rows)} cues, and because of them."
        if helped
        else "No remedy: for no cue is a gain shown that comes from the cue.",
    )
    if options.save is not None:
        audit.note("audit the mitigated model", f"-M mitigated={options.save}")
    ranked = sorted(results.rows, key=lambda row: -(row.present.gain if row.present else -2))
    for row in ranked:
        yield from scores_of(row, results.overall, comparison.mitigator.title)


def scores_of(row: Row, overall: Change, title: str) -> Iterator[Score]:
    """The figures of one cue."""
    feature, label = row.cue.feature.key, row.cue.label
    gain = row.present
    yield Score(
        feature=feature,
        label=label,
        metric="gain",
        value=gain.gain if gain else None,
        low=gain.low if gain else None,
        high=gain.high if gain else None,
        n=row.n,
        finding=row.verdict == "helps",
        always_reported=True,
        statement=statement(row, title),
    )
    parts = {"worst_group_gain": row.worst, "overall_gain": overall}
    for metric, figure in parts.items():
        if figure is not None and gain is not None:
            yield Score(
                feature=feature,
                label=label,
                metric=metric,
                value=figure.gain,
                low=figure.low,
                high=figure.high,
                n=figure.n,
            )
    if row.gap is not None:
        yield Score(
            feature=feature,
            label=label,
            metric="gap_after",
            value=row.gap.after,
            low=row.gap.low,
            high=row.gap.high,
            n=row.gap.n,
        )


def statement(row: Row, title: str) -> str:
    """What the remedy did to this cue, in words."""
    where = "{feature}" + (f" on '{row.cue.label}'" if row.cue.label else "")
    if row.present is None:
        return f"{where}: only {row.n} of the measured samples show the cue; nothing can be said."
    gain = row.present
    figures = (
        f"with the cue on screen the model is right on {gain.after:.0%} instead of "
        f"{gain.before:.0%} of {gain.n} samples ({points(gain.gain)} points, between "
        f"{points(gain.low)} and {points(gain.high)})"
    )
    placebos = []
    if row.random is not None:
        placebos.append(f"cues drawn at random {points(row.random.gain)}")
    if row.shifted is not None:
        placebos.append(f"the same shift of all answers {points(row.shifted.gain)}")
    beside = f" For comparison, {' and '.join(placebos)}." if placebos else ""
    ends = {
        "helps": "The remedy helps, and it helps because of the cue.",
        "no gain shown": "No gain is shown: it may be chance.",
        "harms": "The remedy harms here.",
        "only moves answers": "The remedy only moves answers: a shift of them all gains as much.",
        "not tried": "Without placebos it is not known whether the gain comes from the cue.",
        "not the cue": "The gain does not come from the cue: random cues gain as much.",
        "too few": "",
    }
    return f"{where}: {figures}.{beside} {ends[row.verdict]}"


def of_measured(comparison: Comparison) -> Accuracy:
    """The accuracy of the model as it was, on the measured samples."""
    right, labels = comparison.before, comparison.parts.labels
    return Accuracy(correct=int(right.sum()), answered=len(right), chance=1 / len(labels))


# ---------------------------------------------------------------------------------------- tables


def tables(results: Results, comparison: Comparison, options: MitigationOptions) -> Iterator[Table]:
    """Before and after, the placebos, the tops of TRoVe's tables, and what became of other cues."""
    yield before_and_after(results)
    if comparison.mitigator.changes_answers:
        yield placebo_table(results)
        yield from papers_tables(comparison, mitigator_name(options))
        yield other_cues(results, comparison, options)


def before_and_after(results: Results) -> Table:
    """Accuracies in percent."""
    columns = (
        "cue",
        "label",
        "samples",
        "with it",
        "then",
        "without it",
        "then ",
        "gap",
        "gap left",
    )
    rows = []
    for row in results.rows:
        if row.present is None or row.absent is None or row.gap is None:
            continue
        values: tuple[Cell, ...] = (
            row.cue.name,
            row.cue.label or "any",
            row.n,
            100 * row.present.before,
            100 * row.present.after,
            100 * row.absent.before,
            100 * row.absent.after,
            100 * row.gap.before,
            100 * row.gap.after,
        )
        rows.append(dict(zip(columns, values, strict=True)))
    overall = results.overall
    return Table(
        title="Accuracy before and after, on samples that nothing was learned from (%)",
        columns=columns,
        rows=tuple(rows),
        notes=(
            f"All samples: {overall.before:.1%} before, {overall.after:.1%} after "
            f"({points(overall.gain)} points, between {points(overall.low)} and "
            f"{points(overall.high)}).",
            "The gap is the accuracy on the label without the cue minus that with it.",
        ),
    )


def placebo_table(results: Results) -> Table:
    """Gains in points where the cue is, and the excess over each placebo with its interval."""
    columns = (
        "cue",
        "label",
        "gain",
        "random cues",
        "shift",
        "beyond random",
        "beyond shift",
        "worst group",
        "verdict",
    )
    rows = []
    for row in results.rows:
        if row.present is None:
            continue
        values: tuple[Cell, ...] = (
            row.cue.name,
            row.cue.label or "any",
            _gain(row.present),
            *map(_gain, (row.random, row.shifted, row.beyond_random, row.beyond_shift, row.worst)),
            row.verdict,
        )
        rows.append(dict(zip(columns, values, strict=True)))
    return Table(
        title="The remedy beside two placebos (points of accuracy where the cue is)",
        columns=columns,
        rows=tuple(rows),
        notes=(
            "Random cues: the same mitigator, fitted to as many samples of each label, drawn at "
            "random. It answers where the cue is. Shift: a constant is added to each answer, so "
            "that each is given as often as by the mitigated model.",
            f"Intervals hold for all cues together ({results.confidence:.1%} each).",
        ),
    )


def _gain(figure: Change | None) -> str | None:
    return None if figure is None else f"{points(figure.gain)} {_range(figure)}"


def _range(figure: Change) -> str:
    return f"({points(figure.low)} to {points(figure.high)})"


def other_cues(results: Results, comparison: Comparison, options: MitigationOptions) -> Table:
    """Whether what a cue did before is done by another one now: the gaps that grew most."""
    gaps = other_gaps(comparison, options, results)
    columns = ("feature", "label", "samples", "gap before", "gap after", "interval after")
    rows = tuple(
        {
            "feature": name,
            "label": label,
            "samples": gap.n,
            "gap before": 100 * gap.before,
            "gap after": 100 * gap.after,
            "interval after": _range(gap),
        }
        for name, label, gap in gaps[:OTHERS]
    )
    return Table(
        title="Other features of the run whose gap grew most (points)",
        columns=columns,
        rows=rows,
        notes=(f"{len(gaps)} pairs of feature and label were compared.",),
    )
