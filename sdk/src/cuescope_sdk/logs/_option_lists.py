"""Options as files write them: lists, texts of lists, a column each, with letters or without."""

import ast
import json
import re
import string
from collections.abc import Mapping, Sequence
from typing import Any

from cuescope_core.plain_json import SHOWN
from cuescope_sdk import UserError

LETTERS = string.ascii_uppercase
# columns that hold all options of a question, as benchmarks and harnesses name them
OPTION_COLUMNS = (
    "options",
    "choices",
    "candidates",
    "option",
    "endings",
    "answer_options",
    "multi-choice options",
    "multiple_choices",
)
EMPTY = "nan"  # an empty cell, as pandas writes it

# of the letters from A to the last: with fewer they are initials
FILLED = 0.8
# "A. red", "(A) red", "A) red", "A: red"
_PREFIX = re.compile(r"\(?([A-Z])[.):]\s*(.*)", re.DOTALL)
# A line an option: "A) red", "A. red", "(A) red". From each place a run of blanks is read once:
# a stranger's prompt may be a megabyte of them.
_LINE = re.compile(r"^[^\S\n]*+\(?([A-Z])[.):]\s++(.*\S)\s*$", re.MULTILINE)
# all in one line: "A: red, B: blue"
_INLINE = re.compile(r"(?:^|[,;\s])\(?([A-Z])[:.)]\s")


def option_letter(index: int) -> str:
    """Return the letter of an option as columns of a workbook are counted: A to Z, then AA."""
    more, last = divmod(index, len(LETTERS))
    return (option_letter(more - 1) if more else "") + LETTERS[last]


def options_in_columns(
    row: Mapping[str, Any], right: str = "", letters: str = LETTERS
) -> tuple[str, ...]:
    """Return the options of the columns A, B, C ...; a blank one before another keeps its place.

    It is named "(blank C)", since the letters of answers count it. Blanks at the end are no
    options, unless the letter `right` is one of them: such a question cannot be answered.
    """
    cells = [plain_text(row.get(letter)) for letter in letters]
    count = len(cells)
    # what is not a lone letter, or a letter without a column, keeps nothing
    stated = letters.find(right) if len(right) == 1 else -1
    least = stated + 1 if stated >= 0 and right in row else 0
    while count > least and cells[count - 1].casefold() in ("", EMPTY):
        count -= 1
    if not any(cell.casefold() not in ("", EMPTY) for cell in cells[:count]):
        return ()
    return tuple(
        cell or f"(blank {letter})"
        for cell, letter in zip(cells[:count], letters, strict=False)
    )


def is_blank(option: str) -> bool:
    """True if `options_in_columns` named a blank cell so."""
    return option.startswith("(blank ")


def list_of_texts(value: Any, place: str) -> list[str]:
    """A list, or a text that has one as JSON or Python writes it; raises UserError for others.

    Nothing in a text is run: it may hold literals alone. None is an empty list.
    """
    if value is None or value == "":
        return []
    if isinstance(value, str):
        value = _list_in_text(value)
    if isinstance(value, dict):  # {"A": "red", "B": "blue"}
        value = _in_order(value)
    if not isinstance(value, list) or not all(
        isinstance(item, str | int | float) for item in value
    ):
        raise UserError(place, expected="a list of options", got=repr(value)[:SHOWN])
    return [plain_text(item) for item in value]


def plain_text(value: Any) -> str:
    """A cell as text, "" where there is none, without space at its ends."""
    text = "" if value is None else str(value)
    # half of a pair, as JSON may escape it, can be written to no file
    return text.encode("utf-8", "replace").decode().strip()


def letters_before(options: Sequence[str]) -> str:
    """The letters before the options, "" where they do not go from A on without many gaps.

    MMR-V has questions whose options go from I to K: the letter counts, and not the place.
    """
    letters = ""
    for option in options:
        match = _PREFIX.fullmatch(option)
        # a letter may be the whole option ("A."), and then there is no text but the letter
        if match is None or not match[2].strip():
            return ""
        letters += match[1]
    # all or none: "A. Lincoln" and "J. Kennedy" are names
    ordered = letters == "".join(sorted(set(letters))) and letters.startswith("A")
    span = LETTERS.index(letters[-1]) + 1 if ordered else 0
    return letters if ordered and len(letters) >= FILLED * span else ""


def without_letters(options: Sequence[str]) -> list[str]:
    """The options without the letters before them, where each begins with its own."""
    if not letters_before(options):
        return list(options)
    return [_PREFIX.sub(r"\2", option).strip() for option in options]


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
    # a lone "A. ..." may be a sentence
    return longest if len(longest) > 1 else []


def split_options(question: str) -> tuple[str, list[str]]:
    """A question and the options that stand in its text, "Options: A: red, B: blue"; else []."""
    # the last one: the question may hold the word itself
    head, mark, tail = question.rpartition("Options:")
    if not mark:
        listed = listed_choices(question)
        first = _LINE.search(question)
        if first and listed:
            question = question[: first.start()].strip()
        return question, listed
    starts: list[re.Match[str]] = []
    for match in _INLINE.finditer(tail):
        if len(starts) < len(LETTERS) and match[1] == LETTERS[len(starts)]:
            starts.append(match)
    if len(starts) < 2:
        return question, []
    # each ends where the next begins
    ends = [*(match.start() for match in starts[1:]), len(tail)]
    options = []
    for match, end in zip(starts, ends, strict=True):
        options.append(tail[match.end() : end].strip(f"{string.whitespace},;"))
    if not all(options):
        return question, []
    return head.strip(), options


def _in_order(options: dict[str, Any]) -> list[Any]:
    # Parquet fills up with nothing what other rows have
    there = {name: text for name, text in options.items() if text is not None}
    texts = there.get("text")
    labels = there.get("label")
    if isinstance(texts, list) and isinstance(labels, list):
        # ARC: {"text": ["red", "blue"], "label": ["A", "B"]}
        return [f"{label}. {text}" for label, text in zip(labels, texts, strict=False)]
    # a letter is the place, in whatever order they are written
    if all(len(name) == 1 and name in LETTERS for name in there):
        return [f"{name}. {there[name]}" for name in sorted(there)]
    return list(there.values())


def _list_in_text(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        pass
    try:
        # LongVideoBench writes a list as Python does: ['it\'s', "run"]
        return ast.literal_eval(text)
    # what `literal_eval` may raise for a text that is long or deeply nested
    except (ValueError, SyntaxError, RecursionError, MemoryError):
        return text
