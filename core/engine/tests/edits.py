"""Edits that the tests define, as any package may."""

from typing import ClassVar

from cuescope_core.types import Edit


class ScaleHeads(Edit):
    """Two fields of unlike kinds, one of them a set."""

    kind: ClassVar[str] = "scale-heads"
    heads: frozenset[str]
    layers: tuple[int, ...] | None = None


class DropTokens(Edit):
    """Another edit with a set."""

    kind: ClassVar[str] = "drop-tokens"
    names: frozenset[str]
