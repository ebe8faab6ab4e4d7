"""The answer at the end of a trace, and whether it is right."""

import re
import string
from collections.abc import Sequence

from cuescope_sdk import Sample
from cuescope_sdk.language import parse_yes_no

ARTICLES = {"a", "an", "the"}
YES_NO = {"yes", "no"}
_MARKED = re.compile(
    r"^[\W_]*(?:so[\s,]+|thus[\s,]+|therefore[\s,]+)?(?:the\s+)?(?:final\s+|correct\s+)?answer\b"
    r"[\W_]*?(?:\bis\b|[:=\-\u2013])[\W_]*(?P<said>.*)$",
    re.IGNORECASE,
)
_LETTER = re.compile(r"\(?([A-Za-z])\)?[.:]?(?:\s|$)")


def marked(line: str) -> str | None:
    """What a line says after "Answer:" or "the answer is"; None for any other line.

    >>> marked("**Final answer:** the red cup."), marked("A cup is the answer to it.")
    ('the red cup.', None)
    """
    found = _MARKED.match(line.strip())
    return found["said"].strip(" *_`") if found else None


def chosen(said: str, choices: Sequence[str]) -> str | None:
    """The one choice that is meant, by its words or by its letter; None where that is not plain.

    Choices are compared as `plain` words. A letter alone counts where no choice is a letter; a
    longer text counts where it names exactly one choice, and the longest of those in one another.
    """
    if {choice.casefold() for choice in choices} <= YES_NO:
        meant = parse_yes_no(said)
        word = {True: "yes", False: "no"}.get(meant) if meant is not None else None
        return next((choice for choice in choices if choice.casefold() == word), None)
    words = plain(said)
    for choice in choices:
        if words == plain(choice):
            return choice
    if len(choices) <= len(string.ascii_uppercase) and all(len(c) > 1 for c in choices):
        letter = _LETTER.match(said.strip())
        place = string.ascii_uppercase.find(letter[1].upper()) if letter else -1
        if 0 <= place < len(choices) and (said.strip().startswith("(") or len(words) == 1):
            return choices[place]
    named = [choice for choice in choices if _within(plain(choice), words)]
    inner = {c for c in named for d in named if c != d and _within(plain(c), plain(d))}
    left = [choice for choice in named if choice not in inner]
    return left[0] if len(left) == 1 else None


def is_right(answer: str | None, sample: Sample) -> bool | None:
    """Whether an answer is the label, or another accepted one; None where none is known."""
    if sample.label is None:
        return None
    accepted = (sample.label, *map(str, sample.annotations.get("answers", ())))
    return answer is not None and plain(answer) in {plain(one) for one in accepted}


def plain(text: str) -> str:
    """Lower case, without punctuation and articles, so that answers compare.

    >>> plain(" The RED cup. "), plain("A")
    ('red cup', 'a')
    """
    words = re.sub(r"[^\w\s]|_", " ", text.casefold()).split()
    return " ".join([word for word in words if word not in ARTICLES] or words)


def _within(inner: str, outer: str) -> bool:
    return bool(inner) and f" {inner} " in f" {outer} "
