"""A step as it is read: sentences of words, with moments and wordy prepositions taken out.

A dependency parser reads plain sentences best. So the words that name a moment are set aside, and a
preposition of several words ("to the left of") is shown to it as "behind", with its own name.
"""

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass

from cuescope_step_grounding.claims.resources import read_toml
from cuescope_step_grounding.claims.times import Clock, Mention, mentions

_REWRITING = read_toml("claims/english/sentences.toml")
_MOST_WORDS = 120  # of a sentence that is read
_NOT_WORDS = re.compile(
    r"\A\s*(?:step\s+\d+\s*[-:.)]|\d+[.)]|-)\s"  # the number of a step
    # one that is not closed takes the rest, as in a browser: each would else be looked for anew
    r"|<(script|style)\b.*?(?:</\1>|\Z)|<[^<>]{0,200}>|\x1b\[[\d;]*[A-Za-z]"
    r"|[*_`#~|^\\]+|https?://\S+"
    '|["\u201c][^"\u201c\u201d]{1,120}["\u201d]',  # what is written on a sign
    re.DOTALL | re.IGNORECASE,
)
_ANSWER = re.compile(
    r"\W*(?:(?:so|thus|therefore|hence)\W+)?(?:(?:the|my)\W+)?(?:(?:final|correct)\W+)?"
    r"(?:(?:answer|option|choice)\W+(?:is\W+)?)*(?:yes|no|[A-Z])\W*",
    re.IGNORECASE,
)
_BREAK = re.compile(r"(?<=[.!?;:])[\"')\]]*\s+|;|\n+")
_QUOTE = "['\N{RIGHT SINGLE QUOTATION MARK}]"
_WORD = re.compile(
    rf"\d+(?:st|nd|rd|th)\b|\d+(?:[.:]\d+)*|can(?=not\b)|[^\W\d_]+(?=n{_QUOTE}t\b)|n{_QUOTE}t\b"
    rf"|{_QUOTE}(?:s|re|ve|ll|m|d)\b|[^\W\d_]+(?:-[^\W\d_]+)*|[^\w\s]"
)
_PARTS = _REWRITING["parts"]
_SUBSTITUTIONS = _REWRITING["substitutions"]
_WORDY = []
for _number, (_pattern, _, _) in enumerate(_SUBSTITUTIONS):
    _side = _PARTS["side"].format(f"side{_number}")
    _WORDY.append(
        rf"(?P<w{_number}>\b(?:{_pattern.format(**_PARTS | {'side': _side})}))"
    )
_PLAIN = re.compile("|".join(_WORDY), re.IGNORECASE)


@dataclass(frozen=True)
class Sentence:
    """A sentence of a step: `text` as it is said, `words` as the parser is shown them.

    `relations` are the names of words that stand for several, `moments` stand before a word.
    """

    text: str
    words: tuple[str, ...]
    relations: dict[int, str]
    moments: tuple[tuple[int, Mention], ...]


def clean(step: str) -> str:
    """The step without tags, marks and control characters: blanks stand in their place."""
    # of the same length, so that claims can quote the step
    step = _NOT_WORDS.sub(lambda match: " " * len(match[0]), step)
    plain = []
    for character in step:
        kept = character == "\n" or unicodedata.category(character)[0] in "LNPZ"
        plain.append(character if kept else " ")
    return "".join(plain)


def sentences(step: str, clock: Clock) -> list[Sentence]:
    """The sentences of a step, without those that are an answer alone ("yes", "B")."""
    text = clean(step)
    breaks = [match.span() for match in _BREAK.finditer(text)]
    result = []
    pending: tuple[tuple[int, Mention], ...] = ()
    start = 0
    for end, following in (*breaks, (len(text), 0)):
        sentence = _sentence(text[start:end], step[start:end].strip(), clock)
        if not any(map(str.isalnum, sentence.words)):
            # a time that stands alone ("Frame 4: ...") belongs to the sentence after it
            pending += tuple((0, moment) for _, moment in sentence.moments)
        elif (
            not _ANSWER.fullmatch(text[start:end])
            and len(sentence.words) <= _MOST_WORDS
        ):
            moments = pending + sentence.moments
            result.append(
                Sentence(sentence.text, sentence.words, sentence.relations, moments)
            )
            pending = ()
        start = following
    return result


def _sentence(text: str, said: str, clock: Clock) -> Sentence:
    words: list[str] = []
    relations: dict[int, str] = {}
    moments = []
    start = 0
    for mention in mentions(text, clock):
        _read(text[start : mention.start], words, relations)
        moments.append((len(words), mention))
        start = mention.end
        # the comma after "At the beginning"
        if (not words or words[-1] == ",") and text[start:].lstrip().startswith(","):
            start = text.index(",", start) + 1
    _read(text[start:], words, relations)
    return Sentence(said, tuple(words), relations, tuple(moments))


def _read(text: str, words: list[str], relations: dict[int, str]) -> None:
    """Adds the words of a text, and the names of those that stand for several."""
    start = 0
    for match in _PLAIN.finditer(text):
        words += _words(text[start : match.start()])
        # the group of a whole substitution closes last
        number = int((match.lastgroup or "")[1:])
        _, shown, name = _SUBSTITUTIONS[number]
        if name:
            side = match.groupdict().get(f"side{number}") or ""
            relations[len(words)] = name.format(side.lower())
        words += shown.split()
        start = match.end()
    words += _words(text[start:])


def _words(text: str) -> Iterator[str]:
    for match in _WORD.finditer(text):
        yield re.sub(_QUOTE, "'", match[0])
