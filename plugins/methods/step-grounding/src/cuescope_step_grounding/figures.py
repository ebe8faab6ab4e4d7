"""Tables and pictures: the metrics beside the paper's, what changes cost, and marked traces."""

from collections.abc import Iterator, Sequence
from itertools import islice
from textwrap import shorten, wrap

import numpy as np

from cuescope_sdk import Audit, Cell, Frame, HasBenchmark, Picture, Table
from cuescope_sdk.grounding import Claim, Judgement
from cuescope_sdk.report import StripRow, frame_strips, thumbnail
from cuescope_step_grounding import paper
from cuescope_step_grounding.beliefs import frames_of_step
from cuescope_step_grounding.claims.contents import claim_words, moment_words
from cuescope_step_grounding.options import StepGroundingOptions
from cuescope_step_grounding.rows.keys import ACC, HR, SGR, TCS, VRS
from cuescope_step_grounding.rows.rows import Row
from cuescope_step_grounding.scores import ChangeCost, grounding, hallucinates, mean, pearson
from cuescope_step_grounding.trials import is_recorded
from cuescope_step_grounding.verification.judged import JudgedTrace, JudgedTraces

MARKS = {"supported": "\N{CHECK MARK}", "unsupported": "\N{BALLOT X}", "unverifiable": "?"}
METRIC_COLUMNS = ("reasoning", "Acc", "SGR", "TCS", "HR", "VRS")
CHANGE_COLUMNS = ("changed", "|P| %", "SGR lost", "Acc lost", "traces")
TRACE_COLUMNS = ("step", "claims", "when", "g")
CAPTION_WIDTH, CAPTION_LINES = 78, 3  # characters, lines of a step
TABLE_STEPS, PICTURE_STEPS, LONGEST_STEP = 40, 12, 300  # steps; characters of a step


def attach_figures(
    audit: Audit, judged: JudgedTraces, verdict: Row, costs: Sequence[ChangeCost]
) -> None:
    audit.attach(metrics_table(audit, judged, verdict))
    if costs:
        audit.attach(changes_table(costs))
    for index, trace in enumerate(examples(judged, audit.options.shown)):
        if index == 0:
            audit.attach(trace_table(judged, trace))
        if trace.sample.frames:
            audit.attach(trace_picture(judged, trace))


def metrics_table(audit: Audit, judged: JudgedTraces, verdict: Row) -> Table:
    """This model in each style that was asked for, and the paper's models on the same data."""
    options: StepGroundingOptions = audit.options
    own = {name: figure.value for name, figure in verdict.figures.items()}
    style = "recorded" if is_recorded(audit) else options.style
    shares = [own.get(name) for name in (ACC, SGR, TCS, HR)]
    rows: list[tuple[Cell, ...]] = [(style, *map(_hundred, shares), own.get(VRS))]
    for other in dict.fromkeys(options.also):
        if traces := judged.in_style(other):
            accuracy = mean(trace.accuracy for trace in traces)
            sgr = mean(trace.grounding for trace in traces)
            hr = mean(trace.hallucination for trace in traces)
            rows.append((other, *map(_hundred, (accuracy, sgr, None, hr)), None))
    dataset: object = audit.context.dataset
    benchmark = dataset.benchmark if isinstance(dataset, HasBenchmark) else None
    note = (
        "SGR: claims supported. TCS: beliefs consistent. HR: steps with a false claim. VRS: visual "
        f"reliance. In percent, but VRS (0 to {options.clip:g})."
    )
    if benchmark in paper.BENCHMARKS:
        rows += paper_rows(benchmark)
        note += " Rows with a model's name, as GPT-4o: the paper's figures on this data set."
    return Table(
        title="How well the reasoning is grounded",
        columns=METRIC_COLUMNS,
        rows=tuple(dict(zip(METRIC_COLUMNS, row, strict=True)) for row in rows),
        notes=(note, *_hallucination_note(judged)),
    )


def _hallucination_note(judged: JudgedTraces) -> Iterator[str]:
    """HR by step against 1 - SGR by step: the same only where each step has one claim."""
    steps = [(step, trace.policy) for trace in judged.baselines for step in trace.steps]
    rates = [
        (hallucinates(step, policy), rate)
        for step, policy in steps
        if (rate := grounding(step, policy)) is not None
    ]
    if not rates:
        return
    flagged, supported = np.array(rates, dtype=np.float64).T
    r = pearson(flagged, 1 - supported)
    if r is not None:
        several = sum(step.claims > 1 for step, _ in steps)
        yield (
            f"By step, HR correlates with 1 - SGR at r = {r:.2f} (paper: 0.61): {several} of "
            f"{len(steps)} steps make several claims."
        )


def paper_rows(benchmark: str) -> list[tuple[Cell, ...]]:
    """Table 1 of the paper."""
    tables, column = paper.read_tables(), paper.BENCHMARKS.index(benchmark)
    grids = (tables.accuracy, tables.sgr, tables.tcs, tables.hr)
    return [
        (model, *(float(grid[row, column]) for grid in grids), None)
        for row, model in enumerate(tables.models)
    ]


def _hundred(share: float | None) -> float | None:
    return None if share is None else 100 * share


