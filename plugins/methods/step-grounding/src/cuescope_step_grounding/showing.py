"""Tables and pictures: the metrics beside the paper's, what changes cost, and traces with marks."""

from collections.abc import Iterator, Sequence
from itertools import islice
from textwrap import shorten, wrap
from typing import TYPE_CHECKING

import numpy as np
from PIL import Image

from cuescope_sdk import Audit, Cell, Frame, Picture, Table
from cuescope_sdk.grounding import Claim, Judgement
from cuescope_step_grounding.asking import is_recorded
from cuescope_step_grounding.beliefs import when
from cuescope_step_grounding.measuring import Findings, MeasuredTrace
from cuescope_step_grounding.metrics import correlation, grounding, hallucinates, mean
from cuescope_step_grounding.reliance import ChangeCost
from cuescope_step_grounding.rows import ACC, HR, SGR, TCS, VRS, Row
from cuescope_step_grounding.wording import moment, words

if TYPE_CHECKING:
    from cuescope_step_grounding import StepGrounding

MARKS = {"supported": "\N{CHECK MARK}", "unsupported": "\N{BALLOT X}", "unverifiable": "?"}
METRICS = "How well the reasoning is grounded"  # the title of its table
METRIC_COLUMNS = ("reasoning", "Acc", "SGR", "TCS", "HR", "VRS")
BENCHMARKS = {"cuescope_star": "STAR", "cuescope_r2r": "R2R", "cuescope_teach": "TEACh"}
CHANGE_COLUMNS = ("changed", "|P| %", "SGR lost", "Acc lost", "traces")
TRACE_COLUMNS = ("step", "claims", "when", "g")
SIDE, ROOM, LINES = 160, 78, 3  # pixels of a frame; characters and lines of a step
LISTED, PICTURED, LONGEST = 40, 12, 300  # steps in a table, in a picture; characters of a step


def show(
    audit: Audit,
    options: "StepGrounding.Options",
    found: Findings,
    verdict: Row,
    changes: Sequence[ChangeCost],
) -> None:
    """All of them."""
    audit.attach(metrics_table(audit, options, found, verdict))
    if changes:
        audit.attach(changes_table(changes))
    for place, one in enumerate(telling(found, options.shown)):
        if place == 0:
            audit.attach(trace_table(found, one))
        if one.reasoning.sample.frames:
            audit.attach(trace_picture(found, one))


def metrics_table(
    audit: Audit, options: "StepGrounding.Options", found: Findings, verdict: Row
) -> Table:
    """This model in each style that was asked for, and the paper's models on the same data."""
    own = {name: verdict.figures[name].value for name in verdict.figures}
    style = "recorded" if is_recorded(audit) else options.style
    rows = [_metrics(style, *(own.get(name) for name in (ACC, SGR, TCS, HR)), vrs=own.get(VRS))]
    for style in dict.fromkeys(options.also):
        of = [
            one for one in found.variants
            if one.reasoning.asked_for.style == style and one.reasoning.asked_for.change is None
        ]  # fmt: skip
        if of:
            right = [
                None if one.reasoning.right is None else float(one.reasoning.right) for one in of
            ]
            sgr, hr = (mean([getattr(one, name) for one in of]) for name in
                       ("grounding", "hallucination"))  # fmt: skip
            rows.append(_metrics(style, mean(right), sgr, None, hr))
    module = type(audit.context.dataset).__module__.partition(".")[0]
    rows += paper_rows(BENCHMARKS[module]) if module in BENCHMARKS else []
    others = " Names as GPT-4o: the paper's figures on this data set." * (module in BENCHMARKS)
    notes = [f"In percent, but VRS (0 to {options.clip:g}).{others}", *hallucination_beside(found)]
    return Table(title=METRICS, columns=METRIC_COLUMNS, rows=tuple(rows), notes=tuple(notes))


def hallucination_beside(found: Findings) -> Iterator[str]:
    """HR by step against 1 - SGR by step: the same only where each step has one claim."""
    steps = [(step, one.policy) for one in found.plain for step in one.steps]
    judged = [(hallucinates(s, p), g) for s, p in steps if (g := grounding(s, p)) is not None]
    if not judged:
        return
    flagged, held = np.array(judged, dtype=np.float64).T
    r = correlation(flagged, 1 - held)
    if r is not None:
        several = sum(step.claims > 1 for step, _ in steps)
        yield (
            f"By step, HR goes with 1 - SGR at r = {r:.2f} (paper: 0.61): {several} of "
            f"{len(steps)} steps claim several things."
        )


def paper_rows(benchmark: str) -> list[dict[str, Cell]]:
    """Table 1 of the paper."""
    from cuescope_step_grounding.across.paper import BENCHMARKS as COLUMNS
    from cuescope_step_grounding.across.paper import read_tables

    tables, column = read_tables(), COLUMNS.index(benchmark)
    grids = (tables.accuracy, tables.sgr, tables.tcs, tables.hr)
    return [
        dict(
            zip(METRIC_COLUMNS, (model, *(float(g[row, column]) for g in grids), None), strict=True)
        )
        for row, model in enumerate(tables.models)
    ]


def _metrics(name: str, *shares: float | None, vrs: float | None = None) -> dict[str, Cell]:
    cells = [None if value is None else 100 * value for value in shares]
    return dict(zip(METRIC_COLUMNS, (name, *cells, vrs), strict=True))


