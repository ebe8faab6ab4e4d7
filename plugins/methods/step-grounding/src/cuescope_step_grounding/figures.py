"""Tables and pictures: the metrics beside the paper's, what changes cost, and marked traces."""

from collections.abc import Iterable, Iterator, Sequence
from operator import attrgetter
from textwrap import wrap

import numpy as np

from cuescope_sdk import Accuracy, Audit, Cell, Frame, HasBenchmark, Picture, Table
from cuescope_sdk.grounding import Claim, Judgement
from cuescope_sdk.report import frame_strips
from cuescope_step_grounding import paper
from cuescope_step_grounding.analysis import Result
from cuescope_step_grounding.beliefs import frames_of_step
from cuescope_step_grounding.claims.contents import claim_words
from cuescope_step_grounding.options import StepGroundingOptions
from cuescope_step_grounding.rows.keys import ACC, HR, SGR, TCS, VRS
from cuescope_step_grounding.scores import CLIP, ChangeCost, mean
from cuescope_step_grounding.trials import is_recorded
from cuescope_step_grounding.verification.judged import JudgedTrace, JudgedTraces

MARKS = {
    "supported": "\N{CHECK MARK}",
    "unsupported": "\N{BALLOT X}",
    "unverifiable": "?",
}
METRIC_COLUMNS = ("reasoning", "Acc", "SGR", "TCS", "HR", "VRS")
CHANGE_COLUMNS = ("changed", "|P| %", "SGR lost", "Acc lost", "traces")
CAPTION_WIDTH = 78  # characters


def attach_figures(
    audit: Audit,
    judged: JudgedTraces,
    whole: Result,
    costs: Sequence[ChangeCost],
) -> None:
    audit.attach(metrics_table(audit, judged, whole))
    if (right := accuracy(judged)) is not None:
        audit.attach(right)
    if costs:
        audit.attach(changes_table(costs))
    for index, trace in enumerate(examples(judged, audit.options.shown)):
        # one table is enough: further traces are pictures
        if index == 0:
            audit.attach(trace_table(judged, trace))
        if trace.sample.frames:
            audit.attach(trace_picture(judged, trace))


def accuracy(judged: JudgedTraces) -> Accuracy | None:
    """How often the answers are right; None where one is open, without choices."""
    marked = [trace for trace in judged.baselines if trace.accuracy is not None]
    choices = np.array([len(trace.sample.choices) for trace in marked])
    if not marked or not choices.all():
        return None
    # questions may differ in their number of choices
    chance = float(np.mean(1 / choices))
    right = sum(trace.accuracy == 1 for trace in marked)
    return Accuracy(correct=right, answered=len(marked), chance=chance)


def metrics_table(audit: Audit, judged: JudgedTraces, whole: Result) -> Table:
    """This model in each style that was asked for, and the paper's models on the same data."""
    options: StepGroundingOptions = audit.options
    figures = {name: figure.value for name, figure in whole.figures.items()}
    style = "recorded" if is_recorded(audit) else options.style
    shares = map(_percentage, map(figures.get, (ACC, SGR, TCS, HR)))
    rows: list[tuple[Cell, ...]] = [(style, *shares, figures.get(VRS))]
    # a user may name a style twice
    for other in dict.fromkeys(options.also):
        traces = judged.in_style(other)
        if traces:
            accuracy = _mean_of("accuracy", traces)
            sgr = _mean_of("grounding", traces)
            hr = _mean_of("hallucination", traces)
            # TCS and VRS are measured in the style of the options alone
            shares = map(_percentage, (accuracy, sgr, None, hr))
            rows.append((other, *shares, None))
    note = (
        "SGR: claims supported. TCS: beliefs consistent. HR: steps with a false claim. VRS: visual "
        f"reliance. In percent, but VRS (0 to {CLIP:g})."
    )
    dataset: object = audit.context.dataset
    if isinstance(dataset, HasBenchmark) and dataset.benchmark in paper.BENCHMARKS:
        rows += paper_rows(dataset.benchmark)
        note += " Rows with a model's name, as GPT-4o: the paper's figures on this data set."
    return Table.of(
        "How well the reasoning is grounded",
        METRIC_COLUMNS,
        rows,
        note,
    )


