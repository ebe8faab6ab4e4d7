"""Which choice an answer in words means, as harnesses read it, and None where it means none."""

import re
import string
from collections.abc import Sequence

from cuescope_sdk.language import parse_yes_no, strip_thinking

LETTERS = string.ascii_uppercase
MOST_SAID = 100_000  # characters that are searched: the end of an answer has the choice
_LETTER = re.compile(r"\W{0,4}(?:option\s)?\W{0,2}([A-Z])\W{0,4}", re.IGNORECASE)
# "A. red", "(A) red", "A: red", "option A": never the article of "A cat"
_LEADING = re.compile(r"\W{0,4}(?:option\s+)?\(?([A-Z])(?:[.:)]|\s*$)", re.IGNORECASE)
_STATED = re.compile(
    r"\b(?:answer|choice|option)\s*(?:is|:|=|-)*\s*(?:option\s*)?\W{0,4}([A-Z])\b(?!\s+[a-z])",
    re.IGNORECASE,
)
_BOXED = re.compile(r"\\boxed\{\W{0,9}(?:text\{)?([A-Z])\W{0,3}\}", re.IGNORECASE)
# a line an option: "A) red", "A. red", "(A) red"
_LINE = re.compile(r"^\s*\(?([A-Z])[.):]\s+(.*\S)\s*$", re.MULTILINE)
_INLINE = re.compile(r"(?:^|[,;\n]\s*|\s)\(?([A-Z])[:.)]\s")


def letter_index(text: str, count: int) -> int | None:
    """The number of a lone letter, "B" or "(b)."; None for other texts and letters behind them."""
    match = _LETTER.fullmatch(text)
    index = LETTERS.index(match[1].upper()) if match else count
    return index if index < count else None


def choice_index(text: str, choices: Sequence[str]) -> int | None:
    """Which choice a text is, by its words or else by its letter; case and ends do not matter."""
    plain = _plain(text)
    for index, choice in enumerate(choices):
        if _plain(choice) == plain:
            return index
    return letter_index(text, len(choices))


def find_choice(said: str, choices: Sequence[str]) -> int | None:
    """Which choice an answer in words means; None where it names none, or several."""
    text = strip_thinking(said)[-MOST_SAID:].strip()
    if not text or not choices:
        return None
    # a letter first: options may be letters themselves, "A: d, B: b", and harnesses ask for theirs
    for read in (letter_index(text, len(choices)), choice_index(text, choices)):
        if read is not None:
            return read
    by_letter = [_LEADING.match(text), *_last(_STATED, text), *_last(_BOXED, text)]
    for match in by_letter:
        if match and LETTERS.index(match[1].upper()) < len(choices):
            return LETTERS.index(match[1].upper())
    plain = {_plain(choice): number for number, choice in enumerate(choices)}
    if plain.keys() == {"yes", "no"}:
        yes = parse_yes_no(text)
        return None if yes is None else plain["yes" if yes else "no"]
    return _only_named(text, choices)


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


def listed_choices(prompt: str) -> list[str]:
    """The options that a prompt lists, a line each behind A, B, C ...; [] where it lists none."""
    run: list[str] = []
    longest: list[str] = []
    for match in _LINE.finditer(prompt):
        # a list starts anew at each A: examples stand before the question
        if match[1].upper() == "A":
            run = []
        if len(run) < len(LETTERS) and match[1].upper() == LETTERS[len(run)]:
            run.append(match[2])
            longest = list(run)
    return longest if len(longest) > 1 else []


def split_options(question: str) -> tuple[str, list[str]]:
    """A question and the options that stand in its text, "Options: A: red, B: blue"; else []."""
    head, mark, tail = question.rpartition("Options:")
    if not mark:
        listed = listed_choices(question)
        first = _LINE.search(question)
        return (question[: first.start()].strip() if first and listed else question), (
            listed
        )
    starts: list[re.Match[str]] = []
    for match in _INLINE.finditer(tail):
        if len(starts) < len(LETTERS) and match[1] == LETTERS[len(starts)]:
            starts.append(match)
    options = []
    for number, match in enumerate(starts):
        end = starts[number + 1].start() if number + 1 < len(starts) else len(tail)
        options.append(tail[match.end() : end].strip(" \n,;."))
    if len(options) < 2 or not all(options):
        return question, []
    return head.strip(), options


def _plain(text: str) -> str:
    return " ".join(text.casefold().split()).strip(" .!\"'`*")


def _words(text: str) -> str:
    return " ".join(re.findall(r"\w+", text.casefold()))
