"""Texts that a language model wrote before, kept in the user's cache by writer and prompt."""

from collections.abc import Iterable, Mapping
from pathlib import Path

from cuescope_sdk import CacheFile, digest

FILE = "texts.sqlite"


class TextMemory:
    """What a text generator of this `fingerprint` wrote; for one whose answers do not vary.

    Each `put` is one transaction, so that a kill loses the batch in flight and no more.
    """

    def __init__(self, fingerprint: str, cache: Path) -> None:
        self._fingerprint = fingerprint
        self._cache = CacheFile(cache / FILE)

    def get(self, prompts: Iterable[str]) -> dict[str, str]:
        """The known texts by prompt."""
        prompt_of = {self._key(prompt): prompt for prompt in prompts}
        texts = self._cache.read(prompt_of)
        return {
            prompt_of[key]: text.decode(errors="replace") for key, text in texts.items()
        }

    def put(self, texts: Mapping[str, str]) -> None:
        """Keep texts by prompt."""
        rows = {self._key(prompt): text.encode() for prompt, text in texts.items()}
        self._cache.write(rows)

    def _key(self, prompt: str) -> str:
        # 1: the version of how a prompt is put
        return digest("text", 1, self._fingerprint, prompt)
