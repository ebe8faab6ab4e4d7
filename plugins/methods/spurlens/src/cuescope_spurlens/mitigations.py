"""Ways of asking that may help against spurious cues (section 6.2), compared as in table 4.

A strategy of your own is one more entry of `STRATEGIES`, and a name of `options.Mitigation`.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain

import numpy as np
from jaxtyping import Float

from cuescope_sdk import Audit, Cell, Sample, Table, Trial
from cuescope_sdk.language import Question
from cuescope_sdk.report import interval, signed
from cuescope_sdk.statistics import Groups, change_interval
from cuescope_spurlens.analysis import CaseResult, Results
from cuescope_spurlens.answers import ask_more, yes_rates
from cuescope_spurlens.options import Mitigation, SpurLensOptions
from cuescope_spurlens.paper import MITIGATION_ROWS, mitigation_rows
from cuescope_spurlens.questions import (
    frames_key,
    question_trial,
    questions_about,
    with_article,
)
from cuescope_spurlens.trials import benchmark_of, blank_image

DESCRIBE = Question.for_description()


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
    return Question(question).with_warning(cues, with_article(hints.label))


STRATEGIES: dict[Mitigation, Strategy] = {
    "ensemble": Strategy(votes=True),
    "dual": Strategy(
        lambda q, hints: Question(q).after_description(hints.description),
        describes=True,
    ),
    "guiding": Strategy(
        lambda q, hints: Question(q).with_guidance(with_article(hints.label))
    ),
    "spurious-list": Strategy(
        lambda question, hints: _warn(question, hints, hints.cues)
    ),
    "spurious-top": Strategy(
        lambda question, hints: _warn(question, hints, [hints.strongest])
    ),
}


@dataclass(frozen=True, eq=False)
class ClassRates:
    """The share of yes of each image of a class, in percent."""

    percent: Float[np.ndarray, " image"]
    samples: Sequence[Sample]


Answered = Mapping[str, Sequence[ClassRates]]  # metric -> classes


def attach_mitigations(audit: Audit, results: Results) -> None:
    """A table of the strategies, over the images of each class's strongest cue."""
    options: SpurLensOptions = audit.options
    strategies: dict[str, Strategy] = {"baseline": Strategy()}
    unasked = []
    for name in options.mitigation:
        # a description comes first, and only text can be one
        if STRATEGIES[name].describes and "text" not in audit.capabilities.outputs:
            unasked.append(name)
        else:
            strategies[name] = STRATEGIES[name]
    if unasked:
        audit.note(
            "mitigation", f"without {', '.join(unasked)}: the model writes no text"
        )
    answered = {}
    for way, strategy in strategies.items():
        answered[way] = _answer(audit, results, strategy)
    # in the order of table 4, whichever task came first
    metrics = [metric for metric in MITIGATION_ROWS if metric in answered["baseline"]]
    paper = mitigation_rows(benchmark_of(audit), options.beside, strategies)
    classes = len({result.case.label for result in results.cases})
    audit.attach(_rate_table(answered, metrics, paper, classes, options.beside))
    audit.attach(_change_table(answered, metrics))


def _rate_table(
    answered: Mapping[str, Answered],
    metrics: Sequence[str],
    paper: Sequence[dict[str, Cell]],
    classes: int,
    beside: str,
) -> Table:
    """What the model says when it is asked in each way."""
    columns = ("metric", *answered)
    rows: list[list[Cell]] = []
    for metric in metrics:
        rows.append([metric])
        for rates in answered.values():
            # a class counts once, however many images it has
            means = [of_class.percent.mean() for of_class in rates[metric]]
            rows[-1].append(float(np.mean(means)))
    notes = [
        "Percent of yes, mean over the classes, in the images that show the strongest cue most and "
        "least. The cue was chosen for its gap in these very images, so another way of asking has "
        "a smaller one by chance alone; spurious-top knows it, too."
    ]
    if classes < Groups.FEW:
        notes.append(f"{classes} classes are few: no difference here is a finding.")
    if paper:
        # Whatever the audited data set: table 4 has these two data sets alone.
        paper_data = "on HardImageNet (PA) and Spurious ImageNet (HR)"
        notes.append(f"In brackets: the paper's figures for {beside}, {paper_data}.")
    return Table.of("Other ways of asking", columns, rows, *notes, paper=paper)


