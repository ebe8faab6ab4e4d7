"""From the sources of answers to the rows, the table and the sentences of the report."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from cuescope_cci.error_source import BACKGROUND, AnswerSource, factor_words, groups
from cuescope_cci.error_source.look_alikes import choose_judge
from cuescope_cci.options import CCIOptions
from cuescope_cci.scores import Tally, background_p_value, contrast_p_value, gap_p_value
from cuescope_sdk import Audit, Cell, Score, Table
from cuescope_sdk.maths import accuracy_gap_interval, benjamini_hochberg, wilson_interval

REGION_WORDS = {
    "hidden": "the region whose absence costs the answer more than it costs the other choices",
    "iou": "IoU of the map's strongest part (at least {strongest:g} of its top) with each region",
    "soft-iou": "IoU of the whole map with each region",
    "mass": "share of the map's positive weight in each region",
}


@dataclass(frozen=True)
class Row:
    """A group and label with what was counted; `p_value` None where nothing can be tested."""

    feature: str
    label: str | None
    tally: Tally
    p_value: float | None


def scores(audit: Audit, options: CCIOptions, sources: Sequence[AnswerSource]) -> Iterator[Score]:
    """The figures of each group and label, and the facts at the head of the report."""
    _note(audit, options, sources)
    counted = [source for source in sources if source.is_counted]
    if not counted:
        return
    table = rows(counted, audit.labels)
    audit.attach(error_table(table, options.confidence))
    # One correction for the whole table: all images, labels and factors are one search for cues.
    q_values = benjamini_hochberg([row.p_value for row in table])
    findings = [_is_finding(row, q, options) for row, q in zip(table, q_values, strict=True)]
    whole, level = table[0].tally, options.confidence
    for i in sorted(range(len(table)), key=lambda i: _rank(table[i], findings[i], level)):
        yield from _row_scores(table[i], q_values[i], findings[i], whole, options)


def rows(sources: Sequence[AnswerSource], labels: Sequence[str]) -> list[Row]:
    """All images, each label, and each factor's values."""
    by_name = groups(sources)
    split: list[tuple[str, str | None, list[AnswerSource]]] = []
    split += [(BACKGROUND, None, by_name.pop(BACKGROUND))]
    split += [(BACKGROUND, label, [s for s in sources if s.label == label]) for label in labels]
    split += [(name, None, group) for name, group in by_name.items()]
    tallies = [(feature, label, tally(group)) for feature, label, group in split if group]
    whole = tallies[0][2]
    table = []
    for feature, label, counts in tallies:
        # A factor is a contrast: that the background misleads in it as elsewhere is no news.
        contrast = feature != BACKGROUND
        p = contrast_p_value(counts, whole) if contrast else background_p_value(counts)
        table.append(Row(feature, label, counts, p))
    return table


def tally(group: Sequence[AnswerSource]) -> Tally:
    """Count a group."""
    wrong = [source for source in group if source.wrong]
    return Tally(
        images=len(group),
        errors=len(wrong),
        background=sum(source.region == "background" for source in group),
        background_errors=sum(source.region == "background" for source in wrong),
        fine_errors=sum(source.fine_grained for source in wrong),
    )


def _rank(row: Row, finding: bool, confidence: float) -> tuple[bool, bool, float, str, str]:
    """Findings first, of these the whole data set; then by what BG-Er is at least."""
    whole = row.feature == BACKGROUND and row.label is None
    # By the lower bound: one error of one must not come before twelve of thirteen.
    low, _ = wilson_interval(row.tally.background_errors, row.tally.errors, confidence=confidence)
    return (not finding, not whole, 1.0 if low is None else -low, row.feature, row.label or "")


def _is_finding(row: Row, q_value: float | None, options: CCIOptions) -> bool:
    share = row.tally.bg_er
    significant = q_value is not None and q_value <= options.fdr
    return significant and share is not None and share >= options.min_bg_er


def _row_scores(
    row: Row, q_value: float | None, finding: bool, whole: Tally, options: CCIOptions
) -> Iterator[Score]:
    counts, errors = row.tally, row.tally.errors
    about = {"feature": row.feature, "label": row.label, "n": counts.background}
    low, high = wilson_interval(counts.background_errors, errors, confidence=options.confidence)
    yield Score(
        **about,
        metric="bg_er",
        value=counts.bg_er,
        low=low,
        high=high,
        p_value=row.p_value,
        q_value=q_value,
        finding=finding,
        statement=statement(row, whole) if finding else None,
    )
    yield _gap_score(row, options.confidence)
    value = counts.fine_errors / errors if errors else None
    yield Score(**about, metric="fine_er", value=value)  # the table has its interval


