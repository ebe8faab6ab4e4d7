"""From what a model wrote to reasoning steps and an answer (section 3.1 of the paper).

What is malformed is kept and named; JSON may be cut off in the middle.
"""

import json
import re
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from pydantic_core import from_json

from cuescope_sdk import Sample
from cuescope_sdk.language import strip_thinking
from cuescope_sdk.logs import Choices

ARTICLES = {"a", "an", "the"}
# *+ takes all at once: a line of a thousand stars is not tried in every way
_MARKED_ANSWER = re.compile(
    r"^[\W_]*+(?:so[\s,]+|thus[\s,]+|therefore[\s,]+)?(?:the\s+)?(?:final\s+|correct\s+)?answer\b"
    r"[\W_]*?(?:\bis\b|[:=\-\u2013])[\W_]*(?P<answer>.*)$",
    re.IGNORECASE,
)


def marked_answer(line: str) -> str | None:
    """What a line says after "Answer:" or "the answer is"; None for any other line.

    >>> marked_answer("**Final answer:** the red cup."), marked_answer("A cup is the answer to it.")
    ('the red cup.', None)
    """
    match = _MARKED_ANSWER.match(line.strip())
    return match["answer"].strip(" *_`") if match else None


def choice_meant(answer: str, choices: Sequence[str]) -> str | None:
    """The one choice that is meant, by its words or by its letter; None where that is not plain."""
    index = Choices(choices).find(answer)
    return None if index is None else choices[index]


def is_right(answer: str | None, sample: Sample) -> bool | None:
    """Whether an answer is the label, or another accepted one; None where none is known."""
    if sample.label is None:
        return None
    others = map(str, sample.annotations.get("answers", ()))
    accepted = (sample.label, *others)
    return answer is not None and normalize(answer) in map(normalize, accepted)


def normalize(text: str) -> str:
    """Lower case, without punctuation and articles, so that answers compare.

    >>> normalize(" The RED cup. "), normalize("A")
    ('red cup', 'a')
    """
    # An answer that is nothing but articles ("A") keeps them: it may be a letter.
    words = re.sub(r"[^\w\s]|_", " ", text.casefold()).split()
    return " ".join([word for word in words if word not in ARTICLES] or words)


LISTS = ("steps", "beliefs", "states", "reasoning", "trace", "observations")
WORDS = (
    "step",
    "belief",
    "state",
    "text",
    "claim",
    "observation",
    "description",
    "content",
)
ANSWERS = ("answer", "final_answer", "final answer")
_FENCE = re.compile(r"```[a-z]*\s*(.*?)(?:```|\Z)", re.DOTALL | re.IGNORECASE)


@dataclass(frozen=True)
class JsonSteps:
    """The steps of JSON, its answer, the text after it, and whether it could not be read whole."""

    steps: list[str]
    answer: str | None
    rest: str
    broken: bool = False


def read_json_steps(text: str) -> JsonSteps | None:
    """None for a text that holds no JSON with steps.

    Of JSON that breaks off the whole items are taken.
    """
    fence = _FENCE.search(text)
    inner = fence[1] if fence else text
    after = text[fence.end() :] if fence else ""
    # Prose may hold brackets: JSON starts with "[" before an item or "{" before a key.
    start = re.search(r"\[\s*[\[{\"]|\{\s*\"", inner)
    if start is None:
        return None
    broken = False
    try:
        value, end = json.JSONDecoder().raw_decode(inner, start.start())
    except (ValueError, RecursionError):
        broken = True
        end = len(inner)
        try:
            value = from_json(inner[start.start() :], allow_partial=True)
        except ValueError:
            return None
    try:
        steps = list(filter(None, map(_item_words, _step_items(value))))
    # lists and objects in each other, a thousand times
    except RecursionError:
        return None
    if not steps:
        return None
    rest = f"{inner[end:]}\n{after}"
    return JsonSteps(steps, _json_answer(value), rest, broken)


def _step_items(value: Any) -> list[Any]:
    if isinstance(value, list):
        return value
    if not isinstance(value, dict):
        return []
    for key in LISTS:
        if isinstance(value.get(key), list):
            return list(value[key])
    return [value] if _item_words(value) else list(value.values())


def _item_words(item: Any) -> str:
    """An item in words, with its time before it."""
    if isinstance(item, str):
        return item
    if isinstance(item, list):
        return "; ".join(filter(None, map(_item_words, item)))
    if isinstance(item, Mapping):
        for key in WORDS:
            words = _item_words(item.get(key))
            if words:
                return f"{_item_time(item)}{words}"
    return ""


def _item_time(item: Mapping[str, Any]) -> str:
    """ "At frame 3, ", as a person would have written it."""
    match item:
        case {"frame": (int() | str()) as frame}:
            return f"At frame {frame}, "
        case {"time": (int() | float()) as seconds} | {
            "timestamp": (int() | float()) as seconds
        }:
            return f"At {seconds:g} seconds, "
        case {"time": str() as time} | {"timestamp": str() as time}:
            return f"At {time}, "
    return ""


def _json_answer(value: Any) -> str | None:
    if isinstance(value, dict):
        for key in ANSWERS:
            # 0 and false are answers
            if value.get(key) not in (None, ""):
                return str(value[key])
    return None


