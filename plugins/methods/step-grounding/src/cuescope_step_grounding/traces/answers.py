"""The answer at the end of a trace, and whether it is right."""

import re
import string
from collections.abc import Sequence

from cuescope_sdk import Sample
from cuescope_sdk.language import parse_yes_no

ARTICLES = {"a", "an", "the"}
YES_NO = {"yes", "no"}
_MARKED_ANSWER = re.compile(
    r"^[\W_]*(?:so[\s,]+|thus[\s,]+|therefore[\s,]+)?(?:the\s+)?(?:final\s+|correct\s+)?answer\b"
    r"[\W_]*?(?:\bis\b|[:=\-\u2013])[\W_]*(?P<answer>.*)$",
    re.IGNORECASE,
)
_LETTER = re.compile(r"\(?([A-Za-z])\)?[.:]?(?:\s|$)")


def marked_answer(line: str) -> str | None:
    """What a line says after "Answer:" or "the answer is"; None for any other line.

    >>> marked_answer("**Final answer:** the red cup."), marked_answer("A cup is the answer to it.")
    ('the red cup.', None)
    """
    match = _MARKED_ANSWER.match(line.strip())
    return match["answer"].strip(" *_`") if match else None


def choice_meant(answer: str, choices: Sequence[str]) -> str | None:
    """The one choice that is meant, by its words or by its letter; None where that is not plain.

    Choices are compared as `normalize` leaves them. A letter alone counts where no choice is a
    letter; a longer text counts where it names exactly one choice, and of those within one another
    the longest.
    """
    if {choice.casefold() for choice in choices} <= YES_NO:
        meant = parse_yes_no(answer)
        word = {True: "yes", False: "no"}.get(meant) if meant is not None else None
        return next((choice for choice in choices if choice.casefold() == word), None)
    words = normalize(answer)
    for choice in choices:
        if words == normalize(choice):
            return choice
    if len(choices) <= len(string.ascii_uppercase) and all(len(c) > 1 for c in choices):
        letter = _LETTER.match(answer.strip())
        index = string.ascii_uppercase.find(letter[1].upper()) if letter else -1
        if 0 <= index < len(choices) and (answer.strip().startswith("(") or len(words) == 1):
            return choices[index]
    named = [choice for choice in choices if _within(normalize(choice), words)]
    # "The blue cup" names "cup" as well where that is a choice: the longer one is meant.
    inner = {c for c in named for d in named if c != d and _within(normalize(c), normalize(d))}
    outermost = [choice for choice in named if choice not in inner]
    return outermost[0] if len(outermost) == 1 else None


def is_right(answer: str | None, sample: Sample) -> bool | None:
    """Whether an answer is the label, or another accepted one; None where none is known."""
    if sample.label is None:
        return None
    accepted = (sample.label, *map(str, sample.annotations.get("answers", ())))
    return answer is not None and normalize(answer) in {normalize(other) for other in accepted}


def normalize(text: str) -> str:
    """Lower case, without punctuation and articles, so that answers compare.

    >>> normalize(" The RED cup. "), normalize("A")
    ('red cup', 'a')
    """
    # An answer that is nothing but articles ("A") keeps them: it may be a letter.
    words = re.sub(r"[^\w\s]|_", " ", text.casefold()).split()
    return " ".join([word for word in words if word not in ARTICLES] or words)


def _within(inner: str, outer: str) -> bool:
    return bool(inner) and f" {inner} " in f" {outer} "
