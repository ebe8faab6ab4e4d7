"""Which choice an answer in words means, as harnesses read it, and None where it means none."""

import re
import string
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from cuescope_sdk.language import parse_yes_no, strip_thinking

LETTERS = string.ascii_uppercase
MOST_SAID = 100_000  # characters that are searched: the end of an answer has the choice
_LETTER = re.compile(r"\W{0,4}(?:option\s)?\W{0,2}([A-Z])\W{0,4}", re.IGNORECASE)
_PAIR = re.compile(r"\W{0,4}([A-Z]{2})\W{0,4}", re.IGNORECASE)
# "A. red", "(A) red", "A: red", "option A": never the article of "A cat"
_LEADING = re.compile(r"\W{0,4}(?:option\s+)?\(?([A-Z])(?:[.:)]|\s*$)", re.IGNORECASE)
# `*+` gives nothing back: of blanks without end every split would be tried
_STATED = re.compile(
    r"\b(?:answer|choice|option)\s*+(?:is|:|=|-)*+\s*+(?:option\s*+)?\W{0,4}([A-Z])\b(?!\s+[a-z])",
    re.IGNORECASE,
)
_BOXED = re.compile(r"\\boxed\{\W{0,9}(?:text\{)?([A-Z])\W{0,3}\}", re.IGNORECASE)


@dataclass(frozen=True)
class Choices:
    """The choices of a question, in the order of their letters."""

    texts: Sequence[str]

    @staticmethod
    def letter_index(text: str, count: int) -> int | None:
        """The number of a lone letter, "B" or "(b)."; None for other texts and later letters.

        After Z comes AA, as in a workbook.
        """
        match = _LETTER.fullmatch(text)
        if match is None and count > len(LETTERS):
            pair = _PAIR.fullmatch(text)
            if pair is None:
                return None
            first, last = (LETTERS.index(letter) for letter in pair[1].upper())
            index = len(LETTERS) * (first + 1) + last
            return index if index < count else None
        index = LETTERS.index(match[1].upper()) if match else count
        return index if index < count else None

    def index(self, text: str) -> int | None:
        """Which choice a text is, by its words or else its letter; case and ends do not matter."""
        plain = _plain(text)
        for index, choice in enumerate(self.texts):
            if _plain(choice) == plain:
                return index
        return self.letter_index(text, len(self.texts))

    def stated(self, said: str) -> int | None:
        """Which option an answer states: alone, or behind "the answer is"; None for others."""
        text = strip_thinking(said)[-MOST_SAID:].strip()
        alone = self.index(text)
        if alone is not None:
            return alone
        for match in (*_last(_STATED, text), *_last(_BOXED, text)):
            index = LETTERS.index(match[1].upper())
            if index < len(self.texts):
                return index
        return None

    def find(self, said: str) -> int | None:
        """Which choice an answer in words means; None where it names none, or several."""
        text = strip_thinking(said)[-MOST_SAID:].strip()
        if not text or not self.texts:
            return None
        # a letter first: options may be letters themselves, "A: d, B: b", and harnesses ask for
        # theirs
        for read in (self.letter_index(text, len(self.texts)), self.index(text)):
            if read is not None:
                return read
        by_letter = [_LEADING.match(text), *_last(_STATED, text), *_last(_BOXED, text)]
        for match in by_letter:
            if match and LETTERS.index(match[1].upper()) < len(self.texts):
                return LETTERS.index(match[1].upper())
        plain = {_plain(choice): number for number, choice in enumerate(self.texts)}
        if plain.keys() == {"yes", "no"}:
            yes = parse_yes_no(text)
            return None if yes is None else plain["yes" if yes else "no"]
        return _only_named(text, self.texts)


def _last(pattern: re.Pattern[str], text: str) -> list[re.Match[str]]:
    return list(pattern.finditer(text))[-1:]


def _only_named(text: str, choices: Sequence[str]) -> int | None:
    """The one choice whose words stand in the text; of choices within others the longest."""
    words = f" {_words(text)} "
    named = []
    for index, choice in sorted(enumerate(choices), key=lambda pair: -len(pair[1])):
        wanted = f" {_words(choice)} "
        if wanted.strip() and wanted in words:
            named.append(index)
            words = words.replace(wanted, "  ")
    return named[0] if len(named) == 1 else None


# the same few options are compared again and again
@lru_cache(maxsize=65_536)
def _plain(text: str) -> str:
    return " ".join(text.casefold().split()).strip(" .!\"'`*")


def _words(text: str) -> str:
    return " ".join(re.findall(r"\w+", text.casefold()))
