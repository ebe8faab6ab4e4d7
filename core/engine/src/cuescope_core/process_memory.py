"""Values that plugins keep from one audit to the next, as long as the process lives."""

from collections.abc import Callable, Hashable
from typing import Any, TypeVar

T = TypeVar("T")
MOST = 2  # things: what a model remembers of its inputs may be hundreds of megabytes


class ProcessMemory:
    """Things by key, the two used last. What another process gets of it is empty."""

    def __init__(self) -> None:
        self._things: dict[Hashable, Any] = {}

    def recall(self, key: Hashable, make: Callable[[], T]) -> T:
        """Return the value of the key; the first time, what `make` gives."""
        # put behind the others, so that the first is the one that was not used for longest
        thing: T = self._things.pop(key) if key in self._things else make()
        self._things[key] = thing
        while len(self._things) > MOST:
            del self._things[next(iter(self._things))]
        return thing

    def __reduce__(self) -> tuple[type["ProcessMemory"], tuple[()]]:
        return ProcessMemory, ()
