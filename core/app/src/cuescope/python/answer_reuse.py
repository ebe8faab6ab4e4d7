"""Notes on answers that are used again of functions, which are known by their names alone."""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any
from weakref import WeakSet

from cuescope_core.hookspecs import hookimpl
from cuescope_core.in_memory import Held

if TYPE_CHECKING:
    from cuescope_core.auditing import Audit

# of this process: what a function said itself is nothing to tell
_MET: "WeakSet[Any]" = WeakSet()


class Remembered:
    """An observer that says once of each function that answers of its name were there before."""

    def __init__(self, held: Held, announce: Callable[[str], None]) -> None:
        self._held = held
        self._announce = announce
        self._is_asked = False

    @hookimpl
    def responses_progressed(self, audit: "Audit", cached: int) -> None:
        """The first answers are looked up before anything is asked."""
        if self._is_asked:
            return
        self._is_asked = True
        if not _is_met(self._held.function) and cached:
            self._announce(
                f"answers that '{self._held.name}' gave in an earlier call are used again, for "
                "only its name tells one function from another. If its weights have changed, "
                "give it another name (model_name=...)"
            )


def _is_met(function: Any) -> bool:
    """True if it was asked in this process; from now on it was."""
    # a bound method is another object each time; what it belongs to is not
    thing = getattr(function, "__self__", function)
    try:
        is_met = thing in _MET
        _MET.add(thing)
    except TypeError:  # one that no set can hold
        return False
    return is_met


def remembered(
    held: Mapping[str, Held], announce: Callable[[str], None]
) -> list[Remembered]:
    """The observers of functions whose answers are kept."""
    return [
        Remembered(item, announce)
        for item in held.values()
        if item.function is not None and not item.private
    ]
