"""What findings look like: images with the cue beside images without it, and the gap by K."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import chain, islice

import numpy as np

from cuescope_sdk import Audit, Contrast, Outcome, Picture, Trial
from cuescope_sdk.report import contrast, count_of, line_chart, percent
from cuescope_spurlens.analysis import CaseResult, Results, accuracy
from cuescope_spurlens.answers import read_answer
from cuescope_spurlens.questions import WITH, WITHOUT, with_article
from cuescope_spurlens.scores import gap_by_k
from cuescope_spurlens.spuriosity.cases import Case, occurrences
from cuescope_spurlens.spuriosity.shapes import PerK

STEPS = 10  # of K, in a curve
CURVES = 8  # of findings, in a picture
CLASSES = 5  # with fewer there is no distribution to look at
TASK_SUFFIXES = {
    "hallucination": " (imagined)",
    "drop": " (dropped)",
    "mask": " (blackened)",
}


# ------------------------------------------------------------------------- images of a finding


def attach_samples(audit: Audit, results: Results) -> None:
    """How often the model is right, then the samples of each finding."""
    right = accuracy(results)
    if right is not None:
        audit.attach(right)
        words = "guessing says yes as often as the model does; one wording a class and image counts"
        audit.note("right answers", words)
    elif results.cases:
        audit.note(
            "right answers",
            "whether the model does better than guessing is not known: it was asked only about "
            "images that all have the same right answer (-O task=both asks about others too)",
        )
    for result in results.findings:
        shown = sample_contrast(audit, results, result)
        if shown is not None:
            audit.attach(shown)


def sample_contrast(
    audit: Audit,
    results: Results,
    result: CaseResult,
) -> Contrast | None:
    """Of a finding, the images that its figures are of."""
    case = result.case
    words = {}
    sides = []
    for rows in result.shown_rows:
        questions = results.study.questions(case, rows)
        outcomes = iter(audit.respond(chain.from_iterable(questions)))
        first_answers = []
        for row, of_row in zip(rows, questions, strict=True):
            answers = list(islice(outcomes, len(of_row)))
            key = case.samples[row].key
            words[key] = _words(case, answers)
            # the first wording is shown, and the words beside it count the others
            first_answers.append(_mark(answers[0], key, case))
        sides.append(first_answers)
    where = occurrences(case, result.strongest, result.shown_rows[0])
    return contrast(
        case.feature_key(result.cue),
        dict(zip(side_titles(result), sides, strict=True)),
        where={occurrence.sample: occurrence for occurrence in where},
        words=lambda outcome: words[outcome.trial.sample.key],
        correct=is_right,
        # the titles have the figures, which are of groups and several wordings
        counted=False,
    )


def name_headline_answers(audit: Audit, results: Results) -> None:
    """Ask again, from memory, for the answers that the strongest cue of each class rests on.

    So `answers.parquet` has them under the cue's feature and the conditions of WITH and WITHOUT:
    the mean rate of the one minus that of the other is the gap of the report.
    """
    trials: list[Trial] = []
    for result in results.cases:
        feature = result.case.feature_key(result.cue)
        for condition, rows in zip((WITH, WITHOUT), result.shown_rows, strict=True):
            questions = chain.from_iterable(results.study.questions(result.case, rows))
            name = partial(replace, feature=feature, condition=condition)
            trials += map(name, questions)
    audit.respond(trials)


def side_titles(result: CaseResult) -> tuple[str, str]:
    """What the images of each side show, and in how many the model says yes."""
    case = result.case
    figures = result.figures(result.strongest)
    a_label = with_article(case.label)
    a_cue = with_article(result.cue)
    images = {
        "recognition": f"with {a_label}",
        "hallucination": f"without {a_label}",
        "drop": f"whose {case.label} is hidden from the model",
        "mask": f"whose {case.label} is blackened",
    }[case.task]
    verb = "sees" if case.task == "recognition" else "imagines"
    count = f"{figures.k:,}" if case.units.all_single else count_of(figures.k, "groups")

    def title(end: str, name: str, rate: float) -> str:
        share = f"{percent(rate)} of {count}"
        return f"Images {images}, {end} {name}: the model {verb} {a_label} in {share}"

    return (
        title("that show", f"{a_cue} (outlined)", float(figures.with_rates.mean())),
        title("that hardly show", a_cue, float(figures.without_rates.mean())),
    )


def is_right(outcome: Outcome) -> bool:
    """Whether it says yes where that is right, and else not: as the shares of yes count."""
    says_yes = read_answer(outcome).yes is True
    return says_yes == (outcome.trial.sample.label == "yes")


def _mark(outcome: Outcome, key: str, case: Case) -> Outcome:
    """With the image's own key and the right answer, which the model was not shown."""
    label = "yes" if case.task == "recognition" else "no"
    sample = replace(outcome.trial.sample, key=key, label=label)
    return replace(outcome, trial=replace(outcome.trial, sample=sample))


