"""What a server's answer says: its text, which choice it means, with what log-probabilities."""

import math
import re
import warnings
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from string import ascii_uppercase
from typing import Annotated, Any

import numpy as np
from jaxtyping import Float
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from cuescope_openai.options import ChoiceOrder, OpenAIOptions
from cuescope_sdk import Response, Trial

# what is kept is read by these too: a stranger's cache may hold any number
LogProbability = Annotated[float, Field(le=0, allow_inf_nan=False)]
Tokens = tuple[tuple[str, LogProbability], ...]
YES_NO = {"yes", "no"}
MIN_LOG_PROBABILITY = -20.0  # also that of a choice of which the server tells nothing
LONGEST_NAME = 100  # characters that are read of a token or of a build's name


class Answer(BaseModel):
    """One answer; `first` are the tokens that could begin its first word, the chosen one first.

    Each has its log-probability. `system_fingerprint` is the server's name for its build.
    """

    model_config = ConfigDict(frozen=True)

    text: str
    first: Tokens = ()
    system_fingerprint: str | None = None


class _Token(BaseModel):
    token: str
    logprob: float


class _Position(_Token):
    top_logprobs: list[_Token] = Field(default=[], fail_fast=True)


class _Logprobs(BaseModel):
    # of _Position; a model each would take fifty times its JSON
    content: list[Any] | None = None


class _Message(BaseModel):
    content: str | None = None
    refusal: str | None = None


class _Choice(BaseModel):
    message: _Message
    logprobs: _Logprobs | None = None


class _Completion(BaseModel):
    choices: list[Any] = Field(min_length=1)  # of _Choice, and only the first is read
    system_fingerprint: str | None = None


def read_answer(body: str, without_key: Callable[[str], str] = str) -> Answer:
    """From the JSON of a chat completion; a refusal is an answer too.

    `without_key` blacks out the key in each text. Raises ValueError with the first fault in it.
    """
    try:
        whole = _Completion.model_validate_json(body)
        choice = _Choice.model_validate(whole.choices[0])
        tokens = first_word(choice.logprobs.content or []) if choice.logprobs else ()
    except ValidationError as error:
        # the input is the server's, and may hold the key
        fault = error.errors(include_input=False)[0]
        path = ".".join(map(str, fault["loc"]))
        raise ValueError(f"{path}: {fault['msg']}" if path else fault["msg"]) from None
    build = whole.system_fingerprint
    text = choice.message.content or choice.message.refusal or ""
    return Answer(
        text=without_key(text).strip(),
        first=tuple(
            (without_key(token)[:LONGEST_NAME], logprob) for token, logprob in tokens
        ),
        system_fingerprint=build and without_key(build)[:LONGEST_NAME],
    )


def first_word(content: Iterable[Any]) -> Tokens:
    """The tokens at the first position where the answer has a letter or digit; () without any."""
    for position in map(_Position.model_validate, content):
        # quotes, brackets and spaces may come before the first word
        if re.search(r"\w", position.token):
            return _alternatives(position)
    return ()


def _alternatives(position: _Position) -> Tokens:
    """The token that was chosen there, then the others that the server lists."""
    # Servers list the chosen token among the likeliest, or leave it out; once it is enough.
    others = [token for token in position.top_logprobs if token.token != position.token]
    possible = [token for token in (position, *others) if math.isfinite(token.logprob)]
    # probabilities above 1 are no answer's
    return tuple((token.token, min(token.logprob, 0.0)) for token in possible)


# ------------------------------------------------------------------------------------- choices

Match = Callable[[str, Sequence[str]], int | None]


def asks_by_letter(options: OpenAIOptions, choices: Sequence[str]) -> bool:
    """Whether the choices are listed with letters, and answered by one."""
    if options.scoring != "auto":
        return bool(choices) and options.scoring == "letters"
    return not YES_NO.issuperset(choice.casefold() for choice in choices)


def choice_letters(
    choices: Sequence[str],
    order: ChoiceOrder = "alphabet",
) -> list[str]:
    """The letter that stands for each choice, in alphabetic order of the choices or as given.

    In alphabetic order the same choices are the same question, with the same answer.
    """
    listed = sorted(choices) if order == "alphabet" else list(choices)
    return [ascii_uppercase[listed.index(choice)] for choice in choices]