def _mean_of(name: str, values: Iterable[object]) -> float | None:
    return mean(map(attrgetter(name), values))


def paper_rows(benchmark: str) -> Iterator[tuple[Cell, ...]]:
    """Table 1 of the paper."""
    tables = paper.read_tables()
    column = paper.BENCHMARKS.index(benchmark)
    grids = np.stack([tables.accuracy, tables.sgr, tables.tcs, tables.hr])
    for row, model in enumerate(tables.models):
        # Table 1 has no column of VRS
        yield model, *grids[:, row, column].tolist(), None


def _percentage(share: float | None) -> float | None:
    return None if share is None else 100 * share


def changes_table(costs: Sequence[ChangeCost]) -> Table:
    """Table 3 of the paper: what each kind of change costs, in points."""
    rows = []
    for kind in dict.fromkeys(cost.kind for cost in costs):
        of_kind = [cost for cost in costs if cost.kind == kind]
        # other words change no pixel
        size = None if kind == "paraphrase" else _mean_of("magnitude", of_kind)
        lost = _mean_of("lost", of_kind)
        answers = mean(map(_answers_lost, of_kind))
        points = map(_percentage, (size, lost, answers))
        rows.append((kind, *points, len(of_kind)))
    return Table.of(
        "What it costs to change what is shown",
        CHANGE_COLUMNS,
        rows,
        "Position: things moved. Temporal: frames in another order. Visibility: things hidden. "
        "Irrelevant: only the background changed. Paraphrase: the question in other words. |P|: "
        "mean difference of the pixels. Lost: in points.",
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

    # without steps there is nothing to show
    written = [trace for trace in judged.baselines if trace.reasoning.trace.steps]
    return sorted(written, key=rank)[:most]


def trace_table(judged: JudgedTraces, trace: JudgedTrace) -> Table:
    """One trace, each claim marked."""
    rows = []
    steps = zip(trace.reasoning.trace.steps, trace.reasoning.claims, strict=True)
    for number, (step, claims) in enumerate(steps, start=1):
        of_claims = (judged.judgements.of(trace.sample, claim) for claim in claims)
        marked = map(_claim_line, claims, of_claims)
        rows.append((f"{number}. {step}", "\n".join(marked) or "claims nothing"))
    return Table.of(
        f"One trace: {trace.sample.key}",
        ("step", "claims"),
        rows,
        _question_and_answer(trace),
        f"{MARKS['supported']} supported, {MARKS['unsupported']} not, ? cannot be checked.",
    )


def trace_picture(judged: JudgedTraces, trace: JudgedTrace) -> Picture:
    """Each step's words above the frames that it speaks of, or above all of them."""
    sample = trace.sample
    steps = zip(trace.reasoning.trace.steps, trace.reasoning.claims, strict=True)
    rows = []
    for number, (step, claims) in enumerate(steps, start=1):
        marks = [MARKS[judged.judgements.of(sample, claim).verdict] for claim in claims]
        lines = wrap(f"{number}. {step}  {''.join(marks)}", CAPTION_WIDTH)
        rows.append(("\n".join(lines), _frames_meant(claims, sample.frames)))
    return Picture(
        title=f"The trace of {sample.key}",
        caption=f"{_question_and_answer(trace)} Each step with the frames that it names.",
        image=frame_strips(rows),
    )


def _frames_meant(claims: Sequence[Claim], frames: Sequence[Frame]) -> list[Frame]:
    """The frames of a step; all where it names none."""
    indices = [i for i in frames_of_step(claims) or () if 0 <= i < len(frames)]
    return [frames[index] for index in indices] or list(frames)


def _claim_line(claim: Claim, judgement: Judgement) -> str:
    """As "✓ red chair", "? chair is old (abstract)"."""
    reason = judgement.reason or (
        "by a more general word" if judgement.general else None
    )
    why = f" ({reason})" if reason else ""
    return f"{MARKS[judgement.verdict]} {claim_words(claim)}{why}"


def _question_and_answer(trace: JudgedTrace) -> str:
    question = trace.sample.question or "(no question)"
    verdict = {True: "right", False: "wrong", None: "the right one is not known"}
    answer = trace.reasoning.trace.answer
    if not answer:
        return f"{question} No answer."
    return f"{question} Answer: {answer} ({verdict[trace.reasoning.right]})."
