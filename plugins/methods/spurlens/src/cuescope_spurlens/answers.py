"""What the model answers: yes, no or neither, and how surely."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from cuescope_sdk import Audit, Outcome, Trial
from cuescope_sdk.language import parse_yes_no
from cuescope_sdk.maths import softmax
from cuescope_spurlens.questions import CHOICES, TrialKey, distinct_trials, trial_key
from cuescope_spurlens.spuriosity.shapes import PerRow


@dataclass(frozen=True, slots=True)
class Answer:
    """`yes` is True for yes, False for no, None for words that are neither; and how sure of yes.

    `sure` is the probability of yes of a model that gives it, else 1 for yes and 0 for all else.
    """

    yes: bool | None
    sure: float


Answers = Mapping[TrialKey, Answer]
Questions = Sequence[Sequence[Trial]]  # of each row


def read_answer(outcome: Outcome) -> Answer:
    """Yes, no or neither, by the model's choice or else by its words."""
    index = outcome.response.prediction
    # a model that writes has chosen nothing by logits
    if index is None:
        # by words: the published parser finds "no" within "know" and "cannot"
        yes = parse_yes_no(outcome.response.text or "")
        return Answer(yes, float(yes is True))
    [probability] = softmax(np.asarray(outcome.response.logits)[None])
    # the first of CHOICES is yes
    return Answer(CHOICES[index] == "yes", float(probability[0]))


def read_answers(outcomes: Iterable[Outcome]) -> dict[TrialKey, Answer]:
    """Every answer by what was asked."""
    return {trial_key(outcome.trial): read_answer(outcome) for outcome in outcomes}


def ask_more(audit: Audit, trials: Iterable[Trial], answers: Answers) -> Answers:
    """The answers so far with those to these trials; only what is new is asked."""
    new = [
        trial for trial in distinct_trials(trials) if trial_key(trial) not in answers
    ]
    return {**answers, **read_answers(audit.respond(new))}


def yes_rates(rows: Questions, answers: Answers) -> PerRow:
    """Share of yes among the questions of each row (eq. 5)."""
    # PA and HR are shares of yes: words that are neither yes nor no count as no.
    return _means(rows, lambda trial: answers[trial_key(trial)].yes is True)


def yes_probabilities(rows: Questions, answers: Answers) -> PerRow:
    """Mean probability of yes over the questions of each row: it tells more than its rounding."""
    return _means(rows, lambda trial: answers[trial_key(trial)].sure)


def _means(rows: Questions, figure: Callable[[Trial], float]) -> PerRow:
    return np.array([np.mean(list(map(figure, trials))) for trials in rows])
