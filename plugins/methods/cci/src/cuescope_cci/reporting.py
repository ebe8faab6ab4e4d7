"""From the sources of answers to the rows and tables of the report."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy.stats import binomtest

from cuescope_cci.judges import chosen_judge
from cuescope_cci.sources import BACKGROUND, Source, groups, in_words, sources
from cuescope_sdk import Audit, Feature, Score, Table
from cuescope_sdk.stats import accuracy_gap_interval, accuracy_gap_p_value, benjamini_hochberg

if TYPE_CHECKING:
    from cuescope_cci import CCI

READINGS = {
    "iou": "IoU of the map's strongest part (at least {strongest:g} of its top) with each region",
    "soft-iou": "IoU of the whole map with each region",
    "mass": "share of the map's positive weight in each region",
}


@dataclass(frozen=True)
class Tally:
    """Counts of a group of answers, all of which have a region."""

    images: int
    errors: int
    background: int
    background_errors: int
    fine_errors: int

    @classmethod
    def of(cls, group: Sequence[Source]) -> "Tally":
        """Count a group."""
        wrong = [one for one in group if not one.correct]
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
    """A group and label with what was counted; `p_value` None where one side is empty."""

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
    return [Row(f, label, tally, gap_p_value(tally)) for f, label, tally in tallies]


def gap_p_value(tally: Tally) -> float | None:
    """That answers decided by the background are wrong no more often than the others."""
    counts = tally.gap_counts
    if min(counts[1], counts[3]) == 0:
        return None
    return float(accuracy_gap_p_value(*[np.array([count]) for count in counts])[0])


def scores(audit: Audit, options: "CCI.Options", features: Sequence[Feature]) -> Iterator[Score]:
    """Four figures for each group and label, and the facts at the head of the report."""
    everything = sources(audit, options)
    found = [one for one in everything if one.region is not None]
    _note(audit, options, everything, found)
    if not features:
        return
    counted = rows(found, audit.labels)
    q_values = benjamini_hochberg([row.p_value for row in counted])
    audit.show(error_table(counted, options.confidence))
    findings = [_is_finding(r, q, options) for r, q in zip(counted, q_values, strict=True)]
    order = sorted(range(len(counted)), key=lambda i: _rank(counted[i], findings[i]))
    for i in order:
        yield from _scores_of(counted[i], q_values[i], findings[i], options)


def _rank(row: Row, finding: bool) -> tuple[bool, bool, float, float, str, str]:
    """Findings first, of these the whole data set; then by BG-Er."""
    whole = row.feature == BACKGROUND and row.label is None
    value = -1.0 if row.bg_er is None else row.bg_er
    return (not finding, not whole, -value, -row.tally.errors, row.feature, row.label or "")


def _is_finding(row: Row, q_value: float | None, options: "CCI.Options") -> bool:
    share = row.bg_er
    significant = q_value is not None and q_value <= options.fdr
    return significant and share is not None and share >= options.min_bg_er


def _scores_of(
    row: Row, q_value: float | None, finding: bool, options: "CCI.Options"
) -> Iterator[Score]:
    tally, errors = row.tally, row.tally.errors
    about = {"feature": row.feature, "label": row.label, "n": errors}
    low, high = share_interval(tally.background_errors, errors, options.confidence)
    yield Score(
        **about, metric="bg_er", value=row.bg_er, low=low, high=high,
        p_value=row.p_value, q_value=q_value, finding=finding,
        statement=statement(row) if finding else None,
    )  # fmt: skip
    yield _gap(row, q_value, options.confidence)
    for metric, count in (("fg_er", tally.foreground_errors), ("fine_er", tally.fine_errors)):
        low, high = share_interval(count, errors, options.confidence)
        value = count / errors if errors else None
        yield Score(**about, metric=metric, value=value, low=low, high=high)


def _gap(row: Row, q_value: float | None, confidence: float) -> Score:
    correct_fore, fore, correct_back, back = row.tally.gap_counts
    about = {"feature": row.feature, "label": row.label, "metric": "accuracy_gap", "n": back}
    if min(fore, back) == 0:
        return Score(**about, value=None)
    counts = [np.array([count]) for count in row.tally.gap_counts]
    low, high = accuracy_gap_interval(*counts, confidence=confidence)
    return Score(
        **about, value=correct_fore / fore - correct_back / back,
        low=float(low[0]), high=float(high[0]), p_value=row.p_value, q_value=q_value,
    )  # fmt: skip


def share_interval(count: int, n: int, confidence: float) -> tuple[float | None, float | None]:
    """Wilson score interval of a share (Wilson, 1927); None where there is nothing to share."""
    if n == 0:
        return None, None
    interval = binomtest(count, n).proportion_ci(confidence, method="wilson")
    return float(interval.low), float(interval.high)


def statement(row: Row) -> str:
    """The finding as a sentence."""
    tally = row.tally
    correct_fore, fore, correct_back, back = tally.gap_counts
    what = "Wrong answers" if row.label is None else f"Wrong answers on '{row.label}'"
    return (
        f"{what} come from {{feature}} in {tally.background_errors} of {tally.errors} cases: "
        f"where the model looks there it is right {correct_back / back:.0%} of the time, "
        f"and {correct_fore / fore:.0%} where it looks at an object."
    )


def error_table(counted: Sequence[Row], confidence: float) -> Table:
    """Where the errors come from, a row a group (Figure 1d, Table 4), in percent."""
    return Table(
        title="Where the errors come from",
        columns=("group", "images", "wrong %", "BG-Er %", "FG-Er %", "Fine-Er %"),
        rows=tuple(_cells(row, confidence) for row in counted),
        notes=(
            f"Shares of the wrong answers, with {confidence:.0%} intervals; "
            "Fine-Er is a part of FG-Er.",
        ),
    )


def _cells(row: Row, confidence: float) -> dict[str, str | float | int | None]:
    tally = row.tally
    group = row.label or in_words(row.feature).removeprefix("the background").strip(" ()")
    shares = {
        "BG-Er %": tally.background_errors,
        "FG-Er %": tally.foreground_errors,
        "Fine-Er %": tally.fine_errors,
    }
    return {
        "group": group or "all images",
        "images": tally.images,
        "wrong %": 100 * tally.errors / tally.images,
        **{name: _share_words(count, tally.errors, confidence) for name, count in shares.items()},
    }


def _share_words(count: int, errors: int, confidence: float) -> str:
    low, high = share_interval(count, errors, confidence)
    if low is None or high is None:
        return "no errors"
    return f"{100 * count / errors:.0f} [{100 * low:.0f}, {100 * high:.0f}]"


def _note(
    audit: Audit, options: "CCI.Options", everything: Sequence[Source], found: Sequence[Source]
) -> None:
    labelled = [one for one in everything if one.label is not None]
    if labelled:
        right = np.mean([one.correct for one in labelled])
        audit.note("accuracy", f"{right:.1%} of {len(labelled)} images")
    about = {"predicted": "the predicted class", "true": "the true class"}
    subject = about.get(options.target, repr(options.text))
    audit.note("maps", f"about {subject}, {options.k} clusters an image")
    if all(one.foreground is None for one in everything):
        audit.note(
            "error sources",
            "not told: the data has no foreground masks (annotations['foreground'], or "
            "--tool segmenter=SPEC)",
        )
        return
    audit.note("region of a map", READINGS[options.overlap].format(strongest=options.strongest))
    audit.note("look-alikes", chosen_judge(audit, options)[0])
    if len(found) < len(everything):
        audit.note(
            "left out",
            f"{len(everything) - len(found)} images whose mask is empty or whole, or whose map is",
        )
