"""Errors that a person can mend, told in one line."""

import re
import sys
from collections.abc import Iterable
from difflib import get_close_matches
from typing import Any

from cuescope_core.printable import one_line, printable

LONGEST_NAME = 200
LONGEST_GOT = 400  # an array or a list of thousands says no more by all of its values
SHORT_NAME = 5


class UserError(Exception):
    """Something the person can mend; the command line prints it as one line and exits with 2.

    `problem` names what is wrong and where; `expected`, `got` and `remedy` complete the line.
    """

    def __init__(
        self,
        problem: str,
        *,
        expected: str | None = None,
        got: str | None = None,
        remedy: str | None = None,
    ) -> None:
        if got and len(got) > LONGEST_GOT:
            got = f"{got[:LONGEST_GOT]} and more"
        contrast = [
            f"{word} {value}"
            for word, value in (("expected", expected), ("got", got))
            if value
        ]
        head = f"{problem}: {', '.join(contrast)}" if contrast else problem
        # what came may end a sentence itself: "Did you mean 'x'?"
        stop = "" if head.endswith(("?", ".", "!")) else "."
        line = f"{head}{stop} {remedy}" if remedy else head
        # it may quote a stranger's text, and Python prints it as it is
        super().__init__(printable(one_line(line)))


class PluginError(UserError):
    """A plugin broke its contract; the line names the plugin and the reason."""


class BadDataError(UserError):
    """Too much of the data cannot be used."""


class PlanStopped(BaseException):  # no plugin's `except Exception` may catch it
    """Ends a `--plan` before the first work that takes time or money; not an error."""


def reason_of(error: BaseException) -> str:
    """Why something failed, in one line: what a person can mend says it all, else with its type."""
    words = " ".join(str(error).split())
    if isinstance(error, UserError):
        return words
    # `cuescope --help` loads no pydantic, and then nothing can have raised it
    pydantic = sys.modules.get("pydantic")
    if pydantic is not None and isinstance(error, pydantic.ValidationError):
        return _first_fault(error)
    return f"{type(error).__name__}: {words}".rstrip(": ")


def _first_fault(error: Any) -> str:
    """The first fault of a checked value, as "Score.value: input should be a number, got 'x'"."""
    first = error.errors(include_url=False)[0]
    # a check of our own says what came; its input is all of the value
    own = first.get("ctx", {}).get("error")
    place = ".".join(map(str, (error.title, *first["loc"])))
    if own is not None:
        return f"{place}: {own}"
    # a place has its lower-case words after it
    words = first["msg"][:1].lower() + first["msg"][1:]
    if first["type"] == "missing":
        return f"{place}: {words}"
    line = f"{place}: {words}, got {first['input']!r:.60}"
    if first["type"] != "literal_error":
        return line
    hint = nearest(str(first["input"]), re.findall(r"'([^']*)'", first["msg"]))
    return f"{line}. {hint}" if hint else line


def with_article(noun: str) -> str:
    """`an int`, `a list`, for what a person handed over; `None` needs none."""
    if noun in ("None", "NoneType"):
        return "None"
    return f"{'an' if noun[:1].lower() in 'aeiou' else 'a'} {noun}"


def nearest(name: str, known: Iterable[str]) -> str | None:
    """`Did you mean 'x'?` for the known name closest to `name`, None where nothing is close."""
    # a stranger's text: comparing takes the square of its length
    if len(name) > LONGEST_NAME:
        return None
    # short names have few letters in common; of a longer one half of them is chance
    cutoff = 0.5 if len(name) <= SHORT_NAME else 0.6
    close = get_close_matches(name, list(known), n=1, cutoff=cutoff)
    return f"Did you mean '{close[0]}'?" if close else None
