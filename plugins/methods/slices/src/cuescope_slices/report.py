"""The rows of the report, its sentences and its notes."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from cuescope_sdk import Audit, Feature, Score
from cuescope_sdk.statistics import (
    benjamini_hochberg,
    gap_intervals,
    gap_p_values,
    mean_interval,
    smallest_gap,
)
from cuescope_slices.scores import Points, Slice
from cuescope_slices.trials import Ranked, rank

SHARE = 0.25  # of a label's sequences in a slice, for which the limit of detection is told


@dataclass(frozen=True)
class Pair:
    """A slice and a label, and what the slice costs the label; None where it cannot be compared."""

    number: int
    label: int
    value: float
    lost: float | None = None
    low: float | None = None
    high: float | None = None
    p_value: float | None = None
    n: int = 0
    words: str = ""


def scores(audit: Audit, name: str, options: Any, features: Sequence[Feature]) -> Iterator[Score]:
    """Two figures a pair, the ranking's own first; findings first."""
    ranked = audit.once(rank, audit, name, options)
    note(audit, name, options, ranked)
    tested = not ranked.points.fitted.all() or name not in ("domino", "distilling-failures")
    pairs = compare(ranked, ranked.slices, options, audit.rng("permutation"), tested=tested)
    q_values = benjamini_hochberg([pair.p_value for pair in pairs])
    rows = []
    for pair, q_value in zip(pairs, q_values, strict=True):
        rejected = q_value is not None and q_value <= options.fdr
        finding = rejected and (pair.lost or 0) > options.min_loss
        rows.append((finding, pair, q_value))
    rows.sort(key=lambda row: (not row[0], -row[1].value))
    if rows and tested and not rows[0][0]:
        audit.note("could have been missed", words_for_missed(ranked, options, len(pairs)))
    for finding, pair, q_value in rows:
        about: dict[str, Any] = {
            "feature": features[pair.number].key,
            "label": audit.labels[pair.label],
            "n": pair.n,
            "p_value": pair.p_value,
            "q_value": q_value,
        }
        yield Score(
            **about,
            metric="slice_value",
            value=pair.value,
            finding=finding,
            statement=pair.words if finding else None,
        )
        yield Score(**about, metric="accuracy_lost", value=pair.lost, low=pair.low, high=pair.high)


def compare(
    ranked: Ranked,
    slices: Sequence[Slice],
    options: Any,
    rng: np.random.Generator,
    *,
    tested: bool = True,
) -> list[Pair]:
    """What each slice costs each of its labels, in the sequences that had no part in making it."""
    points = ranked.points
    label = np.zeros(len(ranked.keys), dtype=np.int64)
    label[ranked.sequence] = points.label
    correct = np.zeros(len(ranked.keys))
    correct[ranked.sequence] = points.correct
    pairs = []
    for number, part in enumerate(slices):
        inside = np.zeros(len(ranked.keys), dtype=bool)
        core = part.points[part.core]
        inside[ranked.sequence[core]] = True
        for y, value in part.value.items():
            mine = np.flatnonzero(ranked.measured & (label == y))
            present = inside[mine]
            n = int(present.sum())
            if n in (0, len(mine)):
                pairs.append(Pair(number, y, value, n=n))
                continue
            right = correct[mine]
            groups = ranked.groups.take(mine)
            [low], [high] = gap_intervals(
                right, present[:, None], groups, confidence=options.confidence
            )
            p_value = None
            if tested:
                p_value = float(gap_p_values(right, present[:, None], groups, rng)[0])
            accuracy_in = right[present].mean()
            accuracy_out = right[~present].mean()
            pair = Pair(
                number,
                y,
                value,
                lost=float(accuracy_out - accuracy_in),
                low=None if np.isnan(low) else float(low),
                high=None if np.isnan(high) else float(high),
                p_value=p_value,
                n=n,
                words=statement(points, y, accuracy_in, accuracy_out, low, high),
            )
            pairs.append(pair)
    return pairs


