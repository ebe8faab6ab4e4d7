"""What findings look like: images with the cue beside images without it, and the gap by K."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial

import numpy as np

from cuescope_sdk import Accuracy, Audit, Contrast, Outcome, Picture, Table
from cuescope_sdk.report import Line, contrast, line_chart, percent
from cuescope_spurlens.answers import read_answer
from cuescope_spurlens.questions import WITH, WITHOUT, trial_key, with_article
from cuescope_spurlens.scores import CaseResult, Results, gap_by_k
from cuescope_spurlens.spuriosity.cases import Case, occurrences
from cuescope_spurlens.trials import Study

STEPS, CURVES = 10, 8
CLASSES = 5  # with fewer there is no distribution to look at
TASK_SUFFIXES = {"hallucination": " (imagined)", "drop": " (dropped)", "mask": " (blackened)"}


# ------------------------------------------------------------------------- images of a finding


def attach_samples(audit: Audit, results: Results) -> None:
    """How often the model is right, then the samples of each finding."""
    if (known := accuracy(results)) is not None:
        audit.attach(known)
        words = "guessing says yes as often as the model does; one wording a class and image counts"
        audit.note("right answers", words)
    elif results.cases:
        audit.note(
            "right answers",
            "whether the model does better than guessing is not known: it was asked only about "
            "images that all have the same right answer (-O task=both asks about others too)",
        )
    for shown in contrasts(audit, results):
        audit.attach(shown)


def contrasts(audit: Audit, results: Results) -> Iterator[Contrast]:
    """One for each finding, of the images that its figures are of."""
    for result in results.findings:
        case, cue = result.case, result.strongest
        titles, sides, words = side_titles(audit, result), [], dict[str, str]()
        for rows in side_rows(audit, result):
            answers = list(_answers(audit, results.study, case, rows))
            sides.append([to_image[0] for to_image in answers])
            words |= {to[0].trial.sample.key: _words(case, to) for to in answers}
        shown = contrast(
            case.feature_key(result.cue),
            dict(zip(titles, sides, strict=True)),
            where={
                seen.sample: seen for seen in occurrences(case, cue, side_rows(audit, result)[0])
            },
            words=partial(_look_up, words),
            correct=is_right,
            counted=False,
        )
        if shown is not None:
            yield shown


def name_headline_answers(audit: Audit, results: Results) -> None:
    """Ask again, from memory, for the answers that the strongest cue of each class rests on.

    So `answers.parquet` has them under the cue's feature and the conditions of WITH and WITHOUT:
    the mean rate of the one minus that of the other is the gap of the report.
    """
    trials = []
    for result in results.cases:
        feature = result.case.feature_key(result.cue)
        for condition, rows in zip((WITH, WITHOUT), side_rows(audit, result), strict=True):
            for questions in results.study.questions(result.case, rows):
                trials += [replace(t, feature=feature, condition=condition) for t in questions]
    audit.respond(trials)


def side_rows(audit: Audit, result: CaseResult) -> tuple[list[int], list[int]]:
    """The images with the cue and without that the figures of a finding are of."""
    case, cue = result.case, result.strongest
    sides = case.top[cue], case.bottom[cue]
    if result.apart is not None:
        sides = case.sides_apart(cue, audit.rng("ties apart", case.task, case.label))
    return case.rows(sides[0]), case.rows(sides[1])


def side_titles(audit: Audit, result: CaseResult) -> tuple[str, str]:
    """What the images of each side show, and in how many the model says yes."""
    case, cue, apart = result.case, result.strongest, result.apart
    label, a_label, a_cue = case.label, with_article(case.label), with_article(result.cue)
    images = {
        "recognition": f"with {a_label}",
        "hallucination": f"without {a_label}",
        "drop": f"whose {label} is hidden from the model",
        "mask": f"whose {label} is blackened",
    }[case.task]
    scores = [case.detections.scores[rows, cue] for rows in side_rows(audit, result)]
    by_presence = (scores[0] > 0).all() and not scores[1].any()
    ends = ("with", "without") if by_presence else ("that show", "that hardly show")
    names = f"{a_cue} (outlined)", a_cue
    rates = float(result.with_cue[cue]), float(result.without[cue])
    if apart is not None:
        rates = float(apart.with_rates.mean()), float(apart.without_rates.mean())
    verb = "sees" if case.task == "recognition" else "imagines"
    count = f"{case.k if apart is None else apart.k:,}" + " groups" * (not case.units.all_single)
    with_cue, without = (
        f"Images {images}, {end} {name}: the model {verb} {a_label} in {percent(rate)} of {count}"
        for end, name, rate in zip(ends, names, rates, strict=True)
    )
    return with_cue, without


def is_right(outcome: Outcome) -> bool:
    """Whether it says yes where that is right, and else not: as the shares of yes count."""
    return (read_answer(outcome).yes is True) == (outcome.trial.sample.label == "yes")


def _answers(
    audit: Audit, study: Study, case: Case, rows: Sequence[int]
) -> Iterator[list[Outcome]]:
    """Of each image the answers to its questions, with the right one; asked before."""
    label, questions = "yes" if case.task == "recognition" else "no", study.questions(case, rows)
    answered = iter(audit.respond(trial for of_image in questions for trial in of_image))
    for row, of_image in zip(rows, questions, strict=True):
        outcomes = [next(answered) for _ in of_image]
        yield [_marked(outcome, case.samples[row].key, label) for outcome in outcomes]


def _marked(outcome: Outcome, key: str, label: str) -> Outcome:
    """With the image's own key and the right answer, which the model was not shown."""
    sample = replace(outcome.trial.sample, key=key, label=label)
    return replace(outcome, trial=replace(outcome.trial, sample=sample))


