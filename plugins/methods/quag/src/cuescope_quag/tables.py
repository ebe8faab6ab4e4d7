"""The tables of the report."""

from collections.abc import Sequence
from functools import partial
from itertools import islice
from textwrap import shorten

from cuescope_quag.analysis import Figures
from cuescope_quag.paper import paper_rows
from cuescope_quag.scores import Loss
from cuescope_quag.trials import Answers, Samples, accepted_answers, benchmark_of
from cuescope_sdk import Audit, Outcome, Table
from cuescope_sdk.report import interval, with_sign
from cuescope_sdk.statistics import Groups, benjamini_hochberg

DROP = "\N{DOWNWARDS ARROW}"
LONGEST = 60  # characters of an answer that is shown
# Question types of CLAVI (section 5.1), where a data set brings no words for its own.
CLAVI_TYPES = {
    "E": "existence of an action",
    "E-NC": "existence of an action that is not there",
    "BE": "at the beginning or at the end",
    "BA": "before or after",
    "BA-NC": "before or after an action that is not there",
}


def attach_accuracies(audit: Audit, figures: Figures) -> None:
    """Table 1 of the paper: accuracy under each condition, overall and by type of question."""
    options = figures.options
    answers = figures.answers
    columns = {"condition": list(answers.columns)}
    for name, (rate, losses) in {**figures.by_measure, **figures.by_type}.items():
        cells = [f"{rate.value:.1f}"]
        for loss in losses.values():
            # the arrows of the paper's table 1: no test, which stars are for
            fell = rate.value - loss.rate >= options.drop
            cells.append(f"{loss.rate:.1f}{DROP if fell else ''}")
        columns[name] = cells
    benchmark = benchmark_of(audit)
    paper = paper_rows(options.beside, benchmark) if benchmark else ()
    beside = (
        f" In brackets: {options.beside} on {benchmark} in the paper." if paper else ""
    )
    note = (
        f"{DROP}: {options.drop:g} points or more below the baseline. Without video, without "
        "question: the other modality alone. SC: a short-circuit, which averages attention. "
        "Merged: QUAG-attention, which averages the tokens of a modality to one."
        f"{beside}"
    )
    audit.attach(
        Table.of(
            "Accuracy under each condition, %",
            tuple(columns),
            zip(*columns.values(), strict=True),
            note,
            *type_notes(answers.samples, list(figures.by_type), figures.measure),
            paper=paper,
        )
    )


def type_notes(
    samples: Samples,
    types: Sequence[str],
    measure: str,
) -> list[str]:
    """What the columns of question types are: their words, and what is counted there."""
    if not types:
        return []
    # with other types beside, "E" may mean something else
    words = dict(CLAVI_TYPES) if set(types) <= set(CLAVI_TYPES) else {}
    for sample in samples:
        facts = sample.annotations
        if "question_type" in facts and "question_type_name" in facts:
            words[str(facts["question_type"])] = str(facts["question_type_name"])
    notes = []
    legend = "; ".join(f"{name}: {words[name]}" for name in types if name in words)
    if legend:
        notes.append(f"{legend}.")
    if measure != "accuracy":
        notes.append(
            "The columns of types have balanced accuracy too, which is plain accuracy in a type "
            "with one right answer."
        )
    return notes


def attach_losses(audit: Audit, figures: Figures) -> None:
    """Points lost with intervals, overall and by type; stars are corrected for the whole table."""
    options = figures.options
    comparisons = {"all": figures.headline, **figures.by_type}
    losses = []
    for key in figures.answers.keys:
        losses += [of_column[key] for _, of_column in comparisons.values()]
    q_values = benjamini_hochberg([loss.p_value for loss in losses])
    significant = [q_value <= options.fdr for q_value in q_values]
    cells = map(loss_cell, losses, significant)
    # one iterator: each row takes the next cells, in the order of `losses`
    rows = [(key, *islice(cells, len(comparisons))) for key in figures.answers.keys]
    note = (
        f"In brackets: {figures.rule.confidence:.0%} intervals, paired by question, of whole "
        "videos. *: the loss is significant (a permutation test of whole videos, q at most "
        f"{options.fdr:g} over the table) and the interval does not contain 0."
    )
    audit.attach(
        Table.of(
            f"Points of {figures.measure} lost",
            ("condition", *comparisons),
            rows,
            note,
            *few_videos(figures.answers.groups),
        )
    )


def loss_cell(loss: Loss, significant: bool) -> str:
    """Points lost with their interval; a star where `significant`, and 0 is outside."""
    low = loss.low or 0.0
    high = loss.high or 0.0
    # both ends are on one side of 0
    star = " *" if significant and low * high > 0 else ""
    return f"{with_sign(loss.lost)}{interval(loss.low, loss.high)}{star}"


def few_videos(videos: Groups) -> list[str]:
    """A warning of intervals over too few of them."""
    if not videos.few:
        return []
    return [
        f"Videos: {videos.count}, so few that the intervals are rough and may be too narrow."
    ]


def describe_wrong_answers(answers: Answers) -> str:
    """What is said where all questions are open and no answer is right."""
    # an example tells why: whole sentences, for one, are never right
    question, accepted, given = _open_answer(answers.plain[0])
    quote = "\N{LEFT DOUBLE QUOTATION MARK}{}\N{RIGHT DOUBLE QUOTATION MARK}".format
    return (
        f"No answer equals an accepted one. To {quote(question)}, the model answered "
        f"{quote(given)}, and accepted is {quote(accepted)}. Ask for short answers, for example "
        "with -O model.prompt='{question} Answer in one word.' of transformers-vlm (docs/quag.md)."
    )


def _open_answer(outcome: Outcome) -> tuple[str, str, str]:
    """The question, what is accepted, and what was given."""
    sample = outcome.trial.sample
    accepted = " | ".join(accepted_answers(sample))
    given = outcome.response.text or ""
    cut = partial(shorten, width=LONGEST, placeholder=" ...")
    return cut(sample.question or ""), cut(accepted), cut(given) or "(nothing)"
