"""From the sources of answers to the rows and tables of the report."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy.stats import binomtest

from cuescope_cci.judges import chosen_judge
from cuescope_cci.sources import BACKGROUND, Source, factor_words, groups
from cuescope_sdk import Audit, Score, Table
from cuescope_sdk.maths import (
    accuracy_gap_interval,
    accuracy_gap_p_value,
    benjamini_hochberg,
    exceeds_rate_p_value,
)

if TYPE_CHECKING:
    from cuescope_cci import CCI

HALF = 0.5
READINGS = {
    "hidden": "the region whose absence costs the answer more, against the other choices",
    "iou": "IoU of the map's strongest part (at least {strongest:g} of its top) with each region",
    "soft-iou": "IoU of the whole map with each region",
    "mass": "share of the map's positive weight in each region",
}


@dataclass(frozen=True)
class Tally:
    """Counts of a group of answers, all of which have a label and a region."""

    images: int
    errors: int
    background: int
    background_errors: int
    fine_errors: int

    @classmethod
    def of(cls, group: Sequence[Source]) -> "Tally":
        """Count a group."""
        wrong = [one for one in group if one.wrong]
        return cls(
            images=len(group),
            errors=len(wrong),
            background=sum(one.region == "background" for one in group),
            background_errors=sum(one.region == "background" for one in wrong),
            fine_errors=sum(one.fine_grained for one in wrong),
        )

    @property
    def foreground_errors(self) -> int:
        """Wrong answers that looked at an object."""
        return self.errors - self.background_errors

    @property
    def gap_counts(self) -> tuple[int, int, int, int]:
        """Correct and all of those that looked at an object, then at the background."""
        foreground = self.images - self.background
        return (
            foreground - self.foreground_errors,
            foreground,
            self.background - self.background_errors,
            self.background,
        )


@dataclass(frozen=True)
class Row:
    """A group and label with what was counted; `p_value` None where nothing can be tested."""

    feature: str
    label: str | None
    tally: Tally
    p_value: float | None

    @property
    def bg_er(self) -> float | None:
        """Share of the errors that the background decided."""
        return self.tally.background_errors / self.tally.errors if self.tally.errors else None


def rows(found: Sequence[Source], labels: Sequence[str]) -> list[Row]:
    """All images, each label, and each factor's values."""
    named = groups(found)
    split: list[tuple[str, str | None, list[Source]]] = []
    split += [(BACKGROUND, None, named.pop(BACKGROUND))]
    split += [(BACKGROUND, label, [s for s in found if s.label == label]) for label in labels]
    split += [(name, None, group) for name, group in named.items()]
    tallies = [(feature, label, Tally.of(group)) for feature, label, group in split if group]
    whole = tallies[0][2]
    return [
        Row(f, label, tally, p_value(tally) if f == BACKGROUND else contrast_p_value(tally, whole))
        for f, label, tally in tallies
    ]


def contrast_p_value(group: Tally, whole: Tally) -> float | None:
    """That errors come from the background no more often in the group than in all other images.

    One-sided, exact (Fisher). Where the model leans on the background everywhere, no factor is
    news.
    """
    others = whole.errors - group.errors
    if min(group.errors, others) == 0:
        return None
    foreground = whole.foreground_errors - group.foreground_errors
    counts = foreground, others, group.foreground_errors, group.errors
    return float(accuracy_gap_p_value(*[np.array([count]) for count in counts])[0])


def p_value(tally: Tally) -> float | None:
    """That the background misleads: of two tests the stronger, times the number of tests made.

    A model may err where it looks at the background and nowhere else, or look at nothing else:
    then there is no accuracy to compare with, and most of its errors come from there.
    """
    made = [p for p in (gap_p_value(tally), majority_p_value(tally)) if p is not None]
    return min(1.0, len(made) * min(made)) if made else None


def majority_p_value(tally: Tally) -> float | None:
    """That at most half of the errors come from the background (exact binomial, one-sided)."""
    if not tally.errors:
        return None
    return exceeds_rate_p_value(tally.background_errors, tally.errors, HALF)


def gap_p_value(tally: Tally) -> float | None:
    """That answers decided by the background are wrong no more often than the others."""
    counts = tally.gap_counts
    if min(counts[1], counts[3]) == 0:
        return None
    return float(accuracy_gap_p_value(*[np.array([count]) for count in counts])[0])


def scores(audit: Audit, options: "CCI.Options", found: Sequence[Source]) -> Iterator[Score]:
    """The figures of each group and label, and the facts at the head of the report."""
    _note(audit, options, found)
    told = [one for one in found if one.told]
    if not told:
        return
    counted = rows(told, audit.labels)
    q_values = benjamini_hochberg([row.p_value for row in counted])
    audit.attach(error_table(counted, options.confidence))
    findings = [_is_finding(r, q, options) for r, q in zip(counted, q_values, strict=True)]
    level = options.confidence
    whole = counted[0].tally
    order = sorted(range(len(counted)), key=lambda i: _rank(counted[i], findings[i], level))
    for i in order:
        yield from _scores_of(counted[i], q_values[i], findings[i], whole, options)


def _rank(row: Row, finding: bool, confidence: float) -> tuple[bool, bool, float, str, str]:
    """Findings first, of these the whole data set; then by what BG-Er is at least."""
    whole = row.feature == BACKGROUND and row.label is None
    low, _ = share_interval(row.tally.background_errors, row.tally.errors, confidence)
    return (not finding, not whole, 1.0 if low is None else -low, row.feature, row.label or "")