def _look_up(words: Mapping[str, str], outcome: Outcome) -> str:
    return words[outcome.trial.sample.key]


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


def accuracy(results: Results) -> Accuracy | None:
    """How often the first wording is answered rightly; None where one answer is always right.

    Guessing says yes as often as the model does: of a model that says yes to all, or no, nothing
    is left above that (the expected agreement of Cohen, 1960).
    """
    yes = {True: [0, 0], False: [0, 0]}  # whether the class is there -> answers, yes among them
    for result in results.cases:
        if not result.case.is_changed:
            of_task = yes[result.case.task == "recognition"]
            for first, *_ in results.study.questions(result.case):
                of_task[0] += 1
                of_task[1] += results.answers[trial_key(first)].yes is True
    (there, seen), (absent, imagined) = yes[True], yes[False]
    if not (there and absent):
        return None
    answered, said = there + absent, seen + imagined
    chance = (said * there + (answered - said) * absent) / answered**2
    return Accuracy(correct=seen + absent - imagined, answered=answered, chance=chance)


# ------------------------------------------------------------------------------------- the gap by K


def gap_curve(result: CaseResult, cue: int) -> np.ndarray:
    """The gap of a cue at every K from 1 to k."""
    case = result.case
    top, bottom = case.asked_index(case.top[cue]), case.asked_index(case.bottom[cue])
    return gap_by_k(result.unit_rates, top, bottom)


def curves_shown(results: Results, wanted: Sequence[str]) -> list[tuple[CaseResult, int]]:
    """The cues that were asked for and rank images, then the strongest of some findings."""
    known: dict[str, list[tuple[CaseResult, int]]] = {}
    for result in results.cases:
        for index, cue in enumerate(result.case.cues):
            for name in (cue, f"{result.case.label}/{cue}"):
                known.setdefault(name, []).append((result, index))
    shown = [pair for name in wanted for pair in known.get(name, ())]
    shown += [(result, result.strongest) for result in results.findings[:CURVES]]
    return list({(id(result), cue): (result, cue) for result, cue in shown}.values())


def steps_of(k: int) -> np.ndarray:
    """Some K up to k."""
    return np.unique(np.linspace(k / STEPS, k, STEPS).astype(int).clip(1))


def attach_curves(audit: Audit, results: Results) -> None:
    """The gap by K (appendix I): a figure of single cues, and the mean over the classes."""
    wanted: tuple[str, ...] = audit.options.curves
    if shown := curves_shown(results, wanted):
        audit.attach(gap_curves(shown))
    if wanted:
        audit.attach(mean_curves(results))
    for picture in distributions(results):
        audit.attach(picture)


def gap_curves(shown: Sequence[tuple[CaseResult, int]]) -> Picture:
    """The gap of some cues with fewer images."""
    lines = []
    for result, cue in shown:
        k = steps_of(result.case.k)
        case = result.case
        name = f"{case.label} / {case.cues[cue]}{TASK_SUFFIXES.get(case.task, '')}"
        lines.append(Line(name, k.astype(float), gap_curve(result, cue)[k - 1]))
    title = "The gap by K"
    return Picture(
        title=title,
        caption="The gap of each finding with fewer of the images that show the cue most and "
        "least, the first K being those that show it most and least of all. With few images it "
        "swings by chance.",
        image=line_chart(lines, title, "K, images with the cue, and as many without", "gap"),
    )


def distributions(results: Results) -> Iterator[Picture]:
    """Of each task with enough classes: how often the model says yes, over the classes (figure 4).

    With the strongest cue of each class and without; HR where the object is absent (figure 14).
    """
    for task in dict.fromkeys(result.case.task for result in results.cases):
        of_task = [result for result in results.cases if result.case.task == task]
        if len(of_task) < CLASSES:
            continue
        lines = [
            Line(name, np.sort(shares), np.arange(1, len(of_task) + 1) / len(of_task))
            for name, shares in (
                ("with the cue", [result.with_cue[result.strongest] for result in of_task]),
                ("without it", [result.without[result.strongest] for result in of_task]),
            )
        ]
        title = f"Over the classes{TASK_SUFFIXES.get(task, '')}"
        yield Picture(
            title=title,
            caption="The share of the classes whose share of yes is at most so large, with each "
            "class's strongest cue in view and without it. Where the lines are apart the cue moves "
            "many classes; a long left end are classes that are missed.",
            image=line_chart(lines, title, "share of yes in a class", "share of the classes"),
        )


def mean_curves(results: Results) -> Table:
    """Of each task the mean gap of the classes' strongest cues with fewer images (figure 12)."""
    tasks = dict.fromkeys(result.case.task for result in results.cases)
    most = min(result.case.k for result in results.cases)
    curves = {
        task: np.mean(
            [
                gap_curve(result, result.strongest)[:most]
                for result in results.cases
                if result.case.task == task
            ],
            axis=0,
        )
        for task in tasks
    }
    rows = tuple(
        {"K": k, **{str(task): 100 * float(curve[k - 1]) for task, curve in curves.items()}}
        for k in steps_of(most).tolist()
    )
    return Table(
        title="The mean gap by K",
        columns=("K", *map(str, tasks)),
        rows=rows,
        notes=(
            "In points, mean over the classes of their strongest cue, which was chosen at the "
            f"largest K of each class. K goes up to that of the smallest class, {most}.",
        ),
    )
