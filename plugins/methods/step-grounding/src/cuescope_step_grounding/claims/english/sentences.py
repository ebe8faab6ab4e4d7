"""A step as it is read: sentences of words, with moments and wordy prepositions taken out.

A dependency parser reads plain sentences best. So the words that name a moment are set aside, and a
preposition of several words ("to the left of") is shown to it as "behind", under its own name.
"""

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

from cuescope_step_grounding.claims.english.lexicon import (
    ENGLISH,
    NUMBERS,
    VERBS,
    WORDS,
)
from cuescope_step_grounding.claims.resources import read_toml
from cuescope_step_grounding.claims.times import Clock, Mention, mentions

_REWRITING = read_toml("claims/english/sentences.toml")
LONGEST_WORD = 30  # letters
LONGEST_NAME = 4  # words of a thing in a list
LONGEST = 120  # words of a sentence that are read; a longer one is no sentence

_NOT_WORDS = re.compile(
    r"\A\s*(?:step\s+\d+\s*[-:.)]|\d+[.)]|-)\s"  # the number of a step
    r"|<(script|style)\b.*?</\1>|<[^<>]{0,200}>|\x1b\[[\d;]*[A-Za-z]"
    r"|[*_`#~|^\\]+|https?://\S+",
    re.DOTALL | re.IGNORECASE,
)
_ANSWER = re.compile(
    r"\W*(?:(?:so|thus|therefore|hence)\W+)?(?:(?:the|my)\W+)?(?:(?:final|correct)\W+)?"
    r"(?:(?:answer|option|choice)\W+(?:is\W+)?)*(?:yes|no|[A-Z])\W*",
    re.IGNORECASE,
)
_BREAK = re.compile(r"(?<=[.!?;:])[\"')\]]*\s+|;|\n+")
# What is written on a sign.
_QUOTED = re.compile(
    "\\b((?:say|read|spell|show)(?:s|ing)?|label+ed|marked|titled|words?) *"
    "([\"\u201c'][^\"\u201d']{1,60}[\"\u201d'])"
)
# Several words are never quoted for their meaning alone, as "big" may be.
_WRITTEN = re.compile('["\u201c][^"\u201d\\s]+\\s[^"\u201d]{1,120}["\u201d]')
_QUOTE = "['\N{RIGHT SINGLE QUOTATION MARK}]"
_WORD = re.compile(
    rf"\d+(?:st|nd|rd|th)\b|\d+(?:[.:]\d+)*|can(?=not\b)|[^\W\d_]+(?=n{_QUOTE}t\b)|n{_QUOTE}t\b"
    rf"|{_QUOTE}(?:s|re|ve|ll|m|d)\b|[^\W\d_]+(?:-[^\W\d_]+)*|[^\w\s]"
)
# The verbs after which a side is a direction.
_SIDED_LEMMAS = WORDS.moving | WORDS.sided | WORDS.turns | WORDS.walks
_SIDED = {form for form, (lemma, _) in VERBS.items() if lemma in _SIDED_LEMMAS} - {
    "falls",
    "fall",
}
_OPENER = re.compile(rf"\s*(?:{'|'.join(_REWRITING['openers'])})(?=\s)", re.IGNORECASE)
_MOVING = re.compile(
    rf"\b(?:{'|'.join(sorted(_SIDED))}) (?:slightly |sharply )?\Z", re.IGNORECASE
)
_PARTS = _REWRITING["parts"]
_SIDES = {f"side_{name}": _PARTS["side"].format(name) for name in "abcde"}
_SUBSTITUTIONS = _REWRITING["substitutions"]
_WORDY = []
for _number, (_pattern, _, _) in enumerate(_SUBSTITUTIONS):
    _WORDY.append(rf"(?P<w{_number}>\b(?:{_pattern.format(**_PARTS, **_SIDES)}))")
_PLAIN = re.compile("|".join(_WORDY), re.IGNORECASE)


@dataclass(frozen=True)
class ShownWord:
    """A word as the parser is shown it; its name; where it stands in the step."""

    text: str
    name: str
    start: int
    end: int


@dataclass(frozen=True)
class Sentence:
    """The words of a sentence, and its moments: the index of the word before which each stood."""

    words: tuple[ShownWord, ...]
    moments: tuple[tuple[int, Mention], ...] = ()


def clean(step: str) -> str:
    """The step without tags, marks and control characters: blanks stand in their place."""
    # Blanks of the same length, so that positions in the step stay true and claims can quote it.
    step = _NOT_WORDS.sub(lambda match: " " * len(match[0]), step)
    step = _QUOTED.sub(lambda match: match[1].ljust(len(match[0])), step)
    step = _WRITTEN.sub(lambda match: " " * len(match[0]), step)
    return "".join(map(_plain_character, step))


def _plain_character(character: str) -> str:
    """A letter, digit, mark or blank as it is; a blank for any other."""
    plain = character == "\n" or unicodedata.category(character)[0] in "LNPZ"
    return character if plain else " "


