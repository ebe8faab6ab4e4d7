"""The table of wrong answers: what they rely on."""

from collections.abc import Callable, Sequence

from cuescope_cci.analysis import Row, share_of
from cuescope_cci.error_source import AnswerSource, factor_words, wrong_answers
from cuescope_sdk import Table

LEANS: dict[str, Callable[[AnswerSource], bool]] = {
    "on background %": lambda source: source.on_background,
    "on an object %": lambda source: source.on_object,
    "look-alike %": lambda source: source.fine_grained,
}


def error_table(
    table: Sequence[Row], confidence: float, *, is_alike_known: bool
) -> Table:
    """What the wrong answers rely on, a row a group (Figure 1d, Table 4)."""
    columns = list(LEANS)[: 3 if is_alike_known else 2]
    cells = []
    for row in table:
        wrong = wrong_answers(row.sources)
        shares = [
            str(share_of(wrong, LEANS[name], confidence)) if wrong else None
            for name in columns
        ]
        name = row.label or factor_words(row.feature) or "all images"
        cells.append((name, f"{len(wrong)} of {len(row.sources)}", *shares))
    return Table.of(
        "What the wrong answers rely on",
        ("group", "wrong", *columns),
        cells,
        "A wrong answer relies on the background (the paper's BG-Er) or on an object (FG-Er). "
        "Look-alikes that are predicted as each other (Fine-Er) are a part of those on an object. "
        f"In brackets: {confidence:.0%} intervals. Many errors on the background are no cue: a "
        "finding needs a kind of background that pulls answers to one class.",
    )
