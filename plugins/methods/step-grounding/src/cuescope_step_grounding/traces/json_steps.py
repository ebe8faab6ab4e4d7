"""Traces written as JSON: a list of texts or of objects, perhaps cut off in the middle."""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

LISTS = ("steps", "beliefs", "states", "reasoning", "trace", "observations")
WORDS = ("step", "belief", "state", "text", "claim", "observation", "description", "content")
ANSWERS = ("answer", "final_answer", "final answer")
_FENCE = re.compile(r"```[a-z]*\s*(.*?)(?:```|\Z)", re.DOTALL | re.IGNORECASE)
_STRING = re.compile(r'"((?:[^"\\]|\\.)+)"\s*(?=[,\]])')


@dataclass(frozen=True)
class JsonSteps:
    """The steps of JSON, its answer, the text after it, and whether it could not be read whole."""

    steps: list[str]
    answer: str | None
    rest: str
    broken: bool = False


def read_json_steps(text: str) -> JsonSteps | None:
    """None for a text that holds no JSON with steps.

    Of JSON that breaks off, or is wrong in places, the whole items are taken.
    """
    fence = _FENCE.search(text)
    inner, after = (fence[1], text[fence.end() :]) if fence else (text, "")
    # Prose may hold brackets: JSON starts with "[" before an item or "{" before a key.
    start = re.search(r"\[\s*[\[{\"]|\{\s*\"", inner)
    if start is None:
        return None
    try:
        value, end = json.JSONDecoder().raw_decode(inner, start.start())
    except (ValueError, RecursionError):
        return _salvage(inner[start.start() :], after)
    steps = [words for words in map(_item_words, _step_items(value)) if words]
    if not steps:
        return None
    return JsonSteps(steps, _json_answer(value), f"{inner[end:]}\n{after}")


def _step_items(value: Any) -> list[Any]:
    """The list of steps, wherever it stands."""
    if isinstance(value, list):
        return value
    if isinstance(value, dict):
        named = [value[key] for key in LISTS if isinstance(value.get(key), list)]
        return named[0] if named else [value] if _item_words(value) else list(value.values())
    return []


def _item_words(item: Any) -> str:
    """An item in words, with its time before it."""
    if isinstance(item, str):
        return item
    if isinstance(item, list):
        return "; ".join(filter(None, map(_item_words, item)))
    if not isinstance(item, Mapping):
        return ""
    words = next((words for key in WORDS if (words := _item_words(item.get(key)))), "")
    return f"{_item_time(item)}{words}" if words else ""


def _item_time(item: Mapping[str, Any]) -> str:
    """ "At frame 3, ", as a person would have written it."""
    match item:
        case {"frame": (int() | str()) as frame}:
            return f"At frame {frame}, "
        case {"time": (int() | float()) as seconds} | {"timestamp": (int() | float()) as seconds}:
            return f"At {seconds:g} seconds, "
        case {"time": str() as time} | {"timestamp": str() as time}:
            return f"At {time}, "
    return ""


def _json_answer(value: Any) -> str | None:
    if not isinstance(value, dict):
        return None
    answer = next((value[key] for key in ANSWERS if value.get(key) not in (None, "")), None)
    return None if answer is None else str(answer)


def _salvage(text: str, after: str) -> JsonSteps | None:
    """The whole items of broken JSON."""
    steps = [words for item in _objects(text) if (words := _item_words(item))]
    steps = steps or [json.loads(f'"{string}"', strict=False) for string in _STRING.findall(text)]
    rest = after or text.rpartition("]")[2]
    return JsonSteps(steps, None, rest, broken=True) if steps else None


def _objects(text: str) -> Iterator[Any]:
    decoder, position = json.JSONDecoder(), text.find("{")
    while position >= 0:
        try:
            value, end = decoder.raw_decode(text, position)
        except (ValueError, RecursionError):
            position = text.find("{", position + 1)
            continue
        yield value
        position = text.find("{", end)
