"""The study of questions: every tell and the learner, on all of them and on each kind."""

from collections.abc import Iterator

import numpy as np
from jaxtyping import Bool
from scipy import sparse

from cuescope_blind.learner import all_columns, out_of_fold
from cuescope_blind.options import BlindOptions
from cuescope_blind.questions import OneAQuestion, PerOption, Questions
from cuescope_blind.scores import (
    blind_scores,
    expected_correct,
    measure_gain,
    prefers,
    redraw_answers,
)
from cuescope_blind.study import LEARNER, Result, Study, Wording, corrected
from cuescope_blind.tells import TELLS, Tell
from cuescope_blind.trials import columns_of, folds_of, questions_of
from cuescope_sdk import Audit
from cuescope_sdk.report import count_of

THE_LEARNER = Tell(LEARNER, "the answer of a learner that sees no pixel", all_columns)


def question_statement(result: Result) -> str:
    """The finding as a sentence; the report puts the tell's name into it."""
    gain = result.gain
    return (
        f"Taking {{feature}} is right in {gain.accuracy:.1%} of {gain.n:,} questions; "
        f"chance level {gain.chance:.1%} ({gain.points})."
    )


def redraw_questions(audit: Audit, result: Result, draws: int) -> Iterator[float]:
    """The learner's accuracy on redrawn answers: the same columns and folds."""
    return accuracies_of_redrawn(
        audit.once(questions_of, audit),
        audit.once(columns_of, audit),
        audit.once(folds_of, audit),
        draws,
        audit.rng("redraws"),
    )


WORDING = Wording(
    noun="questions",
    title="What needs no pixels (percent)",
    note="A tell is counted on the questions on which it prefers an option.",
    statement=question_statement,
    next_step="Read the questions that show each tell: is it what its name says? Save all that the "
    "first tell answers: `cuescope export RUN --affected 1 --out answered.jsonl`. Write the half "
    "that is least answered without looking: `cuescope blind DATA --hardest {half} --manifest "
    "hardest.jsonl`.",
    nothing_found="These tells were not found, and more questions find smaller gains. What a model "
    "knows of the world may answer questions too. Ask yours without the video, in place of OTHER: "
    "`cuescope blind DATA --model OTHER`.",
    redrawn="answers redrawn among the options of each question",
    redraw=redraw_questions,
)


def question_study(audit: Audit) -> Study:
    """All that is measured of questions; for `audit.once`."""
    questions = audit.once(questions_of, audit)
    fold = audit.once(folds_of, audit)
    probability = out_of_fold(questions, audit.once(columns_of, audit), fold)
    results = measure_all(questions, questions.right, fold, probability, audit.options)
    groups = questions.groups
    about = f"{count_of(len(questions), 'questions')} about {groups.count:,} videos"
    # without videos nothing says which questions belong together, and the reader must know
    if not groups.declared:
        about = (
            f"{count_of(len(questions), 'questions')}, each taken as drawn by itself"
        )
    return Study(
        questions.keys,
        groups,
        about,
        groups.count - questions.fold_groups.count,
        results,
        blind_scores(questions, probability),
        WORDING,
    )


def measure_all(
    questions: Questions,
    right: OneAQuestion,
    fold: OneAQuestion,
    probability: PerOption,
    options: BlindOptions,
) -> tuple[Result, ...]:
    """Every tell on all questions and on each kind, with q-values over all; findings first."""
    results = []
    places = int(questions.counts.max())
    parts = list(_parts_of(questions))
    strengths = [(THE_LEARNER, probability)]
    for tell in TELLS:
        # all other groups are left out
        alone = out_of_fold(questions, tell.columns(questions), fold, right)
        strengths.append((tell, alone))
    for tell, strength in strengths:
        correct = expected_correct(questions, strength, right)
        # where all options are equal to it, a tell is silent, and would only dilute its own figure
        speaks = prefers(questions, strength)
        for kind, of_kind in parts:
            part = speaks & of_kind
            # the learner answers all questions: of POPE, where nothing is to be learned, by chance
            if tell is THE_LEARNER:
                part = of_kind
            few = questions.groups.take(part).few
            if few and (tell is not THE_LEARNER or kind is not None):
                continue
            gain = measure_gain(
                questions,
                correct,
                part,
                tries=places if tell.of_places else 1,
            )
            name = tell.name if kind is None else f"{tell.name} ({kind})"
            if gain is not None:
                results.append(Result(tell.key, name, kind, part, correct, gain))
    return corrected(results, options)


def _parts_of(
    questions: Questions,
) -> Iterator[tuple[str | None, Bool[np.ndarray, " question"]]]:
    """All questions, and those of each kind."""
    yield None, np.ones(len(questions), dtype=bool)
    kinds = sorted(set(questions.kind))
    # a single kind is all questions once more
    if len(kinds) > 1:
        for number, kind in enumerate(kinds):
            yield kind, questions.kind_codes == number


def accuracies_of_redrawn(
    questions: Questions,
    columns: sparse.csr_array,
    fold: OneAQuestion,
    draws: int,
    rng: np.random.Generator,
) -> Iterator[float]:
    """The learner's accuracy on each of so many redrawn answers, learned anew."""
    for _ in range(draws):
        right = redraw_answers(questions, rng)
        probability = out_of_fold(questions, columns, fold, right)
        yield float(expected_correct(questions, probability, right).mean())