def _words(case: Case, answers: Sequence[Outcome]) -> str:
    """The question, and how often the model says yes where it has several wordings."""
    words = f"asked: {answers[0].trial.sample.question}"
    if case.is_changed:
        shown = {"drop": "hidden from the model", "mask": "blackened"}[case.task]
        words = f"the {case.label} was {shown}; {words}"
    if len(answers) == 1:
        return words
    yes = sum(read_answer(answer).yes is True for answer in answers)
    return f"{words} (yes to {yes} of {len(answers)} wordings)"


# ------------------------------------------------------------------------------------- the gap by K


def gap_curve(result: CaseResult) -> PerK:
    """The gap of the strongest cue at every K from 1 to k."""
    top, bottom = result.case.asked_sides
    cue = result.strongest
    return gap_by_k(result.unit_rates, top[cue], bottom[cue])


def steps_of(k: int) -> np.ndarray:
    """Some K up to k."""
    # a small k has fewer steps, and each is drawn once
    return np.unique(np.linspace(k / STEPS, k, STEPS).astype(int).clip(1))


def attach_curves(audit: Audit, results: Results) -> None:
    """The gap by K (appendix I), and the shares of yes over the classes."""
    audit.attach(gap_curves(results))
    for picture in distributions(results):
        audit.attach(picture)


def gap_curves(results: Results) -> Picture:
    """Of each task the mean over the classes (figure 12), then some findings, with fewer images."""
    lines = {}
    for task, cases in results.by_task.items():
        # beyond it the mean would be of other classes
        most = min(result.case.k for result in cases)
        mean = np.mean([gap_curve(result)[:most] for result in cases], axis=0)
        k = steps_of(most)
        lines[f"mean of the classes{TASK_SUFFIXES.get(task, '')}"] = (
            k.astype(float),
            mean[k - 1],
        )
    for result in results.findings[:CURVES]:
        case = result.case
        k = steps_of(case.k)
        name = f"{case.label} / {result.cue}{TASK_SUFFIXES.get(case.task, '')}"
        # a curve begins at K = 1
        lines[name] = (k.astype(float), gap_curve(result)[k - 1])
    title = "The gap by K"
    return Picture(
        title=title,
        caption="The gap of each class's strongest cue, in the mean, and of each finding, with "
        "fewer of the images that show the cue most and least. With few images it swings by "
        "chance.",
        image=line_chart(
            lines, title, "K, images with the cue, and as many without", "gap"
        ),
    )


def distributions(results: Results) -> Iterator[Picture]:
    """Of each task with enough classes: how often the model says yes, over the classes (figure 4).

    With the strongest cue of each class and without; HR where the object is absent (figure 14).
    """
    for task, cases in results.by_task.items():
        if len(cases) < CLASSES:
            continue
        with_cue = np.sort([result.with_cue[result.strongest] for result in cases])
        without = np.sort([result.without[result.strongest] for result in cases])
        classes = np.arange(1, len(cases) + 1) / len(cases)
        lines = {"with the cue": (with_cue, classes), "without it": (without, classes)}
        title = f"Over the classes{TASK_SUFFIXES.get(task, '')}"
        yield Picture(
            title=title,
            caption="The share of the classes whose share of yes is at most so large, with each "
            "class's strongest cue in view and without it. Where the lines are apart the cue moves "
            "many classes; a long left end are classes that are missed.",
            image=line_chart(
                lines, title, "share of yes in a class", "share of the classes"
            ),
        )
