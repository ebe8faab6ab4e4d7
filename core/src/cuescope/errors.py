"""Errors that a person can mend, told in one line."""

from collections.abc import Iterable
from difflib import get_close_matches

from cuescope.printable import one_line, printable

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
        line = f"{head}. {remedy}" if remedy else head
        # it may quote a stranger's text, and Python prints it as it is
        super().__init__(printable(one_line(line)))


class PluginError(UserError):
    """A plugin broke its contract; the line names the plugin and the reason."""


class BadDataError(UserError):
    """Too much of the data cannot be used."""


class PlanStopped(BaseException):  # no plugin's `except Exception` may catch it
    """Ends a `--plan` before the first work that takes time or money; not an error."""


def reason_of(error: Exception) -> str:
    """Why something failed, in one line: what a person can mend says it all, else with its type."""
    words = " ".join(str(error).split())
    if isinstance(error, UserError):
        return words
    return f"{type(error).__name__}: {words}".rstrip(": ")


def nearest(name: str, known: Iterable[str]) -> str | None:
    """`Did you mean 'x'?` for the known name closest to `name`, None where nothing is close."""
    # a stranger's text: comparing takes the square of its length
    if len(name) > LONGEST_NAME:
        return None
    # short names have few letters in common; of a longer one half of them is chance
    cutoff = 0.5 if len(name) <= SHORT_NAME else 0.6
    close = get_close_matches(name, list(known), n=1, cutoff=cutoff)
    return f"Did you mean '{close[0]}'?" if close else None