def statement(
    points: Points, label: int, inside: float, outside: float, low: float, high: float
) -> str:
    """The finding as a sentence."""
    return (
        f"In {{feature}}, '{points.labels[label]}' loses {100 * (outside - inside):.0f} points of "
        f"accuracy ({inside:.0%} instead of {outside:.0%}; {100 * low:.0f} to {100 * high:.0f} "
        "points). This goes with the slice; it does not say what causes it."
    )


def note(audit: Audit, name: str, options: Any, ranked: Ranked) -> None:
    """Accuracy, what is ranked, in which part it was looked for, and which labels were left out."""
    points = ranked.points
    groups = ranked.groups
    first = ranked.first
    right = points.correct[first].astype(float)
    low, high = mean_interval(right, groups, confidence=options.confidence)
    interval = f"({low:.1%} to {high:.1%})"
    audit.note("accuracy", f"{right.mean():.1%} of {len(right)} sequences {interval}")
    if points.correct.all():
        audit.note("errors", "none: the model is always right here, so nothing is to be explained")
        return
    unit = "frames held still"
    if ranked.frame.max() < 0:
        unit = "sequences; their frames follow in temporal order"
    audit.note("ranked", unit)
    if getattr(options, "discover", None) is not None:
        fitted = int(points.fitted[first].sum())
        words = f"looked for in {fitted} sequences, measured in the other {len(first) - fitted}"
        if fitted == len(first):
            words = "looked for and measured in the same sequences, so nothing is tested"
        audit.note("two parts", words)
    if points.fitted.sum() < 2:
        audit.note("slices", "none: expected two samples or more in the part where they are made")
        return
    if name in ("george", "distilling-failures"):
        _note_labels_left_out(audit, name, ranked)
    if name == "distilling-failures":
        _note_folds(audit, options, ranked)


def _note_labels_left_out(audit: Audit, name: str, ranked: Ranked) -> None:
    made = {label for part in ranked.slices for label in part.value}
    missing = [label for number, label in enumerate(audit.labels) if number not in made]
    if missing:
        needs = {
            "george": "three sequences that can be grouped",
            "distilling-failures": "both right and wrong answers",
        }[name]
        names = ", ".join(f"'{label}'" for label in missing)
        expected = f"expected {needs} in the part where slices are looked for"
        audit.note("labels left out", f"{names}: {expected}")


def _note_folds(audit: Audit, options: Any, ranked: Ranked) -> None:
    points = ranked.points
    few = []
    for part in ranked.slices:
        [label] = part.value
        mine = points.fitted & (points.label == label)
        right = np.unique(points.group[mine & points.correct])
        wrong = np.unique(points.group[mine & ~points.correct])
        fewest = min(len(right), len(wrong))
        if fewest < options.folds:
            few.append(f"'{audit.labels[label]}' ({fewest})")
    if few:
        audit.note(
            "folds",
            f"fewer than {options.folds} groups of right or wrong answers for {', '.join(few)}: "
            "the penalty is 1, not cross-validated",
        )


def words_for_missed(ranked: Ranked, options: Any, pairs: int) -> str:
    """The smallest loss that would have been found, in a slice of a quarter of a label."""
    points = ranked.points
    first = ranked.first[ranked.measured]
    worst = 0.0
    for y in np.unique(points.label[first]):
        mine = first[points.label[first] == y]
        count = len(np.unique(points.group[mine]))
        accuracy = points.correct[mine].mean()
        limit = smallest_gap(SHARE * count, (1 - SHARE) * count, accuracy, options.fdr / pairs)
        if limit is None:
            return f"any loss in a slice of {SHARE:.0%} of a label: there are too few sequences"
        worst = max(worst, limit)
    return (
        f"a slice of {SHARE:.0%} of a label's sequences that costs {100 * worst:.0f} points is "
        "found in 8 of 10 audits; what costs less may be there"
    )
