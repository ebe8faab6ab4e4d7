"""A command that Python calls: what it takes from the caller, and what it gives back.

A command opens a registry, a runner and a request, and shows a report. Called from a terminal it
finds plugins alone and prints; called from Python it finds the caller's objects too, and what it
would print is handed over. So each command is written once (docs/adr/0039).
"""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from cuescope.conclusions import Report
    from cuescope.registry import Registry
    from cuescope.request import Request
    from cuescope.runner import Runner


@dataclass
class Call:
    """A call of a command; Python subclasses it. `report`, `folder`, `json` are what it showed."""

    registry: "Registry"
    report: "Report | None" = None
    folder: Path | None = None
    json: str | None = None
    lines: list[str] = field(default_factory=list)

    def runner(self, **words: Any) -> "Runner":
        """What runs requests; the words are those of `open_runner`."""
        raise NotImplementedError

    def request(self, request: "Request") -> "Request":
        """The request, which says where it names an object of the caller."""
        raise NotImplementedError


# a context variable: two threads of a notebook must not see each other's call
_CALL: ContextVar[Call | None] = ContextVar("cuescope_call", default=None)


def current_call() -> Call | None:
    """The call that is under way; None where a terminal is asked."""
    return _CALL.get()


@contextmanager
def calling(call: Call) -> Iterator[Call]:
    """Commands within are this call's."""
    token = _CALL.set(call)
    try:
        yield call
    finally:
        _CALL.reset(token)


def open_registry() -> "Registry":
    """What is installed, and what a caller from Python holds."""
    from cuescope.registry import Registry

    call = current_call()
    return Registry() if call is None else call.registry


def as_asked(request: "Request") -> "Request":
    """The request of this command line, or of a caller from Python."""
    call = current_call()
    return request if call is None else call.request(request)