def _gap_score(row: Row, confidence: float) -> Score:
    correct_fore, fore, correct_back, back = row.tally.gap_counts
    about = {"feature": row.feature, "label": row.label, "metric": "accuracy_gap", "n": back}
    if min(fore, back) == 0:  # where it looks at one region only there is nothing to compare
        return Score(**about, value=None)
    counts = [np.array([count]) for count in row.tally.gap_counts]
    low, high = accuracy_gap_interval(*counts, confidence=confidence)
    return Score(
        **about,
        value=correct_fore / fore - correct_back / back,
        low=float(low[0]),
        high=float(high[0]),
        p_value=gap_p_value(row.tally),
    )


def statement(row: Row, whole: Tally) -> str:
    """The finding as a sentence."""
    counts = row.tally
    if row.feature != BACKGROUND:
        errors = whole.errors - counts.errors
        misled = whole.background_errors - counts.background_errors
        return (
            f"Where the images have {{feature}}, {counts.background_errors} of {counts.errors} "
            f"wrong answers come from the background. Elsewhere {misled} of {errors} do."
        )
    correct_fore, fore, correct_back, back = counts.gap_counts
    what = "Wrong answers" if row.label is None else f"Wrong answers on '{row.label}'"
    elsewhere = "It never looks at an object"
    if fore:
        elsewhere = (
            f"Where it looks at an object, it is right {correct_fore / fore:.0%} of the time"
        )
    return (
        f"{what} come from {{feature}} in {counts.background_errors} of {counts.errors} cases. "
        f"Where the model looks at the background, it is right {correct_back / back:.0%} of the "
        f"time. {elsewhere}."
    )


def error_table(table: Sequence[Row], confidence: float) -> Table:
    """Where the errors come from, a row a group (Figure 1d, Table 4)."""
    return Table(
        title="Where the errors come from",
        columns=("group", "wrong", "BG-Er %", "FG-Er %", "Fine-Er %"),
        rows=tuple(_cells(row, confidence) for row in table),
        notes=(
            "Each wrong answer is a background error (BG-Er) or a foreground error (FG-Er). "
            "Fine-Er, look-alikes taken for each other, is a part of FG-Er. In brackets: "
            f"{confidence:.0%} intervals.",
        ),
    )


def _cells(row: Row, confidence: float) -> dict[str, Cell]:
    counts = row.tally
    shares = {
        "BG-Er %": counts.background_errors,
        "FG-Er %": counts.foreground_errors,
        "Fine-Er %": counts.fine_errors,
    }
    return {
        "group": row.label or factor_words(row.feature) or "all images",
        "wrong": f"{counts.errors} of {counts.images}",
        **{name: _share_words(count, counts.errors, confidence) for name, count in shares.items()},
    }


def _share_words(count: int, errors: int, confidence: float) -> str | None:
    low, high = wilson_interval(count, errors, confidence=confidence)
    if low is None or high is None:
        return None
    return f"{100 * count / errors:.0f} [{100 * low:.0f}, {100 * high:.0f}]"


def _note(audit: Audit, options: CCIOptions, sources: Sequence[AnswerSource]) -> None:
    labelled = [source for source in sources if source.label is not None]
    if labelled:
        correct = np.mean([source.correct for source in labelled])
        audit.note("accuracy", f"{correct:.1%} of {len(labelled)} images")
    subjects = {"predicted": "the predicted class", "true": "the true class"}
    subject = subjects.get(options.target, repr(options.text))
    audit.note("maps", f"about {subject}, {options.k} clusters an image")
    if not labelled:
        audit.note("error sources", "not known: the data has no labels")
        return
    if all(source.foreground is None for source in sources):
        audit.note(
            "error sources",
            "not known: the data has no foreground masks (annotations['foreground'], or "
            "--tool segmenter=SPEC)",
        )
        return
    audit.note("looked at", REGION_WORDS[options.region].format(strongest=options.strongest))
    audit.note("look-alikes", choose_judge(audit, options)[0])
    if left := len(sources) - sum(source.is_counted for source in sources):
        audit.note(
            "left out",
            f"{left} images: without a label, with a mask that is empty or whole, or with a map "
            "that has no positive part",
        )