def _change_table(
    answered: Mapping[str, Answered],
    metrics: Sequence[str],
) -> Table:
    """What each way changes of each figure, in points, with the interval of the paired change."""
    plain, *ways = answered.values()
    rows = []
    for metric in metrics:
        words = [_change_words(plain[metric], way[metric]) for way in ways]
        rows.append((metric, *words))
    _, *names = answered
    return Table.of(
        "What other ways of asking change",
        ("metric", *names),
        rows,
        "Points of yes, against the same images asked plainly, mean over the classes. In "
        "brackets: 95% intervals of these paired changes, of whole groups of "
        "images, for these classes and cues. They say nothing of other classes.",
    )


def _change_words(
    plain: Sequence[ClassRates],
    other: Sequence[ClassRates],
) -> str:
    """The change of the mean over classes, in points, with its interval."""
    samples = list(chain.from_iterable(rates.samples for rates in plain))
    changes = []
    bound = 0.0
    for before, after in zip(plain, other, strict=True):
        # So that the mean over all images is that over the classes.
        weight = len(samples) / len(plain) / len(before.samples)
        changes.append(weight * (after.percent - before.percent))
        # weighted changes reach so far, which the interval has to know
        bound = max(bound, 100 * weight)
    change = np.concatenate(changes)
    groups = Groups.of(samples)
    low, high = change_interval(change, groups, bound=bound)
    few = " few" * groups.few
    return f"{signed(change.mean())}{interval(low, high, signed)}{few}"


def _answer(audit: Audit, results: Results, strategy: Strategy) -> Answered:
    """The answers to the images of each class, by metric."""
    images = []
    # Table 4 of the paper asks about images as they are.
    for result in results.plain_cases:
        for metric, samples in _images_by_metric(result).items():
            images.append((result, metric, samples))
    descriptions = {}
    if strategy.describes:
        flat = chain.from_iterable(samples for *_, samples in images)
        descriptions = describe_images(audit, flat)
    questions = []
    study = results.study
    for result, _, samples in images:
        label = result.case.label
        plain = questions_about(study.templates, label)
        rows = []
        for sample in samples:
            description = descriptions.get(frames_key(sample), "")
            # "spurious list" has all names of the class, ranked or not (section 6.2)
            hints = Hints(label, study.cues[label], result.cue, description)
            asked = [strategy.put(question, hints) for question in plain]
            rows.append(
                [
                    question_trial(sample, words, study.output, condition="mitigation")
                    for words in asked
                ]
            )
        questions.append(rows)
    trials = chain.from_iterable(chain.from_iterable(questions))
    # what the baseline asks, the audit has asked: it costs nothing
    answers = ask_more(audit, trials, results.answers)
    rates: dict[str, list[ClassRates]] = {}
    for (_, metric, samples), rows in zip(images, questions, strict=True):
        shares = yes_rates(rows, answers)
        if strategy.votes:
            # A vote makes one answer of several, so only the images count, not how sure each is.
            shares = (shares > 0.5).astype(float)
        rates.setdefault(metric, []).append(ClassRates(100 * shares, samples))
    return rates


def describe_images(audit: Audit, samples: Iterable[Sample]) -> dict[str, str]:
    """What the model says of each image, by `frames_key`; an image is asked about once."""
    # by the frames: an image that is in the top of one class may be in the bottom of another
    by_frames = {frames_key(sample): sample for sample in samples}
    trials = []
    for sample in by_frames.values():
        asked = Sample(
            # not the key of the yes/no questions about this image
            key=f"{sample.key}/described",
            frames=sample.frames,
            question=DESCRIBE,
            group=sample.group,
        )
        trials.append(
            Trial(sample=asked, condition="description", outputs=frozenset({"text"}))
        )
    texts = (outcome.response.text or "" for outcome in audit.respond(trials))
    return dict(zip(by_frames, texts, strict=True))


def _images_by_metric(result: CaseResult) -> dict[str, list[Sample]]:
    """The images that show the strongest cue most, those that show it least, and a black one."""
    top, bottom = result.case.sides_of(result.strongest)
    kind = "PA" if result.case.task == "recognition" else "HR"
    # The table has no row "PA blank": nothing can be recognised in a black image, only imagined.
    return {
        f"{kind} with the cue": top,
        f"{kind} without": bottom,
        f"{kind} blank": [blank_image(result.case.samples[0])],
    }
