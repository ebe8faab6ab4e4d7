"""Objects of the caller in the place of SPECs: how an audit finds them by name."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol, runtime_checkable

from cuescope_core.capabilities import Capabilities
from cuescope_core.context import Context
from cuescope_core.registry import IN_MEMORY as IN_MEMORY, Entry
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
