"""The tables of wrong answers: what they rely on, by our rule and by others."""

from collections.abc import Callable, Sequence

from cuescope_cci.analysis import Row, by_size, share_of
from cuescope_cci.error_source import (
    AnswerSource,
    Sources,
    by_rule,
    factor_words,
    wrong_answers,
)
from cuescope_sdk import Cell, Table

LEANS: dict[str, Callable[[AnswerSource], bool]] = {
    "on background %": lambda source: source.on_background,
    "on an object %": lambda source: source.on_object,
    "look-alike %": lambda source: source.fine_grained,
}
RULES: dict[str, str] = {
    "hidden": "each region hidden whole",
    "iou": "IoU of the map with each region (the paper's)",
    "soft-iou": "IoU of all the map's weights with each region",
    "mass": "share of the map's weight in each region",
}


def error_table(table: Sequence[Row], counted: Sources, confidence: float) -> Table:
    """What the wrong answers rely on, a row a group (Figure 1d, Table 4)."""
    everything, *others = table
    by_name = {"all images": everything.sources, **by_size(counted)}
    for row in others:
        by_name[row.label or factor_words(row.feature)] = row.sources
    cells = []
    for name, sources in by_name.items():
        wrong = wrong_answers(sources)
        shares = _shares(wrong, confidence) if wrong else [None] * len(LEANS)
        cells.append((name, f"{len(wrong)} of {len(sources)}", *shares))
    return Table.of(
        "What the wrong answers rely on",
        ("group", "wrong", *LEANS),
        cells,
        (
            "A wrong answer relies on the background (the paper's BG-Er) or on an object (FG-Er). "
            "Look-alikes that are taken for each other (Fine-Er) are a part of those on an object. "
            f"In brackets: {confidence:.0%} intervals."
        ),
        (
            "Many errors on the background are no cue: small objects and backgrounds that only "
            "disturb make them too. A finding needs a kind of background that pulls answers to one "
            "class."
        ),
    )


def rules_table(sources: Sources, used: str, confidence: float) -> Table | None:
    """What the wrong answers rely on by each rule, ours and the paper's always among them.

    None where nothing is wrong.
    """
    wrong = wrong_answers(sources)
    # without masks no rule could say anything
    if not wrong or not wrong[0].by_rule:
        return None
    cells = []
    for rule in wrong[0].by_rule:
        judged = by_rule(wrong, rule)
        # answer by answer: two rules with equal shares may mean other answers
        same = share_of(
            judged, lambda source: source.region == source.by_rule[used], confidence
        )
        name = f"{RULES[rule]} (used here)" if rule == used else RULES[rule]
        shares = _shares(judged, confidence)
        cells.append((name, f"{len(judged)}", *shares, str(same)))
    return Table.of(
        "The same wrong answers by other rules",
        ("rule", "wrong", *LEANS, "as by the rule used %"),
        cells,
        "A map has weights of clusters that were hidden one at a time: docs/cci.md.",
    )


def _shares(wrong: Sources, confidence: float) -> list[Cell]:
    return [str(share_of(wrong, leans, confidence)) for leans in LEANS.values()]
