"""Objects of the caller in the place of SPECs: how an audit finds them by name."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol, runtime_checkable

from cuescope_core.capabilities import Capabilities
from cuescope_core.context import Context
from cuescope_core.registry import IN_MEMORY as IN_MEMORY, Entry, Registry
from cuescope_core.types import Options


@runtime_checkable
class TakesObjects(Protocol):
    """A model plugin that also answers with a model that the caller holds in memory.

    Its class has both functions: `cuescope.audit(..., model=item)` asks each installed one.
    """

    @classmethod
    def takes(cls, item: object) -> bool:
        """True if `item` is a model of this plugin's kind, or one with what belongs to it.

        Imports nothing heavy: a library that nobody has imported can have made no object
        (`sys.modules.get("torch")`).
        """
        ...

    @classmethod
    def from_object(cls, item: Any, options: Any, context: Context) -> Any:
        """The model. Its `fingerprint` digests weights and preprocessing as they are now.

        Raises UserError where something is missing, a tokenizer for example.
        """
        ...


@dataclass(frozen=True)
class Held:
    """Stand-in of an object in the registry: `build` gives the plugin, as a class would.

    `fingerprint` is known before the audit: the run's folder is named after it. `private` answers
    cannot be told from another object's, and are not kept. A `function` is known by its name alone.
    """

    kind: str
    name: str
    build: Callable[[Context], Any]
    fingerprint: str
    dist: str = IN_MEMORY
    version: str = "0"
    capabilities: Capabilities | None = None
    private: bool = False
    function: Callable[..., Any] | None = None
    Options: ClassVar[type[Options]] = Options

    def __call__(self, options: object, context: Context) -> Any:
        # no use for options: the object has taken its own already
        return self.build(context)

    @property
    def entry(self) -> Entry:
        """As the metadata of a package would describe it."""
        return Entry(
            self.kind,
            self.name,
            IN_MEMORY,
            self.dist,
            self.version,
            summary="",
        )


class HeldRegistry(Registry):
    """The installed plugins, and before them the objects of the caller."""

    # its own entries are never listed: an object is found by name, and by this call alone
    def __init__(self, installed: Registry, held: Mapping[str, Held]) -> None:
        super().__init__()
        self._installed = installed
        self._held = {item.entry: item for item in held.values()}

    @property
    def entries(self) -> tuple[Entry, ...]:
        """The installed plugins: an object is no advice for another audit."""
        return self._installed.entries

    def find(self, kind: str, name: str) -> Entry:
        """The object of this name, else the plugin; raises UserError with the nearest name."""
        # before what is installed: an object may be called as a plugin is
        for entry in self._held:
            if (entry.kind, entry.name) == (kind, name):
                return entry
        return self._installed.find(kind, name)

    def load(self, entry: Entry) -> Any:
        """Load the stand-in of an object, else what the entry point names."""
        return self._held.get(entry) or self._installed.load(entry)

    def check(self, entry: Entry) -> Any:
        """Check a plugin; an object has no problem."""
        return None if entry in self._held else self._installed.check(entry)


# a folder is named after it, and a report shows it
def name_of(text: str) -> str:
    """A text as a name: no colons, for those part a SPEC, and nothing that a folder cannot have."""
    return re.sub(r"[^\w.-]+", "-", text).strip("-.") or "unnamed"