def sentences(step: str, clock: Clock) -> list[Sentence]:
    """The English sentences of a step, without those that are an answer alone ("yes", "B")."""
    text = clean(step)
    breaks = [match.span() for match in _BREAK.finditer(text)]
    result: list[Sentence] = []
    pending: tuple[tuple[int, Mention], ...] = ()
    start = 0
    for end, following in (*breaks, (len(text), 0)):
        sentence = _sentence(without_openers(text[start:end]), start, clock)
        words = [word.text for word in sentence.words]
        if not any(map(str.isalnum, words)):
            # A time that stands alone ("Frame 4: ...") belongs to the sentence after it.
            pending += tuple((0, moment) for _, moment in sentence.moments)
        elif not _ANSWER.fullmatch(text[start:end]) and is_english(words):
            read = Sentence(sentence.words, pending + sentence.moments)
            result += _items(read) or [read]
            pending = ()
        start = following
    return result


def _items(sentence: Sentence) -> list[Sentence]:
    """The things of a list without a verb ("sink, stove, fridge"), as sentences: "There is sink".

    In a row of bare nouns a parser takes one for a verb. [] of any other sentence.
    """
    items: list[list[ShownWord]] = [[]]
    for word in sentence.words:
        if word.name in {",", "and", "."}:
            items.append([])
        else:
            items[-1].append(word)
    named = list(filter(None, items))
    if len(named) < 2 or not all(map(_is_name, named)):
        return []
    if all(words[-1].name in VERBS for words in named):
        return []
    moments = tuple((0, moment) for _, moment in sentence.moments)
    result = []
    for words in named:
        start = words[0].start
        shown = [
            ShownWord(word, word.lower(), start, start) for word in ("There", "is")
        ]
        result.append(Sentence((*shown, *words), moments))
    return result


def _is_name(words: list[ShownWord]) -> bool:
    """Whether some words can only name a thing."""
    names = [word.name for word in words]
    if len(names) > LONGEST_NAME or not all(name.isalnum() for name in names):
        return False
    first, *others = names
    begins = first in WORDS.beginning_names or first in NUMBERS or first.isdecimal()
    nouns = others if begins else names
    # a quality alone names nothing
    if not nouns or nouns[-1] in WORDS.adjectives | WORDS.states | WORDS.colours:
        return False
    # "sink" names a thing, "sinks in" and "take eggs" do not
    _, tag = VERBS.get(nouns[0], ("", "VB"))
    is_verb = tag != "VB" if len(nouns) == 1 else not VERBS.keys().isdisjoint(nouns)
    return not is_verb and WORDS.outside_names.isdisjoint(nouns)


def without_openers(text: str) -> str:
    """The sentence with blanks in place of "It is worth noting that", "Well," and the like."""
    while match := _OPENER.match(text):
        text = " " * match.end() + text[match.end() :]
        if not text.strip():
            break
    return text


def is_english(words: list[str]) -> bool:
    """Whether words read as English: every short line of plain letters, and a longer one with a
    sixth of common English words."""
    plain = list(map(str.lower, filter(str.isalpha, words)))
    # A parser finds nouns and verbs in any text: other languages and noise are kept from it.
    if not plain or max(map(len, plain)) > LONGEST_WORD or len(words) > LONGEST:
        return False
    if sum(map(str.isascii, plain)) < 0.8 * len(plain):
        return False
    known = ENGLISH | WORDS.colours
    common = sum(map(known.__contains__, plain))
    # "in" and "a" are words of other languages too, but hardly ever side by side.
    common += list(pairwise(plain)).count(("in", "a"))
    return 6 * common >= len(plain) or len(plain) <= 3


def _sentence(text: str, offset: int, clock: Clock) -> Sentence:
    words: list[ShownWord] = []
    moments = []
    start = 0
    for mention in mentions(text, clock):
        words += _shown_words(text, start, mention.start, offset)
        moments.append((len(words), mention))
        start = mention.end
        if not words or words[-1].text == ",":  # the comma after "At the beginning"
            start = re.compile(r"\s*,?").match(text, start).end()  # type: ignore[union-attr]
    words += _shown_words(text, start, len(text), offset)
    return Sentence(tuple(words), tuple(moments))


def _shown_words(text: str, start: int, end: int, offset: int) -> Iterator[ShownWord]:
    for match in _PLAIN.finditer(text, start, end):
        if match[0].lower().endswith(("left", "right")) and _MOVING.search(
            text[: match.start()]
        ):
            continue  # "moves to the right" goes there, and is not there
        yield from _words(text, start, match.start(), offset)
        # The group of a whole substitution closes last.
        _, shown, name = _SUBSTITUTIONS[int((match.lastgroup or "")[1:])]
        side = next((match[group].lower() for group in "abcde" if match[group]), "")
        for index, word in enumerate(shown.split()):
            named = word if index else name.format(side)
            yield ShownWord(word, named, offset + match.start(), offset + match.end())
        start = match.end()
    yield from _words(text, start, end, offset)


def _words(text: str, start: int, end: int, offset: int) -> Iterator[ShownWord]:
    for match in _WORD.finditer(text, start, end):
        word = re.sub(_QUOTE, "'", match[0])
        yield ShownWord(
            word, word.lower(), offset + match.start(), offset + match.end()
        )
