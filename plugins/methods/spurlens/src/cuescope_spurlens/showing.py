"""Tables and pictures: the strongest cue of each class, averages, images with and without."""

from typing import TYPE_CHECKING

import numpy as np
from PIL import Image

from cuescope_sdk import Audit, Cell, Picture, Sample, Table
from cuescope_spurlens.asking import with_article
from cuescope_spurlens.cases import Study
from cuescope_spurlens.paper import AVERAGED, average_rows
from cuescope_spurlens.scoring import Heard, Scored
from cuescope_spurlens.studying import module_of

if TYPE_CHECKING:
    from cuescope_spurlens import SpurLens

TITLES = {
    "recognition": "Recognition: the strongest cue of each class",
    "hallucination": "Hallucination: the strongest cue of each class",
    "drop": "Objects dropped from their images: the strongest cue of each class",
    "mask": "Objects blackened in their images: the strongest cue of each class",
}
STRONGEST = ("class", "cue", "with it", "without", "gap", "random", "q", "K")
PICTURED, SIDE, EACH = 3, 160, 8


def show(audit: Audit, options: "SpurLens.Options", study: Study, heard: Heard) -> None:
    """All of them."""
    for task, title in TITLES.items():
        if cases := [one for one in heard.cases if one.case.task == task]:
            audit.attach(strongest_table(title, cases))
    if heard.cases:
        audit.attach(average_table(heard, module_of(audit.context.dataset), options.beside))
    if study.left_out:
        audit.attach(left_out_table(study))
    for one in heard.findings[:PICTURED]:
        audit.attach(picture(one))


def strongest_table(title: str, cases: list[Scored]) -> Table:
    """A row a class, the largest gap first; rates in percent, gaps in points."""
    rows = [_strongest(one) for one in sorted(cases, key=lambda one: -one.gap.max())]
    note = (
        "Yes in percent of the questions, about the K images that show the cue most and least. "
        "Random: the mean largest gap of as many random rankings. *: a finding."
    )
    return Table(title=title, columns=STRONGEST, rows=tuple(rows), notes=(note,))


def _strongest(one: Scored) -> dict[str, Cell]:
    cue = one.strongest
    rates = (one.with_cue[cue], one.without[cue], one.gap[cue], one.baseline)
    percent = [100 * float(rate) for rate in rates]
    q_value = f"{one.q_value:.3f}{' *' if one.finding else ''}"
    cells: tuple[Cell, ...] = (one.case.label, one.cue, *percent, q_value, one.case.k)
    return dict(zip(STRONGEST, cells, strict=True))


def average_table(heard: Heard, module: str, beside: str) -> Table:
    """Means over the classes of their strongest cues, as tables 1 and 2 of the paper."""
    rows: list[dict[str, Cell]] = []
    paper: list[dict[str, Cell]] = []
    for task in dict.fromkeys(one.case.task for one in heard.cases):
        rows.append(dict(zip(AVERAGED, _averages(task, heard), strict=True)))
        paper += average_rows(task, module, beside)
    notes = (
        "In percent. The strongest of many is large by chance too: compare the gap with that of "
        "random rankings.",
        *([f"In brackets: the paper's {beside}."] if paper else []),
    )
    title = "Mean over the classes"
    return Table(title=title, columns=AVERAGED, rows=tuple(rows), paper=tuple(paper), notes=notes)


def _averages(task: str, heard: Heard) -> tuple[Cell, ...]:
    cases = [one for one in heard.cases if one.case.task == task]
    figures = [
        (s.with_cue[s.strongest], s.without[s.strongest], s.gap[s.strongest], s.baseline)
        for s in cases
    ]
    return task, *(100 * np.mean(figures, axis=0)).tolist()


def left_out_table(study: Study) -> Table:
    """Every cue that is not tried, with the reason; a row a class."""
    by_class: dict[str, dict[str, list[str]]] = {}
    for label, cue, reason in study.left_out:
        by_class.setdefault(label, {}).setdefault(reason, []).append(cue)
    rows = tuple(
        {"class": label, "cues": "; ".join(f"{', '.join(c)}: {why}" for why, c in reasons.items())}
        for label, reasons in by_class.items()
    )
    return Table(title="Cues that were left out", columns=("class", "cues"), rows=rows)


def picture(one: Scored) -> Picture:
    """The images that show the strongest cue most, above those that show it least."""
    from cuescope_sdk.report import StripRow, frame_strips

    case, cue = one.case, one.strongest
    rows = [
        StripRow(_caption(one, cue, shown), [_small(case.samples[row]) for row in places[:EACH]])
        for shown, places in (
            (True, case.top[cue].tolist()),
            (False, case.bottom[cue, ::-1].tolist()),
        )
    ]
    of = "without" if case.task == "hallucination" else "with"
    then = f" Here with the {case.label}, without which they are shown." * case.is_changed
    return Picture(
        title=f"{case.task}: {case.label} and {one.cue}",
        caption=f"Images {of} {with_article(case.label)} that show {with_article(one.cue)} most, "
        f"and images that show it least.{then}",
        image=frame_strips(rows, EACH),
    )


def _caption(one: Scored, cue: int, shown: bool) -> str:
    rate = (one.with_cue if shown else one.without)[cue]
    verb = "seen" if one.case.task == "recognition" else "imagined"
    return f"{'with' if shown else 'without'} {one.cue}: {one.case.label} {verb} in {rate:.0%}"


def _small(sample: Sample) -> np.ndarray:
    image = sample.frames[0].load().copy()
    image.thumbnail((SIDE, SIDE), Image.Resampling.LANCZOS)
    return np.asarray(image)
