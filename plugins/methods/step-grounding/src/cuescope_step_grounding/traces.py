"""From what a model wrote to reasoning steps and an answer; what is malformed is kept and named."""

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from cuescope_sdk.language import strip_thinking
from cuescope_step_grounding.answers import chosen, marked
from cuescope_step_grounding.structured import structured

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
    written = cleaned(text or "")
    body = cleaned(strip_thinking(written)) or _TAGS.sub(" ", written).strip()
    if not body:
        return Trace(problems=("empty",))
    if not any(letter.isalnum() for letter in body):
        return Trace(problems=("unreadable",))
    parsed = structured(body)
    if parsed is not None:
        form: Form = "json"
        rest, said = _answered(parsed.rest)
        steps, said = parsed.steps, parsed.answer or said
        problems = ["broken JSON"] if parsed.broken else []
    else:
        rest, said = _answered(body)
        form, steps = _steps(rest)
        problems = []
    if said is None and form == "prose":
        said, steps = _concluded(steps, choices)
    meant = chosen(said, choices) if choices and said is not None else said
    if len(steps) > most:
        problems.append("too many steps")
    if said is not None and meant is None:
        problems.append("answer is none of the choices")
    if said is None:
        problems.append("no answer")
        if not body.endswith(ENDS):
            problems.append("cut")
    kept = tuple(step for step in (_tidy(step) for step in steps[:most]) if step)
    return Trace(kept, meant or said or None, form if kept else "none", tuple(problems))


def cleaned(text: str) -> str:
    """Without terminal escapes and control characters, but for line ends; NFC."""
    text = _ESCAPES.sub("", unicodedata.normalize("NFC", text))
    text = re.sub(r"\r\n?|[\u2028\u2029\x0b\x0c]", "\n", text)
    kept = (c for c in text if c in "\n\t" or unicodedata.category(c) not in ("Cc", "Cf", "Cs"))
    return "".join(kept).strip()


def _answered(text: str) -> tuple[str, str | None]:
    """The text without its last line that marks an answer, nor what follows it; and that answer."""
    lines = text.splitlines()
    if lines and not marked(_unlisted(lines[-1])) and (found := _CLOSING.search(lines[-1])):
        lines[-1:] = [lines[-1][: found.start()], lines[-1][found.start() :].strip()]
    for place in reversed(range(len(lines))):
        said = marked(_unlisted(lines[place]))
        if said is None:
            continue
        if not said and place + 1 < len(lines):
            said = lines[place + 1].strip()
        return "\n".join(lines[:place]), _first_sentence(said) or None
    return text, None


def _steps(text: str) -> tuple[Form, list[str]]:
    lines = text.splitlines()
    for form, pattern in (("numbered", _NUMBERED), ("bullets", _BULLET)):
        found = _listed(lines, pattern)
        if found:
            return ("numbered" if form == "numbered" else "bullets"), found
    if inline := _inline(text):
        return "numbered", inline
    return "prose", [sentence for sentence in _SENTENCE.split(text) if sentence.strip()]


def _listed(lines: Sequence[str], pattern: re.Pattern[str]) -> list[str]:
    """The items of a list with the lines that continue them; what stands before it is no step.

    Several items within one line are told apart by `_inline`.
    """
    items: list[str] = []
    for line in lines:
        if found := pattern.match(line):
            items.append(found.groups()[-1])
        elif items and line.strip():
            items[-1] += f" {_unlisted(line).strip()}"
    if len(items) == 1 and (several := _inline("\n".join(lines))):
        return several
    return items


def _inline(text: str) -> list[str]:
    """ "1. one 2. two 3. three" in one paragraph: numbers that count up from 1."""
    marks, wanted = [], 1
    for found in _INLINE.finditer(text):
        if int(found[1]) == wanted:
            marks.append(found)
            wanted += 1
    if len(marks) < 2:
        return []
    ends = [mark.start() for mark in marks[1:]] + [len(text)]
    return [text[mark.end() : end].strip() for mark, end in zip(marks, ends, strict=True)]


def _concluded(steps: list[str], choices: Sequence[str]) -> tuple[str | None, list[str]]:
    """The answer of prose that marks none: its last sentence, where that names one choice.

    One sentence alone is an answer to an open question, and a step as well.
    """
    if not steps:
        return None, steps
    last = marked(steps[-1]) or steps[-1].strip()
    if choices:
        return (last if chosen(last, choices) else None), steps
    return (last.rstrip(".") if len(steps) == 1 else None), steps


def _unlisted(line: str) -> str:
    """A line without its number or bullet."""
    found = _NUMBERED.match(line) or _BULLET.match(line)
    return found.groups()[-1] if found else line


def _first_sentence(text: str) -> str:
    """What is said first, without the full stop."""
    return re.split(r"(?<=[.!?])\s+", text.strip(), maxsplit=1)[0].strip(" .*_`\"'")


def _tidy(step: str) -> str:
    """On one line, without the marks of markdown."""
    return " ".join(re.sub(r"\*\*|__|`", "", step).split())
