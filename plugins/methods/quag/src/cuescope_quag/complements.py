"""CLAVI: consistent accuracies on control and complement questions, under every condition."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from cuescope_quag.observing import Answered
from cuescope_quag.paper import CONSISTENT, consistent_rows
from cuescope_quag.showing import benchmark_of, few_videos
from cuescope_sdk import Audit, Cell, Sample, Table
from cuescope_sdk.maths import (
    ConsistentAccuracy,
    ConsistentPair,
    consistent_accuracy,
    consistent_pairs,
)

if TYPE_CHECKING:
    from cuescope_quag import QUAG

FEWEST = 20  # pairs in each column, for words
HIGH, LOW = 75.0, 25.0  # percent: between them it is neither
LETTERS = {"video": "V", "text": "T"}


def show_complements(audit: Audit, options: "QUAG.Options", answered: Answered) -> None:
    """Table 3 of the paper with a row a condition (section 5.2), and the baseline in words."""
    if lost := parted(answered.samples):
        audit.note(
            "complements left out",
            f"{lost} of {len(answered.samples)} samples: a counterpart of theirs is not here, as "
            "happens with --limit",
        )
    groups = grouped(consistent_pairs(answered.samples))
    if not groups:
        return
    keys = [sample.key for sample in answered.samples]
    rows: list[dict[str, Cell]] = [counts(groups)]
    for name, right in answered.columns.items():
        correct = dict(zip(keys, right.tolist(), strict=True))
        found = {
            column: consistent_accuracy(
                correct, pairs, audit.rng("complements"),
                confidence=options.confidence, resamples=options.resamples,
            )
            for column, pairs in groups.items()
        }  # fmt: skip
        row: dict[str, Cell] = {"condition": name}
        rows.append(row | {column: percent(one) for column, one in found.items()})
        if name == "baseline" and (words := in_words(found)):
            audit.note("complements", words)
    show_table(audit, options, answered, rows)


def parted(samples: Sequence[Sample]) -> int:
    """How many samples have a counterpart that is not among them."""
    known = {sample.key for sample in samples}
    return sum(
        any(key not in known for key in sample.annotations.get("counterparts", {}).values())
        for sample in samples
    )


def counts(groups: Mapping[str, Sequence[ConsistentPair]]) -> dict[str, Cell]:
    """How many pairs each column has, of how many videos."""
    videos = {column: {pair.video for pair in pairs} for column, pairs in groups.items()}
    found = {column: f"{len(pairs)} ({len(videos[column])})" for column, pairs in groups.items()}
    return {"condition": "pairs (videos)", **found}


def grouped(pairs: tuple[ConsistentPair, ...]) -> dict[str, list[ConsistentPair]]:
    """The pairs of each column of table 3 that has any: of either kind, overall and by subset."""
    found: dict[str, list[ConsistentPair]] = {}
    for column in CONSISTENT:
        measure, _, subset = column.partition(" ")
        kept = [
            pair
            for pair in pairs
            if measure == f"CAcc_{LETTERS[pair.complement]}" and subset in ("", pair.subset)
        ]
        if kept:
            found[column] = kept
    return found


def show_table(
    audit: Audit, options: "QUAG.Options", answered: Answered, rows: list[dict[str, Cell]]
) -> None:
    """The table, beside the paper's figures for CLAVI itself."""
    columns = tuple(rows[0])
    paper = consistent_rows(options.beside) if benchmark_of(audit) == "CLAVI" else ()
    beside = f" In brackets: {options.beside} on CLAVI in the paper." if paper else ""
    audit.attach(
        Table(
            title="Consistent accuracy on complements, %",
            columns=columns,
            rows=tuple(rows),
            paper=tuple({k: v for k, v in row.items() if k in columns} for row in paper),
            notes=(
                "CAcc_V, consistent accuracy in video: the share of pairs of a video and its "
                "complement (the same actions, in the other order) of which the same question is "
                "answered rightly both times. CAcc_T, in text: the share of pairs of a question "
                "and its complement (before and after, beginning and end, in each other's place) "
                "that are both answered rightly of the same video. Control "
                f"questions need no order of events.{beside}",
                *few_videos(answered.videos),
            ),
        )
    )


def percent(found: ConsistentAccuracy | None) -> str | None:
    """With its interval."""
    if found is None:
        return None
    return f"{100 * found.value:.1f} [{100 * found.low:.1f}, {100 * found.high:.1f}]"


def in_words(found: dict[str, ConsistentAccuracy | None]) -> str | None:
    """What control and complement questions say together.

    None where either is missing, or a column has fewer than FEWEST pairs.
    """
    told = {name: one for name, one in found.items() if one is not None and " " in name}
    if any(one.pairs < FEWEST for one in told.values()):
        return None
    control = [one for name, one in told.items() if name.endswith(" control")]
    complement = [one for name, one in told.items() if name.endswith(" complement")]
    if not control or not complement:
        return None
    high = all(100 * one.low > HIGH for one in control)
    if high and any(100 * one.high < LOW for one in complement):
        said = (
            "shortcuts answer the control questions, and the order of events is not understood: "
            "hardly any answer is right together with that to its complement"
        )
    elif high and all(100 * one.low > HIGH for one in complement):
        said = "questions are answered together with their complements, control or not"
    else:
        said = "neither a clear shortcut nor a clear understanding"
    figures = ", ".join(f"{name} {percent(one)} %" for name, one in told.items())
    meaning = "pairs answered rightly together, of complement videos (V) or questions (T)"
    return f"{said} ({meaning}: {figures})"
