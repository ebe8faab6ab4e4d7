"""What is counted of answers: shares with intervals, and the table of wrong answers."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from cuescope_cci.backgrounds.measure import is_small
from cuescope_cci.error_source import BACKGROUND, AnswerSource, factor_words, groups
from cuescope_cci.scores import Tally
from cuescope_sdk import Cell, Table
from cuescope_sdk.statistics import Groups, mean_interval


@dataclass(frozen=True)
class Share:
    """A share of images with its interval, which holds for groups; None where there are none."""

    value: float | None
    low: float | None
    high: float | None
    images: int
    few: bool

    def __str__(self) -> str:
        if self.value is None or self.low is None or self.high is None:
            return "none"
        interval = f"{100 * self.value:.0f} [{100 * self.low:.0f}, {100 * self.high:.0f}]"
        return interval + " few" * self.few


@dataclass(frozen=True)
class Row:
    """Images of a feature and label, with what was counted."""

    feature: str
    label: str | None
    sources: Sequence[AnswerSource]

    @property
    def tally(self) -> Tally:
        """The counts."""
        return tally(self.sources)


def rows(sources: Sequence[AnswerSource], labels: Sequence[str]) -> list[Row]:
    """All images, each label, and each factor's values."""
    by_name = groups(sources)
    split: list[tuple[str, str | None, list[AnswerSource]]] = []
    split += [(BACKGROUND, None, by_name.pop(BACKGROUND))]
    split += [(BACKGROUND, label, [s for s in sources if s.label == label]) for label in labels]
    split += [(name, None, group) for name, group in by_name.items()]
    return [Row(feature, label, group) for feature, label, group in split if group]


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


def share_of(holds: Sequence[bool], sources: Sequence[AnswerSource], confidence: float) -> Share:
    """The share of images for which something holds."""
    values = np.array(holds, dtype=np.float64)
    drawn = Groups.of([source.sample for source in sources])
    low, high = mean_interval(values, drawn, confidence=confidence)
    value = float(values.mean()) if len(values) else None
    return Share(value, low, high, len(values), drawn.few)


def percent(share: Share) -> str:
    if share.value is None or share.low is None or share.high is None:
        return "none"
    few = ", few" * share.few
    return f"{share.value:.0%} [{100 * share.low:.0f}, {100 * share.high:.0f}]{few}"


def error_table(table: Sequence[Row], counted: Sequence[AnswerSource], confidence: float) -> Table:
    """What the wrong answers lean on, a row a group (Figure 1d, Table 4)."""
    cells = [_cells(_row_name(row), row.sources, confidence) for row in table]
    cells[1:1] = [_cells(name, group, confidence) for name, group in by_size(counted).items()]
    return Table(
        title="What the wrong answers lean on",
        columns=("group", "wrong", "on background %", "on an object %", "look-alike %"),
        rows=tuple(cells),
        notes=(
            "A wrong answer leans on the background (the paper's BG-Er) or on an object (FG-Er). "
            "Look-alikes that are taken for each other (Fine-Er) are a part of those on an object. "
            f"In brackets: {confidence:.0%} intervals.",
            "Many errors on the background are no cue: small objects and backgrounds that only "
            "disturb make them too. A finding needs a kind of background that pulls answers to one "
            "class.",
        ),
    )


RULES: dict[str, str] = {
    "hidden": "each region hidden whole",
    "iou": "IoU of the map with each region (the paper's)",
    "soft-iou": "IoU of all the map's weights with each region",
    "mass": "share of the map's weight in each region",
}


def rules_table(sources: Sequence[AnswerSource], used: str, confidence: float) -> Table | None:
    """What the wrong answers lean on by each rule, ours and the paper's always among them.

    None where nothing is wrong.
    """
    wrong = [source for source in sources if source.wrong]
    rules = dict.fromkeys(rule for source in wrong for rule in source.by_rule)
    if not rules:
        return None
    cells = []
    for rule in rules:
        of_rule = [(s, s.by_rule[rule]) for s in wrong if s.by_rule[rule] is not None]
        own, leans = [s for s, _ in of_rule], [region for _, region in of_rule]
        shares = {
            "on background %": [region == "background" for region in leans],
            "on an object %": [region == "foreground" for region in leans],
            "look-alike %": [r == "foreground" and s.alike is True for s, r in of_rule],
            "as by the rule used %": [region == s.region for s, region in of_rule],
        }
        cells.append(
            {
                "rule": RULES[rule] + " (used here)" * (rule == used),
                "wrong": f"{len(own)}",
                **{name: str(share_of(holds, own, confidence)) for name, holds in shares.items()},
            }
        )
    return Table(
        title="The same wrong answers by other rules",
        columns=tuple(cells[0]),
        rows=tuple(cells),
        notes=("A map has weights of clusters that were hidden one at a time: docs/cci.md.",),
    )


def by_size(sources: Sequence[AnswerSource]) -> dict[str, list[AnswerSource]]:
    """Images whose object is smaller than the median of its label, and the others."""
    labels = {name: code for code, name in enumerate(sorted({str(s.label) for s in sources}))}
    label = np.array([labels[str(source.label)] for source in sources])
    small = is_small(np.array([source.area for source in sources]), label)
    parts = {
        "smaller objects": [s for s, is_part in zip(sources, small, strict=True) if is_part],
        "larger objects": [s for s, is_part in zip(sources, small, strict=True) if not is_part],
    }
    return parts if all(parts.values()) else {}


def _row_name(row: Row) -> str:
    return row.label or factor_words(row.feature) or "all images"


def _cells(name: str, sources: Sequence[AnswerSource], confidence: float) -> dict[str, Cell]:
    wrong = [source for source in sources if source.wrong]
    shares = {
        "on background %": [source.region == "background" for source in wrong],
        "on an object %": [source.region == "foreground" for source in wrong],
        "look-alike %": [source.fine_grained for source in wrong],
    }
    return {
        "group": name,
        "wrong": f"{len(wrong)} of {len(sources)}",
        **{
            column: str(share_of(holds, wrong, confidence)) if wrong else None
            for column, holds in shares.items()
        },
    }
