"""The rows of the report, its sentences, notes and tables."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from cuescope_blind.analysis import (
    LEARNER,
    Result,
    Study,
    is_finding,
    other_results,
    smallest_findable,
    study,
)
from cuescope_blind.questions import Questions
from cuescope_blind.scores import Gain, blind_scores
from cuescope_sdk import Audit, Cell, Feature, Occurrence, Score, Table
from cuescope_sdk.report import count_of

# examples of each finding; a cell holds so many characters
EXAMPLES = 3
SHOWN = 140
NEXT_STEP = (
    "Read the questions that show each tell: is it what its name says? Save all that the first "
    "tell answers: `cuescope export RUN --affected 1 --out answered.jsonl`. Write the half that is "
    "least answered without looking: `cuescope blind DATA --hardest {half} --manifest "
    "hardest.jsonl`."
)
NOTHING_FOUND = (
    "These tells were not found, and more questions find smaller gains. What a model knows of "
    "the world may answer questions too. Ask yours without the video, in place of OTHER: "
    "`cuescope blind DATA --model OTHER`."
)


def features(audit: Audit) -> Iterator[Feature]:
    """A feature a tell, and one more a kind of question; a finding has the questions it answers."""
    result_of = audit.once(study, audit)
    for result in result_of.results:
        found = is_finding(result, audit.options)
        yield Feature(
            key=result.key,
            kind="tell",
            name=name_of(result),
            occurrences=tuple(_occurrences(result_of.questions, result))
            if found
            else (),
        )


def name_of(result: Result) -> str:
    """The tell in words, and the kind of question where it is of one."""
    return (
        result.tell.name
        if result.kind is None
        else f"{result.tell.name} ({result.kind})"
    )


def _occurrences(questions: Questions, result: Result) -> Iterator[Occurrence]:
    """The questions that the tell answers right; where it misleads, those that it answers wrong."""
    # a tell may mislead: then its samples are those where it is wrong
    correct = result.correct if result.gain.gain > 0 else 1 - result.correct
    answered = np.flatnonzero(result.part & (correct > questions.chance))
    # stable: equal shares keep the order of the data, and the report its hash
    for number in answered[np.argsort(-correct[answered], kind="stable")].tolist():
        yield Occurrence(sample=questions.keys[number], strength=float(correct[number]))


def scores(audit: Audit) -> Iterator[Score]:
    """The gain of each tell, and its accuracy; findings first."""
    result_of = audit.once(study, audit)
    _note(audit, result_of)
    _record(audit, result_of)
    audit.attach(_table(result_of))
    examples = _examples(audit, result_of)
    # without a finding there is no tell to show
    if examples.rows:
        audit.attach(examples)
    for result in result_of.results:
        yield from scores_of(
            result.gain,
            finding=is_finding(result, audit.options),
            statement=statement(result),
            feature=result.key,
            label=None,
            q_value=result.q_value,
        )


def scores_of(
    gain: Gain,
    *,
    finding: bool,
    statement: str,
    **about: Any,
) -> Iterator[Score]:
    """The gain and the accuracy of one tell; `about` are further fields of both scores."""
    both: dict[str, Any] = {**about, "n": gain.n, "p_value": gain.p_value}
    yield Score(
        **both,
        metric="gain",
        value=gain.gain,
        low=gain.low,
        high=gain.high,
        finding=finding,
        statement=statement,
    )
    yield Score(**both, metric="blind_accuracy", value=gain.accuracy)


def statement(result: Result) -> str:
    """The finding as a sentence; the report puts the tell's name into it."""
    gain = result.gain
    only = "only " if gain.gain < 0 else ""
    return (
        f"Taking {{feature}} is right in {only}{gain.accuracy:.1%} of {gain.n:,} questions; "
        f"guessing gives {gain.chance:.1%} ({gain.points})."
    )


def headline(result: Result, total: int, *, found: bool) -> str:
    """How many questions are answered without looking, at least; of what is `found` alone."""
    gain = result.gain
    answered = least_told(gain, total, found=found)
    figures = f"{gain.accuracy:.1%} right, guessing {gain.chance:.1%}"
    if answered == 0:
        return f"{figures}: {no_more(gain)}"
    return f"at least {answered:,} of {total:,} questions, beyond what guessing gives ({figures})"


