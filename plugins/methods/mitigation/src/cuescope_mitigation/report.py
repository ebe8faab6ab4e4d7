"""Rows, tables and sentences: before and after, beside what chance and a shift do."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from cuescope_mitigation.analysis import Results, Row, Verdict, between, measure, points
from cuescope_mitigation.options import NOT_TRIED
from cuescope_mitigation.paper import papers_tables
from cuescope_mitigation.scores import Change
from cuescope_mitigation.trials import SAVING, Comparison, Parts, part_of
from cuescope_sdk import Accuracy, Cell, Finding, Score, Table
from cuescope_sdk.report import shares_row
from cuescope_sdk.statistics import Estimate

NAMES = ("cue", "label")
REFIT = "a plain refit of the last layer"
NEXT = "See which cues the mitigated model uses:"
ENDS: Mapping[Verdict, str] = {
    "helps": "The remedy helps, and it helps because of the cue.",
    "no gain shown": "No gain is shown: it may be chance.",
    "harms": "The remedy harms here.",
    "no better than a shift": "It is not shown that the remedy does more than to give some answers "
    "more often: a constant added to each answer's score may gain as much.",
    "not tried": "It is not known whether the gain comes from the cue: no placebo was tried.",
    "no better than random cues": "It is not shown that the gain comes from the cue: random cues "
    "may gain as much.",
    "no better than a refit": "The remedy helps, but it is not shown to help more than a plain "
    "refit of the last layer, which knows no cue.",
    "too few": "",
}


def scores(comparison: Comparison) -> Iterator[Score]:
    """A row a cue and metric, the largest gain first; the tables are attached."""
    audit = comparison.parts.audit
    results = audit.once(measure, comparison)
    audit.attach_each(tables(results))
    if not comparison.mitigator.changes_answers:
        audit.note(
            "answers",
            "this mitigator does not change the model: train with its weights",
        )
    # findings come first, and each of the three groups in the order of what it gains
    audit.note("result", result(results.rows))
    for found in findings(results.rows):
        audit.attach(found)
    folder = comparison.parts.options.save
    if folder is not None and SAVING not in audit.failures:
        option = f"mitigated={folder}"
        again = comparison.parts.options.tested.audit_with(option)
        # None: no command names the model, which somebody has in Python
        way = (
            f"-O model.{option}"
            if again
            else f"cuescope.Mitigated(model, {str(folder)!r})"
        )
        audit.note("audit the mitigated model", way)
        if again is not None:
            audit.note("next step", f"{NEXT} `{again}`.")
    for row in sorted(results.rows, key=_rank):
        name = row.cue.name
        words = f"{{feature}}: the remedy {row.verdict}."
        with audit.spare(f"sentence on {name}"):
            words = statement(row, comparison.mitigator.title)
        with audit.spare(f"scores of {name}"):
            yield from scores_of(row, results.overall, words)


def findings(rows: Sequence[Row]) -> Iterator[Finding]:
    """Each cue that the remedy helps with: correct answers where it is, before and after."""
    by_cue: dict[str, list[Row]] = {}
    for row in rows:
        by_cue.setdefault(row.cue.feature.key, []).append(row)
    for feature, own in by_cue.items():
        if not any(row.verdict == "helps" for row in own):
            continue
        yield Finding(
            feature=feature,
            claim="{feature} costs less with the fix",
            columns=("after", "before"),
            rows=tuple(
                shares_row(
                    row.cue.label or "all",
                    row.present.after,
                    row.present.before,
                    Estimate(row.present.gain, row.present.low, row.present.high),
                    label=row.cue.label,
                    n=row.n,
                )
                for row in own
                if row.present is not None
            ),
            status="cause",
        )


def scores_of_failure(parts: Parts) -> Iterator[Score]:
    """A line a cue, where the remedy could not be tried."""
    reason = parts.audit.failures[part_of(parts.options)]
    parts.audit.note(NOT_TRIED, reason)
    # a failed remedy is one sentence a cue, and the rest of the report is whole
    for cue in parts.cues:
        where = "{feature}" + (f" on '{cue.label}'" if cue.label else "")
        yield Score(
            feature=cue.feature.key,
            label=cue.label,
            metric="gain",
            value=None,
            always_reported=True,
            statement=f"{where}: the remedy failed, so nothing is known of it.",
        )


def result(rows: Sequence[Row]) -> str:
    """What came of all cues together."""
    # counted, not averaged: a remedy may help one cue and harm another
    verdicts = [row.verdict for row in rows]
    sentences = []
    if helped := verdicts.count("helps"):
        sentences.append(
            f"The remedy helps for {helped} of {len(rows)} cues, and because of these cues."
        )
    if equalled := verdicts.count("no better than a refit"):
        sentences.append(
            f"For {equalled} of {len(rows)} cues it helps no more than {REFIT} (--with refit)."
        )
    return " ".join(sentences) or (
        "No remedy: no cue shows a gain that comes from the cue itself."
    )


def _rank(row: Row) -> float:
    """The largest gain first, then what was not measured."""
    # 2 is beyond any change of a share
    return -row.present.gain if row.present else 2


def scores_of(row: Row, overall: Change, words: str) -> Iterator[Score]:
    """The figures of one cue."""
    score = partial(Score, feature=row.cue.feature.key, label=row.cue.label)
    headline = partial(
        score,
        metric="gain",
        n=row.n,
        finding=row.verdict == "helps",
        always_reported=True,
        statement=words,
    )
    gain = row.present
    if gain is None:
        # a cue that cannot be measured keeps its line, which says so
        yield headline(value=None)
        return
    yield headline(value=gain.gain, low=gain.low, high=gain.high)
    # the headline alone decides the finding; these say at what price it comes
    figures = {
        "worst_group_gain": row.worst,
        "groups_gain": row.groups,
        "overall_gain": overall,
        "gap_after": row.gap,
    }
    for metric, figure in figures.items():
        if figure is not None:
            # the gap that is left, and not by how much it changed
            value = figure.after if metric == "gap_after" else figure.gain
            yield score(
                metric=metric,
                value=value,
                low=figure.low,
                high=figure.high,
                n=figure.n,
            )


def statement(row: Row, title: str) -> str:
    """What the remedy did to this cue, in words."""
    # the report puts the feature's name in
    where = "{feature}" + (f" on '{row.cue.label}'" if row.cue.label else "")
    gain = row.present
    if gain is None:
        # the side that has fewer samples is the reason
        few = f"show the cue (only {row.n})"
        if row.others < row.n:
            few = f"are without the cue (only {row.others})"
        return f"{where}: too few of the measured samples {few}; nothing can be said."
    figures = (
        f"with the cue on screen the model is right on {gain.after:.0%} of {gain.n} samples, "
        f"{_instead_of(gain)} ({points(gain.gain)} points, {between(gain)})"
    )
    controls = {
        "the same remedy fitted to random cues": row.random,
        "a constant added to each answer's score": row.shifted,
        REFIT: row.refit,
    }
    gains = [
        f"{name} {points(control.gain.gain)}"
        for name, control in controls.items()
        if control is not None
    ]
    beside = ""
    if gains:
        beside = f" What knows nothing of the cue gains, in points: {', '.join(gains)}."
    return f"{where}: {figures}.{beside} {ENDS[row.verdict]}"


def _instead_of(gain: Change) -> str:
    """What it was before; two shares that are written alike are not told apart."""
    before = f"{gain.before:.0%}"
    return "as before" if before == f"{gain.after:.0%}" else f"instead of {before}"


def of_measured(comparison: Comparison) -> Accuracy:
    """The accuracy of the model as it was, on the measured samples."""
    right = comparison.before
    # one in so many, as a model does that knows nothing
    chance = 1 / len(comparison.parts.labels)
    return Accuracy(correct=int(right.sum()), answered=len(right), chance=chance)


# ---------------------------------------------------------------------------------------- tables


def tables(results: Results) -> dict[str, Callable[[], Any]]:
    """Before and after, and the tops of TRoVe's tables."""
    comparison = results.comparison
    # each by itself, so that one that fails costs itself
    parts: dict[str, Callable[[], Any]] = {
        "accuracy before": partial(of_measured, comparison),
        "table of before and after": partial(before_and_after, results),
    }
    # weights for a training leave the answers: there is nothing after
    if comparison.mitigator.changes_answers:
        parts |= {
            "tables of the paper": partial(papers_tables, comparison),
        }
    return parts


def before_and_after(results: Results) -> Table:
    """Accuracies in percent."""
    rows: list[list[Cell]] = []
    for row in results.rows:
        # without both sides there is no gap to show
        if row.present is None or row.absent is None or row.gap is None:
            continue
        label = row.cue.label or "any"
        cells: list[Cell] = [row.cue.name, label, row.n]
        for figure in (row.present, row.absent, row.gap):
            cells += [100 * figure.before, 100 * figure.after]
        rows.append(cells)
    overall = results.overall
    return Table.of(
        "Accuracy before and after, on samples that were not used for fitting (%)",
        (
            *NAMES,
            "samples",
            "with it",
            "then",
            "without it",
            # with a space: the name of a column may not come twice
            "then ",
            "gap",
            "gap left",
        ),
        rows,
        f"All samples: {overall.before:.1%} before, {overall.after:.1%} after "
        f"({points(overall.gain)} points, {between(overall)}).",
        "The gap is the accuracy on the label without the cue minus that with it.",
    )
