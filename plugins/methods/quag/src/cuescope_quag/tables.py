"""The tables of the report, and what it is made of."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from textwrap import shorten
from typing import TypeAlias

from cuescope_quag.options import QUAGOptions
from cuescope_quag.paper import paper_rows
from cuescope_quag.scores import Loss, Part, Rate, Rule
from cuescope_quag.trials import Answers, accepted_answers
from cuescope_sdk import Audit, Cell, HasBenchmark, Outcome, Sample, Table
from cuescope_sdk.report import interval, signed
from cuescope_sdk.statistics import FEW, benjamini_hochberg

Comparison: TypeAlias = tuple[Rate, dict[str, Loss]]  # the plain rate, and losses by condition

DROP = "\N{DOWNWARDS ARROW}"
OPEN_ROWS, LONGEST = 6, 60  # open answers that are shown, and their characters
# Question types of CLAVI (section 5.1), where a data set brings no words for its own.
CLAVI_TYPES = {
    "E": "existence of an action",
    "E-NC": "existence of an action that is not there",
    "BE": "at the beginning or at the end",
    "BA": "before or after",
    "BA-NC": "before or after an action that is not there",
}


@dataclass(frozen=True)
class Figures:
    """What a report is made of; `measure` decides, `by_type` and `part` are in it."""

    options: QUAGOptions
    answers: Answers
    rule: Rule
    measure: str
    by_measure: Mapping[str, Comparison]
    by_type: Mapping[str, Comparison]
    part: Part | None = None

    @property
    def headline(self) -> Comparison:
        """The plain rate and the losses in the measure that decides."""
        return self.by_measure[self.measure]


def benchmark_of(audit: Audit) -> str | None:
    """The benchmark that the audited data set says it is."""
    data = audit.context.dataset
    return data.benchmark if isinstance(data, HasBenchmark) else None


def attach_accuracies(audit: Audit, figures: Figures) -> None:
    """Table 1 of the paper: accuracy under each condition, overall and by type of question."""
    options, answers = figures.options, figures.answers
    columns = {
        name: [rate.value, *(loss.rate for loss in losses.values())]
        for name, (rate, losses) in (*figures.by_measure.items(), *figures.by_type.items())
    }
    rows: list[dict[str, Cell]] = [
        {"condition": key, **{name: _cell(columns[name], row, options.drop) for name in columns}}
        for row, key in enumerate(answers.columns)
    ]
    benchmark = benchmark_of(audit)
    paper = paper_rows(options.beside, benchmark) if benchmark else ()
    beside = f" In brackets: {options.beside} on {benchmark} in the paper." if paper else ""
    names = ("condition", *columns)
    note = (
        f"{DROP}: {options.drop:g} points or more below the baseline. Without video, without "
        "question: the other modality alone. SC: a short-circuit, which averages attention. "
        "Merged: QUAG-attention, which averages the tokens of a modality to one."
        f"{beside}"
    )
    audit.attach(
        Table(
            title="Accuracy under each condition, %",
            columns=names,
            rows=tuple(rows),
            paper=tuple({k: v for k, v in row.items() if k in names} for row in paper),
            notes=(note, *type_notes(answers.samples, list(figures.by_type), figures.measure)),
        )
    )


def _cell(values: list[float], row: int, drop: float) -> str:
    fell = row > 0 and values[0] - values[row] >= drop
    return f"{values[row]:.1f}{DROP if fell else ''}"


def type_notes(samples: Sequence[Sample], types: Sequence[str], measure: str) -> list[str]:
    """What the columns of question types are: their words, and what is counted there."""
    if not types:
        return []
    words = CLAVI_TYPES if set(types) <= set(CLAVI_TYPES) else {}
    facts = [sample.annotations for sample in samples]
    words = words | {
        str(fact["question_type"]): str(fact["question_type_name"])
        for fact in facts
        if "question_type" in fact and "question_type_name" in fact
    }
    legend = "; ".join(f"{name}: {words[name]}" for name in types if name in words)
    plain = (
        "The columns of types have balanced accuracy too, which is plain accuracy in a type with "
        "one right answer."
    )
    return [*([f"{legend}."] if legend else []), *([plain] if measure != "accuracy" else [])]


def attach_losses(audit: Audit, figures: Figures) -> None:
    """Points lost with intervals, overall and by type; stars are corrected for the whole table."""
    options, comparisons = figures.options, {"all": figures.headline, **figures.by_type}
    columns = {name: losses for name, (_, losses) in comparisons.items()}
    cells = [(key, name) for key in columns["all"] for name in columns]
    q_values = benjamini_hochberg([columns[name][key].p_value for key, name in cells])
    words = {
        (key, name): loss_cell(columns[name][key], q is not None and q <= options.fdr)
        for (key, name), q in zip(cells, q_values, strict=True)
    }
    rows: list[dict[str, Cell]] = [
        {"condition": key, **{name: words[key, name] for name in columns}} for key in columns["all"]
    ]
    note = (
        f"In brackets: {options.confidence:.0%} intervals, paired by question, of whole videos. *: "
        f"the loss is significant (whole videos change sides, q at most {options.fdr:g} over the "
        "table) and the interval does not contain 0."
    )
    audit.attach(
        Table(
            title=f"Points of {figures.measure} lost",
            columns=("condition", *columns),
            rows=tuple(rows),
            notes=(note, *few_videos(figures.answers.videos)),
        )
    )


def loss_cell(loss: Loss, significant: bool) -> str:
    """Points lost with their interval; a star where `significant`, and 0 is outside."""
    bounds = loss.low or 0.0, loss.high or 0.0
    sure = significant and (min(bounds) > 0 or max(bounds) < 0)
    return f"{signed(loss.lost)}{interval(loss.low, loss.high)}{' *' if sure else ''}"


def few_videos(count: int) -> list[str]:
    """A warning of intervals over too few of them."""
    rough = "so few that the intervals are rough and may be too narrow"
    return [f"Videos: {count}, {rough}."] if count < FEW else []


def points(loss: Loss) -> str:
    """Points with their interval."""
    return f"{signed(loss.lost)} points{interval(loss.low, loss.high)}"


# ------------------------------------------------------------------------------- open answers


def describe_wrong_answers(answers: Answers) -> str | None:
    """What is said where all questions are open and no answer is right; else None."""
    if answers.before.any() or any(sample.choices for sample in answers.samples):
        return None
    question, accepted, given = _open_answer(answers.plain[0])
    quote = "\N{LEFT DOUBLE QUOTATION MARK}{}\N{RIGHT DOUBLE QUOTATION MARK}".format
    return (
        f"No answer equals an accepted one. To {quote(question)}, the model answered "
        f"{quote(given)}, and accepted is {quote(accepted)}. Ask for short answers, for example "
        "with -M prompt='{question} Answer in one word.' of transformers-vlm (docs/quag.md)."
    )


def attach_open_answers(audit: Audit, outcomes: Sequence[Outcome], right: Sequence[bool]) -> None:
    """A table of a few open questions, wrong and right ones, with what was answered."""
    is_open = [i for i, outcome in enumerate(outcomes) if not outcome.trial.sample.choices]
    if not is_open:
        return
    wrong, good = ([i for i in is_open if bool(right[i]) is kind] for kind in (False, True))
    half = max(OPEN_ROWS // 2, OPEN_ROWS - len(good))
    chosen = [*wrong[:half], *good][:OPEN_ROWS]
    columns = ("sample", "question", "accepted", "given", "right")
    rows: list[dict[str, Cell]] = []
    for index in sorted(chosen):
        outcome, is_right = outcomes[index], "yes" if right[index] else "no"
        cells = (outcome.trial.sample.key, *_open_answer(outcome), is_right)
        rows.append(dict(zip(columns, cells, strict=True)))
    note = (
        f"{len(chosen)} of {len(is_open)} open questions, of which {len(good)} are answered "
        "rightly. Case, punctuation and articles do not count (docs/quag.md)."
    )
    audit.attach(Table(title="What was answered", columns=columns, rows=tuple(rows), notes=(note,)))


def _open_answer(outcome: Outcome) -> tuple[str, str, str]:
    """The question, what is accepted, and what was given."""
    sample = outcome.trial.sample
    words = (sample.question or "", " | ".join(accepted_answers(sample)), outcome.response.text)
    question, accepted, given = (shorten(w or "", LONGEST, placeholder=" ...") for w in words)
    return question, accepted, given or "(nothing)"
