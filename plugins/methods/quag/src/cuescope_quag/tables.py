"""The tables of the report."""

from functools import partial
from textwrap import shorten

from cuescope_quag.analysis import Figures
from cuescope_quag.paper import paper_rows
from cuescope_quag.trials import Answers, accepted_answers, benchmark_of
from cuescope_sdk import Audit, Outcome, Table
from cuescope_sdk.statistics import Groups

DROP = "\N{DOWNWARDS ARROW}"
LONGEST = 60  # characters of an answer that is shown


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
        "Merged: QUAG-attention, which averages the tokens of a modality to one. Columns of types: "
        f"{figures.measure}.{beside}"
    )
    audit.attach(
        Table.of(
            "Accuracy under each condition, %",
            tuple(columns),
            zip(*columns.values(), strict=True),
            note,
            *few_videos(answers.groups),
            paper=paper,
        )
    )


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
