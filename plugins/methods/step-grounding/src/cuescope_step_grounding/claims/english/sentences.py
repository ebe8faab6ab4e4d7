"""A step as it is read: sentences of words, with moments and wordy prepositions taken out.

A dependency parser reads plain sentences best. So the words that name a moment are set aside, and a
preposition of several words ("to the left of") is shown to it as "behind", under its own name.
"""

import re
import unicodedata
from collections.abc import Iterator, Sequence, Set
from dataclasses import dataclass
from itertools import pairwise

from cuescope_step_grounding.claims.english.lexicon import (
    ENGLISH,
    NUMBERS,
    RELATIONS,
    VERBS,
    WORDS,
    verb_tag,
)
from cuescope_step_grounding.claims.resources import read_toml
from cuescope_step_grounding.claims.times import Clock, Mention, mentions

_REWRITING = read_toml("claims/english/sentences.toml")
LONGEST_WORD = 30  # letters
LONGEST_NAME = 4  # words of a thing in a list
LONGEST = 120  # words of a sentence that are read; a longer one is no sentence

_NOT_WORDS = re.compile(
    r"\A\s*(?:step\s+\d+\s*[-:.)]|\d+[.)]|-)\s"  # the number of a step
    # one that is not closed takes the rest, as in a browser: each would else be looked for anew
    r"|<(script|style)\b.*?(?:</\1>|\Z)|<[^<>]{0,200}>|\x1b\[[\d;]*[A-Za-z]"
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
_WRITTEN = re.compile('["\u201c][^"\u201c\u201d\\s]+\\s[^"\u201d]{1,120}["\u201d]')
_QUOTE = "['\N{RIGHT SINGLE QUOTATION MARK}]"
_WORD = re.compile(
    rf"\d+(?:st|nd|rd|th)\b|\d+(?:[.:]\d+)*|can(?=not\b)|[^\W\d_]+(?=n{_QUOTE}t\b)|n{_QUOTE}t\b"
    rf"|{_QUOTE}(?:s|re|ve|ll|m|d)\b|[^\W\d_]+(?:-[^\W\d_]+)*|[^\w\s]"
)
# The verbs after which a side is a direction.
_SIDED_LEMMAS = WORDS.moving | WORDS.sided | WORDS.turns | WORDS.walks
_SIDED = {form for form, (lemma, _) in VERBS.items() if lemma in _SIDED_LEMMAS}
_SIDED -= {"falls", "fall"}
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


_NO_HEADING = Sentence(())
_VERBS = frozenset({"VB", "VBZ", "VBD", "VBN", "VBG"})


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
    breaks = map(re.Match.span, _BREAK.finditer(text))
    result: list[Sentence] = []
    pending: tuple[tuple[int, Mention], ...] = ()
    heading = _NO_HEADING
    start = 0
    for end, following in (*breaks, (len(text), 0)):
        sentence = _sentence(without_openers(text[start:end]), start, clock)
        words = [word.text for word in sentence.words]
        if not any(map(str.isalnum, words)):
            # A time that stands alone ("Frame 4: ...") belongs to the sentence after it.
            pending += tuple((0, moment) for _, moment in sentence.moments)
        elif not _ANSWER.fullmatch(text[start:end]) and (
            heading.words or is_english(words)
        ):
            read = Sentence(sentence.words, pending + sentence.moments)
            items = _items(read, heading)
            # each of them says where it is, so that the heading has nothing to add
            if items and heading.words:
                result.pop()
            result += items or [read]
            heading = _heading(read)
            pending = ()
        start = following
    return result


def _heading(sentence: Sentence) -> Sentence:
    """The place that a list stands under, "On the desk:", without the colon; else no words."""
    *words, last = sentence.words
    place = len(words) > 1 and words[0].text.lower() in RELATIONS
    if not place or last.text != ":" or not _is_name(words[1:]):
        return _NO_HEADING
    return Sentence(tuple(words), sentence.moments)


def _items(sentence: Sentence, heading: Sentence) -> list[Sentence]:
    """The things of a list without a verb ("sink, stove, fridge"), as sentences: "There is sink".

    Under a heading all of them are there: "There is sink on the left wall". In a row of bare nouns
    a parser takes one for a verb. [] of any other sentence.
    """
    items: list[list[ShownWord]] = [[]]
    for word in sentence.words:
        if word.name in {",", "and", "."}:
            items.append([])
        else:
            items[-1].append(word)
    named = list(filter(None, items))
    # what stands under a place is a thing: "On the stove: pots, pans"
    verbs = _VERBS - {"VBZ"} if heading.words else _VERBS
    fewest = 1 if heading.words else 2
    if len(named) < fewest or not all(_is_name(words, verbs) for words in named):
        return []
    if not heading.words and all(words[-1].name in VERBS for words in named):
        return []
    mentioned = (*heading.moments, *sentence.moments)
    moments = tuple((0, moment) for _, moment in mentioned)
    result = []
    for words in named:
        start = words[0].start
        there = ShownWord("There", "there", start, start)
        verb = ShownWord("is", "is", start, start)
        result.append(Sentence((there, verb, *words, *heading.words), moments))
    return result


def _is_name(words: Sequence[ShownWord], verbs: Set[str] = _VERBS) -> bool:
    """Whether some words can only name a thing; `verbs` are the tags of what names none."""
    names = [word.name for word in words]
    if "of" in names[1:-1]:
        # "a loaf of bread"
        middle = names.index("of")
        parts = (words[:middle], words[middle + 1 :])
        return all(_is_name(part, verbs) for part in parts)
    if len(names) > LONGEST_NAME or not all(map(str.isalnum, names)):
        return False
    first, *others = names
    begins = first in WORDS.beginning_names or first in NUMBERS or first.isdecimal()
    nouns = others if begins else names
    # a quality alone names nothing
    if not nouns or nouns[-1] in WORDS.adjectives | WORDS.states | WORDS.colours:
        return False
    return not _has_verb(nouns, verbs) and WORDS.outside_names.isdisjoint(nouns)


def _has_verb(nouns: list[str], verbs: Set[str]) -> bool:
    """Whether some words are no name: "sink" is one, "sinks in" and "take eggs" are none."""
    *before, last = map(verb_tag, nouns)
    # "cutting board": a board, though one can board a bus
    if not before or before[-1] == "VBG":
        verbs = verbs - {"VB"}
    others = set(before) - {"VBG"}
    return last in verbs or not verbs.isdisjoint(others)


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
    common += list(pairwise(plain)).count(("in", "a")) + words.count("'s")
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
        sided = match[0].lower().endswith(("left", "right"))
        # "moves to the right" goes there, and is not there
        if sided and _MOVING.search(text[: match.start()]):
            continue
        yield from _words(text, start, match.start(), offset)
        # The group of a whole substitution closes last.
        number = int((match.lastgroup or "")[1:])
        _, shown, name = _SUBSTITUTIONS[number]
        full_name = name.format(_side(match))
        place = (offset + match.start(), offset + match.end())
        for index, word in enumerate(shown.split()):
            yield ShownWord(word, word if index else full_name, *place)
        start = match.end()
    yield from _words(text, start, end, offset)


def _side(match: re.Match[str]) -> str:
    """The side that wordy prepositions name; "" where they name none."""
    for group in "abcde":
        if match[group]:
            return match[group].lower()
    return ""


def _words(text: str, start: int, end: int, offset: int) -> Iterator[ShownWord]:
    for match in _WORD.finditer(text, start, end):
        word = re.sub(_QUOTE, "'", match[0])
        yield ShownWord(
            word,
            word.lower(),
            offset + match.start(),
            offset + match.end(),
        )
