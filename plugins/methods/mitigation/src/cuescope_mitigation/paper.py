"""TRoVe's Tables 4 and 5 (Varma et al., 2025, appendix D.2), with this remedy, beside its own."""

import tomllib
from collections.abc import Iterable, Iterator
from importlib.resources import files

import numpy as np

from cuescope_mitigation.analysis import of_label
from cuescope_mitigation.scores import BoolPerSample, IntPerSample, Logits
from cuescope_mitigation.trials import Comparison, mitigator_name
from cuescope_sdk import Cell, Table

TOPS = (5, 10, 20)  # first cues: TRoVe, table 4 and table 5
COLUMNS = ("model", "label 5", "all 5", "label 10", "all 10", "label 20", "all 20")
OF_PAPER = "coop"  # beside another remedy the paper's rows would compare unlike things
PAPER = tomllib.loads(files(__package__).joinpath("paper.toml").read_text("utf-8"))


def papers_tables(comparison: Comparison) -> Iterator[Table]:
    """Table 4, where there are more than 5 labels, and Table 5."""
    for number, best in ((4, 5), (5, 1)):
        # of 5 labels the right one is always among the best 5
        if best < len(comparison.parts.labels):
            yield papers_table(comparison, number, best)


def papers_table(comparison: Comparison, number: int, best: int) -> Table:
    """Accuracy@`best` where the first cues are: of the labels that they hurt, and of all."""
    cues = len(comparison.parts.cues)
    mitigator = mitigator_name(comparison.parts.options)
    before = among_best(comparison.logits_before, comparison.targets, best)
    after = among_best(comparison.logits_after, comparison.targets, best)
    cells: list[list[Cell]] = [["this model"], ["this model +"], ["samples"]]
    for top, previous in zip(TOPS, (0, *TOPS), strict=False):
        for among in first_cues(comparison, top):
            figures: list[Cell] = [None, None, None]
            # beyond the last cue a column would only repeat the one before
            if cues > previous and among.any():
                shares = before[among].mean(), after[among].mean()
                percent = [100 * float(share) for share in shares]
                figures = [*percent, int(among.sum())]
            for row, figure in zip(cells, figures, strict=True):
                row.append(figure)
    published: list[list[Cell]] = []
    notes = [
        "Label: samples that show one of the first 5, 10, 20 cues and have the label that it "
        f"hurts. All: all samples that show one of these cues. +: with {mitigator}."
    ]
    if mitigator == OF_PAPER:
        published = [[name, *figures] for name, figures in PAPER[str(best)].items()]
        notes.append(
            "In brackets the paper's own: CoOp on Kinetics-400 (400 labels), without placebos."
        )
    if cues < TOPS[-1]:
        notes.append(
            f"This run has {cues}: the next larger column takes them all, later ones are empty."
        )
    return Table(
        title=f"As TRoVe's Table {number}: accuracy@{best} where the first cues are (%)",
        columns=COLUMNS,
        rows=_by_column(cells),
        paper=_by_column(published),
        notes=tuple(notes),
    )


def _by_column(rows: Iterable[list[Cell]]) -> tuple[dict[str, Cell], ...]:
    return tuple(dict(zip(COLUMNS, row, strict=True)) for row in rows)


def first_cues(comparison: Comparison, top: int) -> tuple[BoolPerSample, BoolPerSample]:
    """Samples of the label that one of the first cues hurts and that show it; all that show one."""
    shown = np.asarray(comparison.shows[:, :top].any(axis=1))
    hurt = np.zeros_like(shown)
    for column, cue in enumerate(comparison.parts.cues[:top]):
        labelled = of_label(comparison, cue)
        hurt |= comparison.shows[:, column] & labelled
    return hurt, shown


def among_best(logits: Logits, targets: IntPerSample, best: int) -> BoolPerSample:
    """Whether the label is among so many best answers."""
    # stable: of equal logits the first label wins, as in argmax
    order = np.argsort(-logits, axis=1, kind="stable")
    is_label = order[:, :best] == targets[:, None]
    return np.asarray(is_label.any(axis=1))
