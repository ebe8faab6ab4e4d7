"""Ways of asking that may help against spurious cues (section 6.2), compared as in table 4.

A strategy of your own is one more entry of `STRATEGIES`, and a name of `options.Mitigation`.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
from jaxtyping import Float

from cuescope_sdk import Audit, Cell, Sample, Table, Trial
from cuescope_sdk.language import add_description, add_guidance, add_warning, shorten_description
from cuescope_sdk.statistics import FEW, Groups, change_interval
from cuescope_spurlens.answers import Answers, ask_more
from cuescope_spurlens.checks.descriptions import describe_images
from cuescope_spurlens.options import Mitigation, SpurLensOptions
from cuescope_spurlens.paper import MITIGATION_ROWS, mitigation_rows
from cuescope_spurlens.questions import (
    frames_key,
    question_trial,
    questions_about,
    trial_key,
    with_article,
)
from cuescope_spurlens.scores import CaseResult, Results
from cuescope_spurlens.trials import Study, benchmark_of, blank_image


@dataclass(frozen=True)
class Hints:
    """What a strategy may tell the model: the class, its cues, and its description of the image."""

    label: str
    cues: Sequence[str]
    strongest: str
    description: str = ""


@dataclass(frozen=True)
class Strategy:
    """How a question is put; `votes`: the majority decides, `describes`: a description first."""

    put: Callable[[str, Hints], str] = lambda question, hints: question
    votes: bool = False
    describes: bool = False


def _warn(question: str, hints: Hints, cues: Sequence[str]) -> str:
    return add_warning(question, cues, with_article(hints.label))


STRATEGIES: dict[Mitigation, Strategy] = {
    "ensemble": Strategy(votes=True),
    "dual": Strategy(lambda q, hints: add_description(q, hints.description), describes=True),
    "guiding": Strategy(lambda q, hints: add_guidance(q, with_article(hints.label))),
    "spurious-list": Strategy(lambda question, hints: _warn(question, hints, hints.cues)),
    "spurious-top": Strategy(lambda question, hints: _warn(question, hints, [hints.strongest])),
}


def attach_mitigations(audit: Audit, results: Results) -> None:
    """A table of the strategies, over the images of each class's strongest cue."""
    options: SpurLensOptions = audit.options
    strategies: dict[str, Strategy] = {name: STRATEGIES[name] for name in options.mitigation}
    strategies = {"baseline": Strategy(), **strategies}
    describing = [name for name, strategy in strategies.items() if strategy.describes]
    if describing and "text" not in audit.capabilities.outputs:
        audit.note("mitigation", f"without {', '.join(describing)}: the model writes no text")
        strategies = {name: s for name, s in strategies.items() if not s.describes}
    answered = {name: _answered(audit, results, strategy) for name, strategy in strategies.items()}
    rates = {
        name: {metric: _mean(classes) for metric, classes in of_strategy.items()}
        for name, of_strategy in answered.items()
    }
    rows: list[dict[str, Cell]] = [
        {"metric": metric, **{name: of_strategy.get(metric) for name, of_strategy in rates.items()}}
        for metric in MITIGATION_ROWS
        if any(metric in of_strategy for of_strategy in rates.values())
    ]
    columns = ("metric", *rates)
    paper = tuple(
        {name: cell for name, cell in row.items() if name in columns}
        for row in mitigation_rows(benchmark_of(audit), options.beside)
    )
    classes = len({result.case.label for result in results.cases})
    notes: tuple[str, ...] = (
        "Percent of yes, mean over the classes, in the images that show the strongest cue most and "
        "least. The cue was chosen for its gap in these very images, so another way of asking has "
        "a smaller one by chance alone; spurious-top knows it, too.",
        *(
            [f"{classes} classes are few: no difference here is a finding."]
            if classes < FEW
            else []
        ),
    )
    if paper:
        # Whatever the audited data set: table 4 has these two data sets alone.
        paper_data = "on HardImageNet (PA) and Spurious ImageNet (HR)"
        notes += (f"In brackets: the paper's figures for {options.beside}, {paper_data}.",)
    title = "Other ways of asking"
    audit.attach(Table(title=title, columns=columns, rows=tuple(rows), paper=paper, notes=notes))
    audit.attach(_change_table(answered, options.confidence))


