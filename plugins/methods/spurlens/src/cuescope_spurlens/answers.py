"""What the model answers: yes, no or neither, and how surely."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from cuescope_sdk import Audit, Outcome, Trial
from cuescope_sdk.language import parse_yes_no
from cuescope_spurlens.questions import CHOICES, TrialKey, distinct_trials, trial_key


@dataclass(frozen=True, slots=True)
class Answer:
    """`yes` is True for yes, False for no, None for words that are neither; and how sure of yes.

    `sure` is the probability of yes of a model that gives it, else 1 for yes and 0 for all else.
    """

    yes: bool | None
    sure: float


Answers = Mapping[TrialKey, Answer]


def read_answer(outcome: Outcome) -> Answer:
    """Yes, no or neither, by the model's choice or else by its words."""
    index = outcome.response.prediction
    if index is None:
        yes = parse_yes_no(outcome.response.text or "")
        return Answer(yes, float(yes is True))
    logits = np.asarray(outcome.response.logits, dtype=np.float64)
    exponents = np.exp(logits - logits.max())
    return Answer(CHOICES[index] == "yes", float(exponents[0] / exponents.sum()))


def read_answers(outcomes: Sequence[Outcome]) -> dict[TrialKey, Answer]:
    """Every answer by what was asked."""
    return {trial_key(outcome.trial): read_answer(outcome) for outcome in outcomes}


def ask_more(audit: Audit, trials: Iterable[Trial], answers: Answers) -> Answers:
    """The answers so far with those to these trials; only what is new is asked."""
    new = [trial for trial in distinct_trials(trials) if trial_key(trial) not in answers]
    return {**answers, **read_answers(audit.respond(new))}


def yes_rates(rows: Sequence[Sequence[Trial]], answers: Answers) -> Float[np.ndarray, " row"]:
    """Share of yes among the questions of each row (eq. 5)."""
    # PA and HR are shares of yes: words that are neither yes nor no count as no.
    return np.array([np.mean([answers[trial_key(t)].yes is True for t in row]) for row in rows])


def yes_probabilities(
    rows: Sequence[Sequence[Trial]], answers: Answers
) -> Float[np.ndarray, " row"]:
    """Mean probability of yes over the questions of each row: it tells more than its rounding."""
    return np.array([np.mean([answers[trial_key(t)].sure for t in row]) for row in rows])