def least_told(gain: Gain, total: int, *, found: bool) -> int:
    """How many of `total` are told for sure: by the low end of the interval, of a finding."""
    # an interval is of one tell, and pays for no other: without a finding it is no promise
    low = gain.low if found else None
    # below 0 nothing is told, and not less; rounded down, for it is said to be the least
    return int(max(low or 0.0, 0.0) * total)


def no_more(gain: Gain) -> str:
    """What an accuracy says that is not surely above guessing."""
    if gain.high is not None and gain.high < 0:
        return "fewer than by guessing"
    return "the difference may be chance"


def _note(audit: Audit, result_of: Study) -> None:
    questions = result_of.questions
    learner = result_of.learner
    found_learner = is_finding(learner, audit.options)
    told = headline(learner, len(questions), found=found_learner)
    audit.note("answered without looking", told)
    videos = f"{count_of(len(questions), 'questions')} about {questions.groups.count:,} videos"
    # without videos nothing says which questions belong together, and the reader must know
    if not questions.groups.declared:
        videos = (
            f"{count_of(len(questions), 'questions')}, each taken as drawn by itself"
        )
    audit.note("questions", videos)
    left_out = len(audit.samples) - len(questions)
    if left_out:
        audit.note(
            "left out",
            f"{count_of(left_out, 'samples')} without a label or with fewer than two options",
        )
    copies = questions.groups.count - questions.fold_groups.count
    if copies:
        audit.note(
            "copies",
            f"{count_of(copies, 'videos', 'share')} a question and its options with another: "
            "kept in one fold",
        )
    found = any(is_finding(result, audit.options) for result in result_of.results)
    # alone: no other model and no test of causes is proposed beside it (docs/adr/0024)
    half = max(1, len(questions) // 2)
    audit.note("next step", NEXT_STEP.format(half=half) if found else NOTHING_FOUND)
    missed = smallest_findable(questions, result_of.results, audit.options)
    if missed is not None:
        widest, limit = missed
        others = other_results(result_of.results, audit.options)
        names = [result.tell.key for result in others]
        looked = f"looked for and not found: {', '.join(names)}"
        audit.note("could have been missed", f"{looked}. {_limit(widest, limit)}")


def _limit(widest: Result, limit: float | None) -> str:
    about = f"'{widest.tell.key}' on {count_of(widest.gain.n, 'questions')}"
    if limit is None:
        return f"There are too few questions to find any gain ({about})"
    return f"A gain of {100 * limit:.1f} points is found in 8 of 10 audits ({about})"


def _record(audit: Audit, result_of: Study) -> None:
    """s(x) of every question: a row of `answers.parquet`."""
    questions = result_of.questions
    # rows are recorded by sample, and the study knows keys alone
    by_key = {sample.key: sample for sample in audit.samples}
    figures = blind_scores(questions, result_of.probability)
    for key, figure in zip(questions.keys, figures.tolist(), strict=True):
        # `cuescope blind --hardest` reads these rows back
        audit.record(by_key[key], LEARNER.key, "blind_score", figure)


def _table(result_of: Study) -> Table:
    rows: list[tuple[Cell, ...]] = []
    for result in result_of.results:
        gain = result.gain
        percent = (
            100 * gain.chance,
            100 * gain.accuracy,
            100 * gain.gain,
            None if gain.low is None else 100 * gain.low,
            None if gain.high is None else 100 * gain.high,
        )
        rows.append((result.key, gain.n, *percent, result.q_value))
    return Table.of(
        "What needs no pixels (percent)",
        ("tell", "questions", "chance", "right", "gain", "low", "high", "q"),
        rows,
        "A tell is counted on the questions on which it prefers an option.",
    )


def _examples(audit: Audit, result_of: Study) -> Table:
    """Questions that each finding on all questions answers right."""
    questions = result_of.questions
    rows: list[tuple[Cell, ...]] = []
    for result in result_of.results:
        # the same questions stand under the tell of all kinds
        if result.kind is not None or not is_finding(result, audit.options):
            continue
        for occurrence in list(_occurrences(questions, result))[:EXAMPLES]:
            number = questions.keys.index(occurrence.sample)
            options = questions.options[number]
            texts = (
                questions.texts[number],
                options[questions.right[number]],
                " | ".join(_others(questions, number)),
            )
            rows.append((result.key, *(text[:SHOWN] for text in texts)))
    return Table.of(
        "Questions that show each tell",
        ("tell", "question", "right answer", "other options"),
        rows,
    )


def _others(questions: Questions, number: int) -> list[str]:
    right = questions.right[number]
    return [
        text for place, text in enumerate(questions.options[number]) if place != right
    ]
