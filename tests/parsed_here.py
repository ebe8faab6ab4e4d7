"""Files of strangers parsed in the process of a test, which sees what their parsers do."""

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from cuescope_core.trust import child


class Here(child.Child):
    """No child at all: calls are answered as they come."""

    lives = True

    def __init__(self) -> None:
        self.is_idle = True

    def values(
        self, title: str, call: Callable[..., Iterable[Any]], arguments: tuple[Any, ...]
    ) -> Iterator[Any]:
        yield from call(*arguments)

    def end(self) -> None:
        """Nothing is there to be ended."""


@contextmanager
def parsed_here() -> Iterator[None]:
    """Nothing is sent to a child while the block runs."""
    child.end_children()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(child, "Child", Here)
        yield
    child.end_children()