def choice_logits(
    answer: Answer,
    choices: Sequence[str],
    by_letter: bool,
    order: ChoiceOrder = "alphabet",
) -> Float[np.ndarray, " choice"] | None:
    """Log-probabilities of the choices, in nats; None where the answer names none of them.

    From the tokens of the answer's first word, where the server gives them and this word is the
    choice that the whole answer means. Else 0 for the choice that is named and -20 for the
    others, which is no measure of confidence.
    """
    read: Match = choice_by_words
    match: Match = _match_beginning
    if by_letter:
        read = partial(choice_by_letter, order=order)
        match = partial(_match_letter, order=order)
    chosen = read(answer.text, choices)
    if chosen is None:
        return None
    if answer.first and match(answer.first[0][0], choices) == chosen:
        return _from_tokens(answer.first, choices, match)
    logits = np.full(len(choices), MIN_LOG_PROBABILITY, np.float32)
    logits[chosen] = 0.0
    return logits


def _from_tokens(
    tokens: Tokens,
    choices: Sequence[str],
    match: Match,
) -> Float[np.ndarray, " choice"]:
    """Tokens of the same meaning ("Yes", " yes") are added up.

    A choice that no token stands for gets the most that it can have: no more than the least
    likely token that is given, nor than what all given tokens leave over.
    """
    logits = np.full(len(choices), -np.inf)
    for token, logprob in tokens:
        choice = match(token, choices)
        if choice is not None:
            logits[choice] = np.logaddexp(logits[choice], logprob)
    logprobs = np.array([logprob for _, logprob in tokens])
    left = 1.0 - float(np.exp(logprobs).sum())
    # rounding may leave less than 0 over, and that has no logarithm
    rest = np.log(max(left, np.exp(MIN_LOG_PROBABILITY)))
    absent = min(float(logprobs.min()), float(rest))
    # Finite always: a token may be given as impossible, and arithmetic goes on with these.
    logits = np.where(np.isfinite(logits), logits, absent)
    return np.asarray(np.maximum(logits, MIN_LOG_PROBABILITY), np.float32)


def _match_letter(
    token: str,
    choices: Sequence[str],
    order: ChoiceOrder,
) -> int | None:
    letters = choice_letters(choices, order)
    word = re.sub(r"[\W_]", "", token)  # tokens come as ' (B' or 'B.'
    return letters.index(word) if word in letters else None


def _match_beginning(token: str, choices: Sequence[str]) -> int | None:
    """The one choice that begins with the token."""
    word = re.sub(r"^[\W_]+|[\W_]+$", "", token).casefold()
    fits = [
        index
        for index, choice in enumerate(choices)
        if choice.casefold().startswith(word)
    ]
    # every choice begins with an empty word
    return fits[0] if word and len(fits) == 1 else None


def choice_by_letter(
    text: str,
    choices: Sequence[str],
    order: ChoiceOrder = "alphabet",
) -> int | None:
    """ "B", "(B) a boat", "**B**", "The answer is (B).", or the choice in words."""
    letters = choice_letters(choices, order)
    # A letter counts in brackets, or alone at the start: "A green patch" names no choice.
    letters_in_text = set(re.findall(r"\(([A-Z])\)", text))
    leading = re.match(r"[\W_]*([A-Z])(?=[\W_]*$|[).:,*\]\n])", text)
    if leading:
        letters_in_text.add(leading[1])
    if len(letters_in_text) == 1:  # two letters name no choice: (A) or (B)?
        (letter,) = letters_in_text
        if letter in letters:
            return letters.index(letter)
    return choice_by_words(text, choices)


def choice_by_words(text: str, choices: Sequence[str]) -> int | None:
    """The longest choice that the answer begins with, as whole words: "Yes, there is"."""
    words = re.sub(r"^[\W_]+", "", text).casefold()
    fits = []
    for index, choice in enumerate(choices):
        whole = re.escape(choice.casefold()) + r"(?!\w)"
        if re.match(whole, words):
            fits.append(index)
    # 'red' and 'red car' may both fit
    return max(fits, key=lambda index: len(choices[index]), default=None)


# ----------------------------------------------------------------------------------- responses


def to_responses(
    options: OpenAIOptions,
    trials: Sequence[Trial],
    answers: Sequence[Answer],
) -> list[Response]:
    """What each trial asks for; warns of answers that name no choice, whose logits are equal."""
    responses = []
    unparsed = 0
    for trial, answer in zip(trials, answers, strict=True):
        choices = trial.sample.choices
        logits = None
        if "logits" in trial.outputs:
            by_letter = asks_by_letter(options, choices)
            logits = choice_logits(answer, choices, by_letter, options.order)
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
