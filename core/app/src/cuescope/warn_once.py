"""Warnings of audits of nearly the same data, each given once."""

import re
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

from cuescope_core.context import ignore

if TYPE_CHECKING:
    from cuescope.runner import Runner

_NUMBER = re.compile(r"\d[\d,.]*")


class WarnOnce:
    """Says a line, of warnings that differ in numbers alone the first one."""

    def __init__(self, say: Callable[[str], None]) -> None:
        self._say = say
        self._said: set[str] = set()

    def __reduce__(self) -> Any:
        # an executor's workers say nothing
        return partial(SimpleNamespace, announce=ignore), ()

    def announce(self, line: str) -> None:
        """Say it, unless it is a warning that was said."""
        if line.startswith("warning: "):
            words = _NUMBER.sub("", line)
            if words in self._said:
                return
            self._said.add(words)
        self._say(line)


def warn_once(runner: "Runner") -> "Runner":
    """The same runner for audits of nearly the same data, as folds are."""
    announce = WarnOnce(runner.context.announce).announce
    return replace(runner, context=replace(runner.context, announce=announce))
