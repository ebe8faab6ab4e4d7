"""Texts that outlive a process, in a file that survives damage."""

from collections.abc import Iterable, Mapping

from cuescope_core.store import CacheFile


# one store for all that outlives a process: seals, locks and repair once (docs/adr/0014)
class TextCache(CacheFile):
    """Texts by key, such as what a detector found, as JSON."""

    def get(self, keys: Iterable[str]) -> dict[str, str]:
        """The cached ones among `keys`."""
        return {
            key: value.decode(errors="replace")
            for key, value in self.read(keys).items()
        }

    def put(self, texts: Mapping[str, str]) -> None:
        """Keep texts by key."""
        self.write({key: text.encode() for key, text in texts.items()})
