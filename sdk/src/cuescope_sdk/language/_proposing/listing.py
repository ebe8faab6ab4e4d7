"""The names in a language model's reply: numbered, with bullets or commas, as JSON, or none."""

import json
import re
from collections.abc import Iterator
from typing import Any

from cuescope_sdk.language._proposing.naming import clean_name
from cuescope_sdk.language._yes_no import strip_thinking

_MARK = re.compile(r"(?:[-*+•·‣◦●○▪■–—・>]\s*|[(\[#]?\d{1,3}\s*[.):\]、|]+\s*|[a-z]\)\s+)+")
_INLINE = re.compile(r"\s+[(\[]?\d{1,2}[.)\]]\s+")
_ASIDE = re.compile(r"\([^)]*\)")
_REMARK = re.compile(r"[:：]|\s[-–—]\s")  # noqa: RUF001
_COMMA = re.compile(r"[,;/，、；،]|\s(?:and|or|&)\s", re.IGNORECASE)  # noqa: RUF001
_AND = re.compile(r"^\s*(?:and|or|&)\s+", re.IGNORECASE)
_JSON_STARTS = re.compile(r"[\[{]")
_MOST_STARTS = 4  # "[note] {here}" before the list


def parse_list(reply: str) -> list[str]:
    """The names in a reply, cleaned, each once, in order; [] where it is prose or says nothing."""
    text = strip_thinking(reply)
    pieces = _of_json(text) or [piece for line in text.splitlines() for piece in _of_line(line)]
    return list(dict.fromkeys(name for piece in pieces if (name := clean_name(piece))))


def _of_json(text: str) -> list[str]:
    """The texts of the first JSON list or object that has any."""
    for start in [found.start() for found in _JSON_STARTS.finditer(text)][:_MOST_STARTS]:
        try:
            found = list(_texts(json.JSONDecoder().raw_decode(text, start)[0]))
        except (ValueError, RecursionError):
            continue
        if found:
            return found
    return []


def _texts(value: Any) -> Iterator[str]:
    """Of a list all that is in it; of an object what its keys hold, in a list its first text."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        for part in value:
            yield from list(_texts(part))[:1] if isinstance(part, dict) else _texts(part)
    elif isinstance(value, dict):
        for part in value.values():
            yield from _texts(part)


def _of_line(line: str) -> list[str]:
    """The pieces of a line between commas; none of a heading, or where most are no names."""
    bare = line.replace("**", "").strip("| \t")
    if not bare or bare.endswith((":", "：")) or re.match(r"#+\s", bare):  # noqa: RUF001
        return []
    marked = _MARK.match(bare)
    bare = _ASIDE.sub(" ", bare[marked.end() :] if marked else bare)
    if not marked and ":" in bare:
        bare = bare.rpartition(":")[2].strip()
        bare = _MARK.sub("", bare, count=1) if _MARK.match(bare) else bare
    pieces = [
        _AND.sub("", piece)
        for item in _INLINE.split(bare)
        for piece in _COMMA.split(_REMARK.split(item, maxsplit=1)[0])
    ]
    told = [piece for piece in pieces if piece.strip()]
    return told if 2 * sum(clean_name(piece) is not None for piece in told) > len(told) else []
