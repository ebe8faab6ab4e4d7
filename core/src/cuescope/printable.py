"""Strangers' text on a terminal: labels, answers, file names, what servers say."""

import re

# C0 but line end and tab, DEL, C1, and what turns the direction of writing or ends a line unseen
_HIDDEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]"
)


def printable(text: str) -> str:
    r"""The text with its control characters written out, so that a terminal obeys none of them.

    >>> printable("\x1b]0;title\x07 cat")
    '\\x1b]0;title\\x07 cat'
    """
    return _HIDDEN.sub(lambda found: found[0].encode("unicode_escape").decode(), text)


def printable_json(text: str) -> str:
    """The same for JSON, which stays the same JSON: such characters stand in its strings only."""
    return _HIDDEN.sub(lambda found: f"\\u{ord(found[0]):04x}", text)
