"""From what a model wrote to reasoning steps and an answer; what is malformed is kept and named."""

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from cuescope_sdk.language import strip_thinking
from cuescope_step_grounding.traces.answers import choice_meant, marked_answer
from cuescope_step_grounding.traces.json_steps import read_json_steps

Form = Literal["numbered", "json", "bullets", "prose", "none"]
_TAGS = re.compile(r"</?think(?:ing)?>", re.IGNORECASE)
_ESCAPES = re.compile(r"\x1b\[[0-9;?]*[ -/]*[@-~]")
_NUMBER = r"(?:step\s*)?(\d{1,4})\s*[.):\-\u2013](?!\d)"
_NUMBERED = re.compile(rf"^[\s#*_]*{_NUMBER}[\s*_]*(.*)$", re.IGNORECASE)
_INLINE = re.compile(rf"(?:^|(?<=\s)){_NUMBER}(?=\s)", re.IGNORECASE)
_BULLET = re.compile(r"^\s*[-*\u2022\u2013\u25cf]\s+(.*)$")
_CLOSING = re.compile(
    r"(?:(?<=[.!?;])|^)\s*[*_]*(?:so,?\s+|therefore,?\s+)?(?:the\s+)?(?:final\s+)?answer[*_]*\s*[:=]",
    re.IGNORECASE,
)
_SENTENCE = re.compile(r"(?<=[.!?\u3002])[\s\"')\]]+|\n+")
ENDS = (".", "!", "?", "\u3002", '"', "'", ")", "]", "}", "*", "`", "\u201d")


@dataclass(frozen=True)
class Trace:
    """The steps of a reasoning trace, its answer, the form they were written in, and problems.

    A problem is one of "empty", "broken JSON", "cut", "no answer", "answer is none of the choices",
    "too many steps", "unreadable".
    """

    steps: tuple[str, ...] = ()
    answer: str | None = None
    form: Form = "none"
    problems: tuple[str, ...] = ()


def read_trace(text: str | None, choices: Sequence[str] = (), most: int = 64) -> Trace:
    """The steps of a numbered list, JSON, a bulleted list, or else the sentences, at most `most`.

    With choices the answer is one of them, or what was said where none is plainly meant. Control
    characters are dropped; text between think tags counts only where nothing else was written.
    """
    written = without_controls(text or "")
    # A model that was cut off while thinking has written nothing else: then the thoughts count.
    body = without_controls(strip_thinking(written)) or _TAGS.sub(" ", written).strip()
    if not body:
        return Trace(problems=("empty",))
    if not any(letter.isalnum() for letter in body):
        return Trace(problems=("unreadable",))
    parsed = read_json_steps(body)
    if parsed is not None:
        form: Form = "json"
        rest, answer = _split_answer(parsed.rest)
        steps, answer = parsed.steps, parsed.answer or answer
        problems = ["broken JSON"] if parsed.broken else []
    else:
        rest, answer = _split_answer(body)
        form, steps = _form_and_steps(rest)
        problems = []
    # Natural prose ends with its answer and does not mark it.
    if answer is None and form == "prose":
        answer, steps = _concluding_answer(steps, choices)
    choice = choice_meant(answer, choices) if choices and answer is not None else answer
    if len(steps) > most:
        problems.append("too many steps")
    if answer is not None and choice is None:
        problems.append("answer is none of the choices")
    if answer is None:
        problems.append("no answer")
        if not body.endswith(ENDS):
            problems.append("cut")
    kept = tuple(step for step in (_without_markdown(step) for step in steps[:most]) if step)
    return Trace(kept, choice or answer or None, form if kept else "none", tuple(problems))


def without_controls(text: str) -> str:
    """Without terminal escapes and control characters, but for line ends; NFC."""
    text = _ESCAPES.sub("", unicodedata.normalize("NFC", text))
    text = re.sub(r"\r\n?|[\u2028\u2029\x0b\x0c]", "\n", text)
    kept = (c for c in text if c in "\n\t" or unicodedata.category(c) not in ("Cc", "Cf", "Cs"))
    return "".join(kept).strip()


def _split_answer(text: str) -> tuple[str, str | None]:
    """The text without its last line that marks an answer, nor what follows it; and that answer."""
    lines = text.splitlines()
    last = lines[-1] if lines else ""
    if not marked_answer(_without_number(last)) and (match := _CLOSING.search(last)):
        lines[-1:] = [lines[-1][: match.start()], lines[-1][match.start() :].strip()]
    # From the end: models repeat the word "answer" while they reason.
    for index in reversed(range(len(lines))):
        answer = marked_answer(_without_number(lines[index]))
        if answer is None:
            continue
        if not answer and index + 1 < len(lines):
            answer = lines[index + 1].strip()
        return "\n".join(lines[:index]), _first_sentence(answer) or None
    return text, None


def _form_and_steps(text: str) -> tuple[Form, list[str]]:
    lines = text.splitlines()
    for form, pattern in (("numbered", _NUMBERED), ("bullets", _BULLET)):
        items = _list_items(lines, pattern)
        if items:
            return ("numbered" if form == "numbered" else "bullets"), items
    if inline := _inline_items(text):
        return "numbered", inline
    return "prose", [sentence for sentence in _SENTENCE.split(text) if sentence.strip()]


def _list_items(lines: Sequence[str], pattern: re.Pattern[str]) -> list[str]:
    """The items of a list with the lines that continue them; what stands before it is no step.

    Several items within one line are split by `_inline_items`.
    """
    items: list[str] = []
    for line in lines:
        if match := pattern.match(line):
            items.append(match.groups()[-1])
        elif items and line.strip():
            items[-1] += f" {_without_number(line).strip()}"
    if len(items) == 1 and (several := _inline_items("\n".join(lines))):
        return several
    return items


def _inline_items(text: str) -> list[str]:
    """ "1. one 2. two 3. three" in one paragraph: numbers that count up from 1."""
    # Counting up from 1 tells item numbers from others: "there are 2. Or 3.5 of them".
    marks, expected = [], 1
    for match in _INLINE.finditer(text):
        if int(match[1]) == expected:
            marks.append(match)
            expected += 1
    if len(marks) < 2:
        return []
    ends = [mark.start() for mark in marks[1:]] + [len(text)]
    return [text[mark.end() : end].strip() for mark, end in zip(marks, ends, strict=True)]


def _concluding_answer(steps: list[str], choices: Sequence[str]) -> tuple[str | None, list[str]]:
    """The answer of prose that marks none: its last sentence, where that names one choice.

    One sentence alone is an answer to an open question, and a step as well.
    """
    if not steps:
        return None, steps
    last = marked_answer(steps[-1]) or steps[-1].strip()
    if choices:
        return (last if choice_meant(last, choices) else None), steps
    return (last.rstrip(".") if len(steps) == 1 else None), steps


def _without_number(line: str) -> str:
    """A line without its number or bullet."""
    match = _NUMBERED.match(line) or _BULLET.match(line)
    return match.groups()[-1] if match else line


def _first_sentence(text: str) -> str:
    """What is said first, without the full stop."""
    return re.split(r"(?<=[.!?])\s+", text.strip(), maxsplit=1)[0].strip(" .*_`\"'")


def _without_markdown(step: str) -> str:
    """On one line, without the marks of markdown."""
    return " ".join(re.sub(r"\*\*|__|`", "", step).split())
