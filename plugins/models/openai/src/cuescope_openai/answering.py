"""Samples to requests, and answers to responses."""

import warnings
from collections.abc import Sequence
from string import ascii_uppercase
from typing import Any

import numpy as np

from cuescope_openai.answers import Answer, choice_letters, choice_logits
from cuescope_openai.endpoint import parameters
from cuescope_openai.options import OpenAIOptions
from cuescope_openai.requests import ChatRequest, ImageFormat
from cuescope_sdk import Response, Sample, Trial, UserError

YES_NO = {"yes", "no"}


def asks_by_letter(options: OpenAIOptions, choices: Sequence[str]) -> bool:
    """Whether the choices are listed with letters, and answered by one."""
    if options.scoring != "auto":
        return bool(choices) and options.scoring == "letters"
    return not YES_NO.issuperset(choice.casefold() for choice in choices)


def chat_request(options: OpenAIOptions, sample: Sample) -> ChatRequest:
    """The request for a sample, the same whichever of the outputs is wanted.

    Raises UserError for a sample without a question, and for more choices than letters.
    """
    scoring: dict[str, Any] = {}
    if sample.choices and options.top_logprobs:
        scoring = {"logprobs": True, "top_logprobs": options.top_logprobs}
    return ChatRequest(
        text=user_text(options, sample),
        parameters=parameters(options),
        system=options.system,
        frames=sample.frames,
        image_format=ImageFormat(options.image_format, options.max_side, options.detail),
        scoring=scoring,
    )


def user_text(options: OpenAIOptions, sample: Sample) -> str:
    """The question in its prompt, with the choices listed where they are answered by letter."""
    question = sample.question or options.question
    if not question:
        raise UserError(
            f"openai: sample '{sample.key}' has no question",
            expected="a data set with questions",
            remedy="-M question='What is shown?' asks this of every sample without one",
        )
    text = options.prompt.replace("{question}", question).strip()
    if not asks_by_letter(options, sample.choices):
        return text
    if len(sample.choices) > len(ascii_uppercase):
        raise UserError(
            f"openai: sample '{sample.key}' has more choices than letters",
            expected=f"at most {len(ascii_uppercase)}",
            got=str(len(sample.choices)),
            remedy="-M scoring=words asks without listing them",
        )
    lines = sorted(zip(choice_letters(sample.choices), sample.choices, strict=True))
    listing = [f"({letter}) {choice}" for letter, choice in lines]
    return "\n".join([text, *listing, "Answer with the letter."])


def to_responses(
    options: OpenAIOptions, trials: Sequence[Trial], answers: Sequence[Answer]
) -> list[Response]:
    """What each trial asks for; warns of answers that name no choice, whose logits are equal."""
    responses, unparsed = [], 0
    for trial, answer in zip(trials, answers, strict=True):
        logits, choices = None, trial.sample.choices
        if "logits" in trial.outputs:
            logits = choice_logits(answer, choices, asks_by_letter(options, choices))
            if logits is None:
                unparsed += 1
                # A uniform distribution: neither right nor wrong, and warned of below.
                logits = np.full(len(choices), -np.log(len(choices)))
        text = answer.text if "text" in trial.outputs else None
        responses.append(Response(logits=logits, text=text))
    if unparsed:
        scored = sum("logits" in trial.outputs for trial in trials)
        warnings.warn(
            f"openai: {unparsed} of {scored} answers name no choice; their logits are all equal",
            stacklevel=2,
        )
    return responses