def changes_table(changes: Sequence[ChangeCost]) -> Table:
    """Table 3 of the paper: what each kind of change costs, in points."""
    rows: list[dict[str, Cell]] = []
    for kind in dict.fromkeys(one.kind for one in changes):
        of = [one for one in changes if one.kind == kind]
        size = mean([one.magnitude for one in of])
        lost = mean([one.lost for one in of])
        wrong = mean([_answers_lost(one) for one in of])
        shown = (None if kind == "paraphrase" else size, lost, wrong)
        cells = (None if value is None else 100 * value for value in shown)
        rows.append(dict(zip(CHANGE_COLUMNS, (kind, *cells, len(of)), strict=True)))
    note = (
        "Position, temporal and visibility: things moved, frames in another order, things hidden. "
        "Irrelevant: the background alone. Paraphrase: the question in other words. |P|: mean "
        "difference of the pixels. Lost: in points."
    )
    return Table(
        title="What it costs to change what is shown", columns=CHANGE_COLUMNS, rows=tuple(rows),
        notes=(note,),
    )  # fmt: skip


def _answers_lost(one: ChangeCost) -> float | None:
    before, after = one.right
    return None if before is None or after is None else float(before) - float(after)


# ------------------------------------------------------------------------------------- traces


def telling(found: Findings, most: int) -> list[MeasuredTrace]:
    """Traces that say most: rightly answered with unsupported claims first, then the like."""

    def rank(one: MeasuredTrace) -> tuple[bool, bool, float, str]:
        flawed = bool(one.hallucination)
        return (
            not flawed,
            not one.reasoning.right,
            abs((one.grounding or 0.0) - 0.6),
            one.reasoning.sample.key,
        )

    able = [one for one in found.plain if one.reasoning.trace.steps]
    return sorted(able, key=rank)[:most]


def trace_table(found: Findings, one: MeasuredTrace) -> Table:
    """One trace, each claim marked."""
    rows: list[dict[str, Cell]] = []
    steps = zip(one.reasoning.trace.steps, one.reasoning.claims, one.steps, strict=True)
    for number, (said, claims, step) in enumerate(islice(steps, LISTED), start=1):
        marked = [
            _marked(claim, found.verdicts.of(one.reasoning.sample, claim)) for claim in claims
        ]
        times = list(dict.fromkeys(filter(None, map(moment, claims))))
        g = grounding(step, one.policy)
        cells: tuple[Cell, ...] = (
            f"{number}. {shorten(said, LONGEST, placeholder=' ...')}",
            "\n".join(marked) or "claims nothing",
            ", ".join(times), None if g is None else f"{g:.2f}",
        )  # fmt: skip
        rows.append(dict(zip(TRACE_COLUMNS, cells, strict=True)))
    notes = (
        f"{_question(one)} {_answer(one)}",
        f"{MARKS['supported']} supported, {MARKS['unsupported']} unsupported, ? cannot be "
        "verified. g: share of the step's claims that are supported." + _more(one, LISTED),
    )
    return Table(
        title=f"One trace: {one.reasoning.sample.key}", columns=TRACE_COLUMNS, rows=tuple(rows),
        notes=notes,
    )  # fmt: skip


def trace_picture(found: Findings, one: MeasuredTrace) -> Picture:
    """Each step's words above the frames that it speaks of, or above all of them."""
    from cuescope_sdk.report import StripRow, frame_strips

    frames = one.reasoning.sample.frames
    steps = zip(one.reasoning.trace.steps, one.reasoning.claims, strict=True)
    rows = [
        StripRow(
            _caption(number, said, claims, found, one), [_small(f) for f in _meant(claims, frames)]
        )
        for number, (said, claims) in enumerate(islice(steps, PICTURED), start=1)
    ]
    return Picture(
        title=f"The trace of {one.reasoning.sample.key}",
        caption=f"{_question(one)} {_answer(one)} Each step with the frames that it names."
        + _more(one, PICTURED),
        image=frame_strips(rows),
    )


def _caption(
    number: int, said: str, claims: Sequence[Claim], found: Findings, one: MeasuredTrace
) -> str:
    marks = "".join(
        MARKS[found.verdicts.of(one.reasoning.sample, claim).verdict] for claim in claims
    )
    lines = wrap(f"{number}. {said}  {marks}", ROOM, max_lines=LINES, placeholder=" ...")
    return "\n".join(lines)


def _meant(claims: Sequence[Claim], frames: Sequence[Frame]) -> Iterator[Frame]:
    """The frames of a step; all where it names none."""
    places = when(claims)
    able = [place for place in places or () if 0 <= place < len(frames)]
    yield from (frames[place] for place in able or range(len(frames)))


def _marked(claim: Claim, judged: Judgement) -> str:
    """As "✓ red chair", "? chair is old (abstract)"."""
    why = f" ({judged.reason})" if judged.reason else ""
    return f"{MARKS[judged.verdict]} {words(claim)}{why}"


def _more(one: MeasuredTrace, shown: int) -> str:
    left = len(one.reasoning.trace.steps) - shown
    return f" {left} more steps are not shown." if left > 0 else ""


def _question(one: MeasuredTrace) -> str:
    return one.reasoning.sample.question or "(no question)"


def _answer(one: MeasuredTrace) -> str:
    known = {True: "right", False: "wrong", None: "not to be judged"}[one.reasoning.right]
    given = one.reasoning.trace.answer
    return f"Answer: {given} ({known})." if given else "No answer."


def _small(frame: Frame) -> np.ndarray:
    image = frame.load().copy()
    image.thumbnail((SIDE, SIDE), Image.Resampling.LANCZOS)
    return np.asarray(image)