def _is_finding(row: Row, q_value: float | None, options: "CCI.Options") -> bool:
    share = row.bg_er
    significant = q_value is not None and q_value <= options.fdr
    return significant and share is not None and share >= options.min_bg_er


def _scores_of(
    row: Row, q_value: float | None, finding: bool, whole: Tally, options: "CCI.Options"
) -> Iterator[Score]:
    tally, errors = row.tally, row.tally.errors
    about = {"feature": row.feature, "label": row.label, "n": tally.background}
    low, high = share_interval(tally.background_errors, errors, options.confidence)
    yield Score(
        **about, metric="bg_er", value=row.bg_er, low=low, high=high,
        p_value=row.p_value, q_value=q_value, finding=finding,
        statement=statement(row, whole) if finding else None,
    )  # fmt: skip
    yield _gap(row, options.confidence)
    value = tally.fine_errors / errors if errors else None
    yield Score(**about, metric="fine_er", value=value)  # the table has its interval


def _gap(row: Row, confidence: float) -> Score:
    correct_fore, fore, correct_back, back = row.tally.gap_counts
    about = {"feature": row.feature, "label": row.label, "metric": "accuracy_gap", "n": back}
    if min(fore, back) == 0:
        return Score(**about, value=None)
    counts = [np.array([count]) for count in row.tally.gap_counts]
    low, high = accuracy_gap_interval(*counts, confidence=confidence)
    return Score(
        **about, value=correct_fore / fore - correct_back / back,
        low=float(low[0]), high=float(high[0]), p_value=gap_p_value(row.tally),
    )  # fmt: skip


def share_interval(count: int, n: int, confidence: float) -> tuple[float | None, float | None]:
    """Wilson score interval of a share (Wilson, 1927); None where there is nothing to share."""
    if n == 0:
        return None, None
    interval = binomtest(count, n).proportion_ci(confidence, method="wilson")
    return float(interval.low), float(interval.high)


def statement(row: Row, whole: Tally) -> str:
    """The finding as a sentence."""
    tally = row.tally
    if row.feature != BACKGROUND:
        errors = whole.errors - tally.errors
        misled = whole.background_errors - tally.background_errors
        return (
            f"Where the images have {{feature}}, {tally.background_errors} of {tally.errors} wrong "
            f"answers come from the background, and {misled} of {errors} elsewhere."
        )
    correct_fore, fore, correct_back, back = tally.gap_counts
    what = "Wrong answers" if row.label is None else f"Wrong answers on '{row.label}'"
    elsewhere = "and it never looks at an object"
    if fore:
        elsewhere = f"and {correct_fore / fore:.0%} where it looks at an object"
    return (
        f"{what} come from {{feature}} in {tally.background_errors} of {tally.errors} cases: "
        f"where the model looks there it is right {correct_back / back:.0%} of the time, "
        f"{elsewhere}."
    )


def error_table(counted: Sequence[Row], confidence: float) -> Table:
    """Where the errors come from, a row a group (Figure 1d, Table 4)."""
    return Table(
        title="Where the errors come from",
        columns=("group", "wrong", "BG-Er %", "FG-Er %", "Fine-Er %"),
        rows=tuple(_cells(row, confidence) for row in counted),
        notes=(
            f"BG-Er and FG-Er (background and foreground errors) share out the wrong answers, with "
            f"{confidence:.0%} intervals. Fine-Er, look-alikes taken for each other, is a part of "
            "FG-Er.",
        ),
    )


def _cells(row: Row, confidence: float) -> dict[str, str | float | int | None]:
    tally = row.tally
    shares = {
        "BG-Er %": tally.background_errors,
        "FG-Er %": tally.foreground_errors,
        "Fine-Er %": tally.fine_errors,
    }
    return {
        "group": row.label or factor_words(row.feature) or "all images",
        "wrong": f"{tally.errors} of {tally.images}",
        **{name: _share_words(count, tally.errors, confidence) for name, count in shares.items()},
    }


def _share_words(count: int, errors: int, confidence: float) -> str | None:
    low, high = share_interval(count, errors, confidence)
    if low is None or high is None:
        return None
    return f"{100 * count / errors:.0f} [{100 * low:.0f}, {100 * high:.0f}]"


def _note(audit: Audit, options: "CCI.Options", found: Sequence[Source]) -> None:
    labelled = [one for one in found if one.label is not None]
    if labelled:
        right = np.mean([one.correct for one in labelled])
        audit.note("accuracy", f"{right:.1%} of {len(labelled)} images")
    about = {"predicted": "the predicted class", "true": "the true class"}
    subject = about.get(options.target, repr(options.text))
    audit.note("maps", f"about {subject}, {options.k} clusters an image")
    if not labelled:
        audit.note("error sources", "not told: the data has no labels")
        return
    if all(one.foreground is None for one in found):
        audit.note(
            "error sources",
            "not told: the data has no foreground masks (annotations['foreground'], or "
            "--tool segmenter=SPEC)",
        )
        return
    audit.note("looked at", READINGS[options.region].format(strongest=options.strongest))
    audit.note("look-alikes", chosen_judge(audit, options)[0])
    if left := len(found) - sum(one.told for one in found):
        audit.note(
            "left out",
            f"{left} images: without a label, with a mask that is empty or whole, or with a map "
            "that has no positive part",
        )
