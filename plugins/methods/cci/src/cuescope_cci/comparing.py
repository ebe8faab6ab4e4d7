"""Explainers side by side: areas under their curves, and what one gains over the others."""

from collections.abc import Mapping

import numpy as np
from jaxtyping import Num

from cuescope_cci.paper import paper_rows
from cuescope_sdk import Cell, Table
from cuescope_sdk.explain import Direction, Schedule, auc, paired_difference

Found = Mapping[str, Mapping[str, Num[np.ndarray, "image step"]]]
SOURCES = {"classification": "ImageNet, table 1", "retrieval": "MS COCO, table 2"}


def areas_table(
    task: str, schedule: Schedule, direction: Direction, found: Found, head: str
) -> Table:
    """The area of each explainer's mean curve, beside the paper's own."""
    better = "lower" if direction == "deletion" else "higher"
    of_paper = schedule.protocol == "paper"
    beside = f" In brackets: the paper, CLIP ViT-B/16 on {SOURCES[task]}." if of_paper else ""
    return Table(
        title=f"{task.capitalize()}, {schedule.protocol} protocol: "
        f"{direction} AUC, {better} is better",
        columns=("explainer", *_columns(found)),
        rows=tuple(
            {"explainer": name, **{column: auc(curve) for column, curve in curves.items()}}
            for name, curves in found.items()
        ),
        paper=_paper(task, direction, found) if of_paper else (),
        notes=(
            f"{head}; {schedule.steps} steps of {schedule.per_step:.1%} of the pixels.{beside}",
        ),
        decimals=3,
    )


def _columns(found: Found) -> list[str]:
    return list(next(iter(found.values())))


def _paper(task: str, direction: Direction, found: Found) -> tuple[dict[str, Cell], ...]:
    """The paper's rows of these explainers, in its own columns."""
    kept = ("explainer", *_columns(found))
    rows = [row for row in paper_rows(task, direction) if row["explainer"] in found]
    return tuple({name: row.get(name) for name in kept} for row in rows)


def gains_table(
    task: str,
    protocol: str,
    direction: Direction,
    found: Found,
    ours: str,
    rng: np.random.Generator,
) -> Table:
    """By how much one explainer's area is better than each rival's on the same images."""
    against = f"{ours} against"
    return Table(
        title=f"{task.capitalize()}, {protocol} protocol: what {ours} gains in {direction} AUC",
        columns=(against, *_columns(found)),
        rows=tuple(
            {against: name, **{c: gain(found[ours][c], curves[c], direction, rng) for c in curves}}
            for name, curves in found.items()
            if name != ours
        ),
        notes=(f"Above 0: {ours} is better. In brackets: 95% interval over images.",),
    )


def gain(
    ours: np.ndarray, theirs: np.ndarray, direction: Direction, rng: np.random.Generator
) -> str:
    """How much better the first area is, with its interval; a star where that leaves out 0."""
    pair = (theirs, ours) if direction == "deletion" else (ours, theirs)
    found = paired_difference(*pair, rng)
    star = " *" if found.sign else ""
    return f"{found.value:+.3f} [{found.low:+.3f}, {found.high:+.3f}]{star}"