def changes_table(costs: Sequence[ChangeCost]) -> Table:
    """Table 3 of the paper: what each kind of change costs, in points."""
    rows: list[dict[str, Cell]] = []
    for kind in dict.fromkeys(cost.kind for cost in costs):
        own = [cost for cost in costs if cost.kind == kind]
        size = None if kind == "paraphrase" else mean(cost.magnitude for cost in own)
        shares = (size, mean(cost.lost for cost in own), mean(map(_answers_lost, own)))
        cells = (kind, *map(_hundred, shares), len(own))
        rows.append(dict(zip(CHANGE_COLUMNS, cells, strict=True)))
    note = (
        "Position: things moved. Temporal: frames in another order. Visibility: things hidden. "
        "Irrelevant: only the background changed. Paraphrase: the question in other words. |P|: "
        "mean difference of the pixels. Lost: in points."
    )
    return Table(
        title="What it costs to change what is shown",
        columns=CHANGE_COLUMNS,
        rows=tuple(rows),
        notes=(note,),
    )


def _answers_lost(cost: ChangeCost) -> float | None:
    before, after = cost.right
    return None if before is None or after is None else float(before) - float(after)


# ------------------------------------------------------------------------------------- traces


def examples(judged: JudgedTraces, most: int) -> list[JudgedTrace]:
    """Traces that tell most: rightly answered with unsupported claims first, then the like."""

    def rank(trace: JudgedTrace) -> tuple[bool, bool, float, str]:
        # About 0.6 supported: a trace with marks of both kinds teaches more than an extreme one.
        distance = abs((trace.grounding or 0.0) - 0.6)
        return not trace.hallucination, not trace.accuracy, distance, trace.sample.key

    written = [trace for trace in judged.baselines if trace.reasoning.trace.steps]
    return sorted(written, key=rank)[:most]


def trace_table(judged: JudgedTraces, trace: JudgedTrace) -> Table:
    """One trace, each claim marked."""
    rows: list[dict[str, Cell]] = []
    reasoning = trace.reasoning
    steps = zip(reasoning.trace.steps, reasoning.claims, trace.steps, strict=True)
    for number, (step, claims, counts) in enumerate(islice(steps, TABLE_STEPS), start=1):
        marked = [_claim_line(claim, judged.judgements.of(trace.sample, claim)) for claim in claims]
        times = dict.fromkeys(filter(None, map(moment_words, claims)))
        rate = grounding(counts, trace.policy)
        cells: tuple[Cell, ...] = (
            f"{number}. {shorten(step, LONGEST_STEP, placeholder=' ...')}",
            "\n".join(marked) or "claims nothing",
            ", ".join(times),
            None if rate is None else f"{rate:.2f}",
        )
        rows.append(dict(zip(TRACE_COLUMNS, cells, strict=True)))
    legend = (
        f"{MARKS['supported']} supported, {MARKS['unsupported']} unsupported, ? cannot be "
        "verified. g: share of the step's claims that are supported."
    )
    return Table(
        title=f"One trace: {trace.sample.key}",
        columns=TRACE_COLUMNS,
        rows=tuple(rows),
        notes=(_question_and_answer(trace), legend + _left_out(trace, TABLE_STEPS)),
    )


def trace_picture(judged: JudgedTraces, trace: JudgedTrace) -> Picture:
    """Each step's words above the frames that it speaks of, or above all of them."""
    steps = zip(trace.reasoning.trace.steps, trace.reasoning.claims, strict=True)
    rows = []
    for number, (step, claims) in enumerate(islice(steps, PICTURE_STEPS), start=1):
        verdicts = [judged.judgements.of(trace.sample, claim).verdict for claim in claims]
        text = f"{number}. {step}  {''.join(MARKS[verdict] for verdict in verdicts)}"
        lines = wrap(text, CAPTION_WIDTH, max_lines=CAPTION_LINES, placeholder=" ...")
        frames = [thumbnail(frame) for frame in _frames_meant(claims, trace.sample.frames)]
        rows.append(StripRow("\n".join(lines), frames))
    return Picture(
        title=f"The trace of {trace.sample.key}",
        caption=f"{_question_and_answer(trace)} Each step with the frames that it names."
        + _left_out(trace, PICTURE_STEPS),
        image=frame_strips(rows),
    )


def _frames_meant(claims: Sequence[Claim], frames: Sequence[Frame]) -> list[Frame]:
    """The frames of a step; all where it names none."""
    indices = [i for i in frames_of_step(claims) or () if 0 <= i < len(frames)]
    return [frames[index] for index in indices or range(len(frames))]


def _claim_line(claim: Claim, judgement: Judgement) -> str:
    """As "✓ red chair", "? chair is old (abstract)"."""
    reason = judgement.reason or ("by a more general word" if judgement.general else None)
    why = f" ({reason})" if reason else ""
    return f"{MARKS[judgement.verdict]} {claim_words(claim)}{why}"


def _left_out(trace: JudgedTrace, shown: int) -> str:
    left = len(trace.reasoning.trace.steps) - shown
    return f" {left} more steps are not shown." if left > 0 else ""


def _question_and_answer(trace: JudgedTrace) -> str:
    question = trace.sample.question or "(no question)"
    verdict = {True: "right", False: "wrong", None: "the right one is not known"}
    answer = trace.reasoning.trace.answer
    if not answer:
        return f"{question} No answer."
    return f"{question} Answer: {answer} ({verdict[trace.reasoning.right]})."