def _change_table(answered: Mapping[str, "Answered"], confidence: float) -> Table:
    """What each way changes of each figure, in points, with the interval of the paired change."""
    plain = answered["baseline"]
    others = {name: ways for name, ways in answered.items() if name != "baseline"}
    rows: list[dict[str, Cell]] = [
        {
            "metric": metric,
            **{
                name: _change_words(plain[metric], ways[metric], confidence)
                for name, ways in others.items()
            },
        }
        for metric in MITIGATION_ROWS
        if metric in plain
    ]
    return Table(
        title="What other ways of asking change",
        columns=("metric", *others),
        rows=tuple(rows),
        notes=(
            "Points of yes, against the same images asked plainly, mean over the classes. In "
            f"brackets: {confidence:.0%} intervals of these paired changes, of whole groups of "
            "images, for these classes and cues. They say nothing of other classes.",
        ),
    )


@dataclass(frozen=True, eq=False)
class ClassRates:
    """The share of yes of each image of a class, in percent."""

    percent: Float[np.ndarray, " image"]
    samples: Sequence[Sample]


Answered = Mapping[str, Sequence[ClassRates]]


def _mean(classes: Sequence[ClassRates]) -> float:
    """Over the classes, of each over its images."""
    return float(np.mean([rates.percent.mean() for rates in classes]))


def _change_words(
    plain: Sequence[ClassRates], other: Sequence[ClassRates], confidence: float
) -> str:
    """The change of the mean over classes, in points, with its interval."""
    images = sum(len(rates.samples) for rates in plain)
    # so that the mean over all images is that over the classes
    weights = [images / len(plain) / len(rates.samples) for rates in plain]
    change = np.concatenate(
        [
            weight * (after.percent - before.percent)
            for weight, before, after in zip(weights, plain, other, strict=True)
        ]
    )
    groups = Groups.of([sample for rates in plain for sample in rates.samples])
    low, high = change_interval(change, groups, bound=100 * max(weights), confidence=confidence)
    few = " few" * groups.few
    return f"{change.mean():+.1f} [{low:+.1f}, {high:+.1f}]{few}"


def _answered(audit: Audit, results: Results, strategy: Strategy) -> Answered:
    """The answers to the images of each class, by metric."""
    # Table 4 of the paper asks about images as they are.
    cases = [result for result in results.cases if not result.case.is_changed]
    images = [
        (result, metric, samples)
        for result in cases
        for metric, samples in _images_by_metric(result).items()
    ]
    flat = [sample for *_, samples in images for sample in samples]
    descriptions = _describe(audit, flat) if strategy.describes else dict[str, str]()
    questions = []
    for result, metric, samples in images:
        ask = partial(_questions, strategy, results.study, result)
        rows = [ask(sample, descriptions.get(frames_key(sample), "")) for sample in samples]
        questions.append((metric, rows, samples))
    trials = (trial for _, rows, _ in questions for row in rows for trial in row)
    answers = ask_more(audit, trials, results.answers)
    rates: dict[str, list[ClassRates]] = {}
    for metric, rows, samples in questions:
        percent = [100 * _yes_rate(row, answers, strategy.votes) for row in rows]
        rates.setdefault(metric, []).append(ClassRates(np.array(percent), samples))
    return rates


def _images_by_metric(result: CaseResult) -> dict[str, list[Sample]]:
    """The images that show the strongest cue most, those that show it least, and a black one."""
    case, cue = result.case, result.strongest
    kind = "PA" if case.task == "recognition" else "HR"
    # The table has no row "PA blank": nothing can be recognised in a black image, only imagined.
    return {
        f"{kind} with the cue": [case.samples[row] for row in case.rows(case.top[cue])],
        f"{kind} without": [case.samples[row] for row in case.rows(case.bottom[cue])],
        f"{kind} blank": [blank_image(case.samples[0])],
    }


def _questions(
    strategy: Strategy, study: Study, result: CaseResult, sample: Sample, description: str
) -> list[Trial]:
    label = result.case.label
    hints = Hints(label, study.cues[label], result.cue, description)
    return [
        question_trial(sample, strategy.put(question, hints), study.output, condition="mitigation")
        for question in questions_about(study.templates, label)
    ]


def _yes_rate(row: Sequence[Trial], answers: Answers, votes: bool) -> float:
    rate = float(np.mean([answers[trial_key(trial)].yes is True for trial in row]))
    # A vote makes one answer of several, so only the images count, not how sure each is.
    return float(rate > 0.5) if votes else rate


def _describe(audit: Audit, samples: Sequence[Sample]) -> dict[str, str]:
    """What the model says of each image, in one line, by `frames_key`."""
    texts = describe_images(audit, samples)
    return {key: shorten_description(text) for key, text in texts.items()}
