"""Which choice an answer means, and with what log-probabilities."""

import re
from collections.abc import Callable, Sequence
from string import ascii_uppercase

import numpy as np
from jaxtyping import Float

from cuescope_openai.answer import Answer, Tokens

LEAST = -20.0  # the lowest log-probability; also that of a choice of which nothing is told

Matching = Callable[[str, Sequence[str]], int | None]


def letters_of(choices: Sequence[str]) -> list[str]:
    """The letter that stands for each choice; in alphabetic order, so that none means a place.

    The same choices in another order are then the same question, with the same answer.
    """
    order = sorted(choices)
    return [ascii_uppercase[order.index(choice)] for choice in choices]


def logits_of(
    answer: Answer, choices: Sequence[str], listed: bool
) -> Float[np.ndarray, " choice"] | None:
    """Log-probabilities of the choices, in nats; None where the answer names none of them.

    From the tokens of the answer's first word, where the server tells them and this word is the
    choice that the whole answer means. Else 0 for the choice that is named and -20 for the
    others, which is no measure of confidence.
    """
    chosen = (
        lettered_choice(answer.text, choices) if listed else worded_choice(answer.text, choices)
    )
    if chosen is None:
        return None
    matching = _by_letter if listed else _by_beginning
    if answer.first and matching(answer.first[0][0], choices) == chosen:
        return _from_tokens(answer.first, choices, matching)
    return np.where(np.arange(len(choices)) == chosen, 0.0, LEAST).astype(np.float32)


def _from_tokens(
    tokens: Tokens, choices: Sequence[str], matching: Matching
) -> Float[np.ndarray, " choice"]:
    """Tokens of the same meaning ("Yes", " yes") are added up.

    A choice that no token stands for is given the most that it can have: no more than the least
    token that is told, nor than what all of those leave over.
    """
    found = np.full(len(choices), -np.inf)
    for token, logprob in tokens:
        place = matching(token, choices)
        if place is not None:
            found[place] = np.logaddexp(found[place], logprob)
    told = np.array([logprob for _, logprob in tokens])
    rest = np.log(max(1.0 - float(np.exp(told).sum()), np.exp(LEAST)))
    absent = min(float(told.min()), float(rest))
    return np.maximum(np.where(np.isfinite(found), found, absent), LEAST).astype(np.float32)


def _by_letter(token: str, choices: Sequence[str]) -> int | None:
    letters = letters_of(choices)
    word = re.sub(r"[\W_]", "", token)
    return letters.index(word) if word in letters else None


def _by_beginning(token: str, choices: Sequence[str]) -> int | None:
    """The one choice that begins with the token."""
    word = re.sub(r"^[\W_]+|[\W_]+$", "", token).casefold()
    fits = [place for place, choice in enumerate(choices) if choice.casefold().startswith(word)]
    return fits[0] if word and len(fits) == 1 else None


def lettered_choice(text: str, choices: Sequence[str]) -> int | None:
    """ "B", "(B) a boat", "**B**", "The answer is (B).", or the choice in words."""
    letters = letters_of(choices)
    named = set(re.findall(r"\(([A-Z])\)", text))
    if leading := re.match(r"[\W_]*([A-Z])(?=[\W_]*$|[).:,*\]\n])", text):
        named.add(leading[1])
    if len(named) == 1 and named <= set(letters):
        return letters.index(named.pop())
    return worded_choice(text, choices)


def worded_choice(text: str, choices: Sequence[str]) -> int | None:
    """The longest choice that the answer begins with, as whole words: "Yes, there is"."""
    words = re.sub(r"^[\W_]+", "", text).casefold()
    fits = [
        place
        for place, choice in enumerate(choices)
        if re.match(re.escape(choice.casefold()) + r"(?!\w)", words)
    ]
    return max(fits, key=lambda place: len(choices[place]), default=None)
