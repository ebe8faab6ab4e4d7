"""TRoVe's Tables 4 and 5 (Varma et al., 2025, appendix D.2), with this remedy, beside its own."""

from collections.abc import Iterator

import numpy as np
from jaxtyping import Bool, Float, Int

from cuescope_mitigation.measuring import of_label
from cuescope_mitigation.trials import Comparison
from cuescope_sdk import Cell, Table

TOPS = (5, 10, 20)  # first cues
COLUMNS = ("model", *(f"{among} {top}" for top in TOPS for among in ("label", "all")))
# accuracy@5, then accuracy@1, of CoOp on Kinetics-400: label and all samples of the top 5, 10, 20
PUBLISHED: dict[int, dict[str, tuple[float, ...]]] = {
    5: {
        "VideoCLIP-XL": (47.1, 84.1, 63.0, 82.3, 51.7, 82.2),
        "VideoCLIP-XL +": (82.4, 89.4, 91.3, 84.7, 94.4, 86.7),
        "ViCLIP-B": (21.1, 69.5, 22.7, 69.0, 45.3, 73.4),
        "ViCLIP-B +": (89.5, 75.9, 93.2, 75.5, 95.8, 77.7),
        "ViCLIP-L": (58.6, 69.9, 64.3, 75.7, 71.4, 77.1),
        "ViCLIP-L +": (96.6, 78.2, 96.4, 78.8, 96.9, 80.7),
    },
    1: {
        "VideoCLIP-XL": (17.6, 48.3, 21.7, 52.7, 18.0, 55.0),
        "VideoCLIP-XL +": (41.2, 58.5, 45.7, 55.8, 61.8, 57.1),
        "ViCLIP-B": (5.3, 34.2, 6.8, 37.7, 24.2, 43.1),
        "ViCLIP-B +": (15.8, 43.9, 50.0, 47.9, 62.1, 50.9),
        "ViCLIP-L": (3.4, 35.2, 16.1, 40.9, 23.5, 45.6),
        "ViCLIP-L +": (48.3, 46.1, 53.6, 48.2, 63.3, 50.1),
    },
}


def papers_tables(comparison: Comparison, mitigator: str) -> Iterator[Table]:
    """Table 4, where there are more than 5 labels, and Table 5."""
    for number, best in ((4, 5), (5, 1)):
        if best < len(comparison.parts.labels):
            yield papers_table(comparison, mitigator, number, best)


def papers_table(comparison: Comparison, mitigator: str, number: int, best: int) -> Table:
    """Accuracy@`best` where the first cues are: of the labels that they hurt, and of all."""
    cues = len(comparison.parts.cues)
    before = among_best(comparison.logits_before, comparison.targets, best)
    after = among_best(comparison.logits_after, comparison.targets, best)
    sizes: list[Cell] = []
    figures: list[list[Cell]] = [[], []]
    for top, previous in zip(TOPS, (0, *TOPS), strict=False):
        for among in first_cues(comparison, top):
            known = cues > previous and bool(among.any())
            sizes.append(int(among.sum()) if known else None)
            for right, row in zip((before, after), figures, strict=True):
                row.append(100 * float(right[among].mean()) if known else None)
    names = ("this model", "this model +", "samples")
    rows = [
        dict(zip(COLUMNS, (name, *row), strict=True))
        for name, row in zip(names, (*figures, sizes), strict=True)
    ]
    paper = [dict(zip(COLUMNS, (name, *row), strict=True)) for name, row in PUBLISHED[best].items()]
    notes = [
        "Label: samples that show one of the first 5, 10, 20 cues and have the label that it "
        f"hurts. All: all samples that show one of these cues. +: with {mitigator}. The paper's "
        "rows are CoOp on Kinetics-400 (400 labels), without placebos."
    ]
    if cues < TOPS[-1]:
        notes.append(
            f"This run has {cues}: the next larger column takes them all, later ones are empty."
        )
    return Table(
        title=f"As TRoVe's Table {number}: accuracy@{best} where the first cues are (%)",
        columns=COLUMNS,
        rows=tuple(rows),
        paper=tuple(paper),
        notes=tuple(notes),
    )


def first_cues(
    comparison: Comparison, top: int
) -> tuple[Bool[np.ndarray, " sample"], Bool[np.ndarray, " sample"]]:
    """Samples of the label that one of the first cues hurts and that show it; all that show one."""
    shown = np.asarray(comparison.shows[:, :top].any(axis=1))
    hurt = np.zeros_like(shown)
    for place, cue in enumerate(comparison.parts.cues[:top]):
        hurt |= comparison.shows[:, place] & of_label(comparison, cue)
    return hurt, shown


def among_best(
    logits: Float[np.ndarray, "sample class"], targets: Int[np.ndarray, " sample"], best: int
) -> Bool[np.ndarray, " sample"]:
    """Whether the label is among so many best answers."""
    order = np.argsort(-logits, axis=1, kind="stable")[:, :best]
    return np.asarray((order == targets[:, None]).any(axis=1))
