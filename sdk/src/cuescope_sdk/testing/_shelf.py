"""Plugins that nobody installed: classes under names, for tests and for checks."""

from collections.abc import Mapping
from functools import cache, cached_property
from typing import Any

from cuescope.registry import Entry, Registry


class PluginShelf(Registry):
    """A registry of the given classes by (kind, name), before the installed plugins if asked."""

    def __init__(self, plugins: Mapping[tuple[str, str], Any], *, installed: bool = False) -> None:
        super().__init__(None if installed else ())
        self._own = {_entry(kind, name, cls): cls for (kind, name), cls in plugins.items()}
        self._loaded.update(self._own)

    @cached_property
    def entries(self) -> tuple[Entry, ...]:
        """The given classes, then what is installed under other names."""
        taken = {(entry.kind, entry.name) for entry in self._own}
        others = [] if self._dists is not None else installed_entries()
        return (*self._own, *(e for e in others if (e.kind, e.name) not in taken))


@cache
def installed_entries() -> tuple[Entry, ...]:
    """What is installed, read once a process."""
    return Registry().entries


def _entry(kind: str, name: str, cls: Any) -> Entry:
    target = f"{cls.__module__}:{cls.__qualname__}"
    return Entry(kind, name, target, dist="not-installed", version="0", summary=cls.__doc__ or "")
