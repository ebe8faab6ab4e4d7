"""JSON that may be a stranger's: what is none is told in one line."""

import json
from typing import Any

from cuescope_core.errors import UserError

SHOWN = 60  # characters of a bad value


def parse_json(text: str | bytes, place: str) -> Any:
    """Parse JSON; raises UserError that begins with `place` for what is none."""
    try:
        return json.loads(text)
    # numbers of thousands of digits are ValueErrors, brackets by the thousand exhaust the stack
    except (ValueError, RecursionError) as error:
        got = "too deep a nesting"
        if isinstance(error, json.JSONDecodeError):
            # "Unterminated string starting at" has the word already
            where = error.msg.removesuffix(" at")
            got = f"{where} at character {error.pos + 1:,}"
        elif isinstance(error, UnicodeDecodeError):
            got = "text that is not UTF-8"
        elif isinstance(error, ValueError):
            got = str(error)[:SHOWN]
        raise UserError(f"{place} is no JSON", got=got) from None


def require_object(value: Any, place: str) -> dict[str, Any]:
    """A JSON object; raises UserError for any other value."""
    if not isinstance(value, dict):
        raise UserError(place, expected="a JSON object", got=f"{value!r:.{SHOWN}}")
    return value