Form = Literal["numbered", "json", "bullets", "prose", "none"]
_TAGS = re.compile(r"</?think(?:ing)?>", re.IGNORECASE)
_ESCAPES = re.compile(r"\x1b\[[0-9;?]*[ -/]*[@-~]")
_NUMBER = r"(?:step\s*)?(\d{1,4})\s*[.):\-\u2013](?!\d)"
_NUMBERED = re.compile(rf"^[\s#*_]*+{_NUMBER}[\s*_]*(.*)$", re.IGNORECASE)
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
    if not any(map(str.isalnum, body)):
        return Trace(problems=("unreadable",))
    parsed = read_json_steps(body)
    problems = []
    if parsed is not None:
        form: Form = "json"
        steps = parsed.steps
        _, answer = _split_answer(parsed.rest)
        # a field that is called the answer is surer than what follows the JSON
        answer = parsed.answer or answer
        if parsed.broken:
            problems.append("broken JSON")
    else:
        rest, answer = _split_answer(body)
        form, steps = _form_and_steps(rest)
    # Natural prose ends with its answer and does not mark it.
    if answer is None and form == "prose":
        answer = _concluding_answer(steps, choices)
    choice = choice_meant(answer, choices) if choices and answer is not None else answer
    if len(steps) > most:
        problems.append("too many steps")
    if answer is not None and choice is None:
        problems.append("answer is none of the choices")
    if answer is None:
        problems.append("no answer")
        # who has come to an answer was not cut off
        if not body.endswith(ENDS):
            problems.append("cut")
    # marks of bold type and code are no words of a step
    bare = [re.sub(r"\*\*|__|`", "", step) for step in steps[:most]]
    joined = [" ".join(step.split()) for step in bare]
    kept = tuple(filter(None, joined))
    said = choice or answer or None
    return Trace(kept, said, form if kept else "none", tuple(problems))


def without_controls(text: str) -> str:
    """Without terminal escapes and control characters, but for line ends; NFC."""
    # an accent may be a character of its own, or one with its letter
    text = _ESCAPES.sub("", unicodedata.normalize("NFC", text))
    text = re.sub(r"\r\n?|[\u2028\u2029\x0b\x0c]", "\n", text)
    hidden = {c for c in set(text) if unicodedata.category(c) in ("Cc", "Cf", "Cs")}
    table = dict.fromkeys(map(ord, hidden - {"\n", "\t"}))
    return text.translate(table).strip()


def _split_answer(text: str) -> tuple[str, str | None]:
    """The text without its last line that marks an answer, nor what follows it; and that answer."""
    lines = text.splitlines()
    last = lines[-1] if lines else ""
    if not marked_answer(_without_number(last)) and (match := _CLOSING.search(last)):
        start = match.start()
        lines[-1:] = [last[:start], last[start:].strip()]
    following = ""
    # From the end: models repeat the word "answer" while they reason.
    while lines:
        line = lines.pop()
        answer = marked_answer(_without_number(line))
        if answer is not None:
            # "Answer:" alone: it stands on the next line
            first = re.split(r"(?<=[.!?])\s+", answer or following, maxsplit=1)[0]
            return "\n".join(lines), first.strip(" .*_`\"'") or None
        following = line.strip()
    return text, None


def _form_and_steps(text: str) -> tuple[Form, list[str]]:
    lines = text.splitlines()
    # first, for a numbered step may have bullets within
    if numbered := _list_items(lines, _NUMBERED):
        return "numbered", numbered
    if bullets := _list_items(lines, _BULLET):
        return "bullets", bullets
    if inline := _inline_items(text):
        return "numbered", inline
    return "prose", list(filter(str.strip, _SENTENCE.split(text)))


def _list_items(lines: Sequence[str], pattern: re.Pattern[str]) -> list[str]:
    """The items of a list with the lines that continue them; what stands before it is no step.

    Several items within one line are split by `_inline_items`.
    """
    parts = []
    for line in lines:
        if match := pattern.match(line):
            parts.append([match.groups()[-1]])
        elif parts and line.strip():
            parts[-1].append(_without_number(line).strip())
    # joined at the end: to add line after line would copy the item each time
    items = list(map(" ".join, parts))
    several = _inline_items("\n".join(lines)) if len(items) == 1 else []
    return several or items


def _inline_items(text: str) -> list[str]:
    """ "1. one 2. two 3. three" in one paragraph: numbers that count up from 1."""
    # Counting up from 1 tells item numbers from others: "there are 2. Or 3.5 of them".
    marks = []
    expected = 1
    for match in _INLINE.finditer(text):
        if int(match[1]) == expected:
            marks.append(match)
            expected += 1
    if len(marks) < 2:
        return []
    items = []
    end = len(text)
    for mark in reversed(marks):
        items.append(text[mark.end() : end].strip())
        end = mark.start()
    return items[::-1]


def _concluding_answer(steps: Sequence[str], choices: Sequence[str]) -> str | None:
    """The answer of prose that marks none: its last sentence, where that names one choice.

    One sentence alone is an answer to an open question, and a step as well.
    """
    if not steps:
        return None
    last = marked_answer(steps[-1]) or steps[-1].strip()
    if choices:
        return last if choice_meant(last, choices) else None
    return last.rstrip(".") if len(steps) == 1 else None


def _without_number(line: str) -> str:
    match = _NUMBERED.match(line) or _BULLET.match(line)
    return match.groups()[-1] if match else line
