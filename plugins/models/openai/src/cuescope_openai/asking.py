"""Samples to questions, and answers to responses."""

import warnings
from collections.abc import Sequence
from string import ascii_uppercase
from typing import TYPE_CHECKING, Any

import numpy as np

from cuescope_openai.answer import Answer
from cuescope_openai.choosing import letters_of, logits_of
from cuescope_openai.endpoint import parameters
from cuescope_openai.pictures import Look
from cuescope_openai.question import Question
from cuescope_sdk import Response, Sample, Trial, UserError

if TYPE_CHECKING:
    from cuescope_openai import OpenAIOptions

YES_NO = {"yes", "no"}


def listed(options: "OpenAIOptions", choices: Sequence[str]) -> bool:
    """Whether the choices are listed with letters."""
    if options.scoring != "auto":
        return bool(choices) and options.scoring == "letters"
    return not YES_NO.issuperset(choice.casefold() for choice in choices)


def question_of(options: "OpenAIOptions", sample: Sample) -> Question:
    """What a sample asks, whichever of the outputs is wanted.

    Raises UserError for a sample without a question, and for more choices than letters.
    """
    scoring: dict[str, Any] = {}
    if sample.choices and options.top_logprobs:
        scoring = {"logprobs": True, "top_logprobs": options.top_logprobs}
    return Question(
        said=said_of(options, sample),
        parameters=parameters(options),
        system=options.system,
        frames=sample.frames,
        look=Look(options.image_format, options.max_side, options.detail),
        scoring=scoring,
    )


def said_of(options: "OpenAIOptions", sample: Sample) -> str:
    """The user's words, with the choices listed where they are answered by letter."""
    question = sample.question or options.question
    if not question:
        raise UserError(
            f"openai: sample '{sample.key}' has no question", expected="a data set with questions",
            remedy="-M question='What is shown?' asks this of every sample without one",
        )  # fmt: skip
    words = options.prompt.replace("{question}", question).strip()
    if not listed(options, sample.choices):
        return words
    if len(sample.choices) > len(ascii_uppercase):
        raise UserError(
            f"openai: sample '{sample.key}' has more choices than letters",
            expected=f"at most {len(ascii_uppercase)}", got=str(len(sample.choices)),
            remedy="-M scoring=words asks without listing them",
        )  # fmt: skip
    lines = sorted(zip(letters_of(sample.choices), sample.choices, strict=True))
    listing = [f"({letter}) {choice}" for letter, choice in lines]
    return "\n".join([words, *listing, "Answer with the letter."])


def responses(
    options: "OpenAIOptions", trials: Sequence[Trial], answers: Sequence[Answer]
) -> list[Response]:
    """What each trial asks for; warns of answers that name no choice, whose logits are equal."""
    found, unparsed = [], 0
    for trial, answer in zip(trials, answers, strict=True):
        logits, choices = None, trial.sample.choices
        if "logits" in trial.outputs:
            logits = logits_of(answer, choices, listed(options, choices))
            if logits is None:
                unparsed += 1
                logits = np.full(len(choices), -np.log(len(choices)))
        text = answer.text if "text" in trial.outputs else None
        found.append(Response(logits=logits, text=text))
    if unparsed:
        scored = sum("logits" in trial.outputs for trial in trials)
        warnings.warn(
            f"openai: {unparsed} of {scored} answers name no choice; their logits are all equal",
            stacklevel=2,
        )
    return found
