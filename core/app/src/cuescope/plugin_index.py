"""Everybody's plugins: the table that ships with the application.

`plugins.csv` has a line for each: kind, name, dist, what it finds or does. Whoever wrote a plugin
adds the line (docs/install.md). To be listed is not to be looked at by anybody.
"""

import csv
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from io import StringIO

from cuescope_core.registry import Entry


@dataclass(frozen=True)
class Listed:
    """A plugin of the table."""

    kind: str
    name: str
    dist: str
    finds: str

    def has(self, words: list[str]) -> bool:
        """True if each word is somewhere in its line."""
        line = " ".join((self.kind, self.name, self.dist, self.finds)).lower()
        return all(word.lower() in line for word in words)


@cache
def shipped_index() -> tuple[Listed, ...]:
    """The plugins that were listed when this cuescope was made."""
    text = files("cuescope").joinpath("plugins.csv").read_text("utf-8")
    return tuple(Listed(**row) for row in csv.DictReader(StringIO(text)))


def dists_of(kind: str) -> dict[str, str]:
    """Names of the listed plugins of a kind, with the dist that brings each."""
    return {
        listed.name: listed.dist for listed in shipped_index() if listed.kind == kind
    }


def description_of(entry: Entry) -> str:
    """What an installed plugin finds or does: its line, and else the summary of its package."""
    for listed in shipped_index():
        key = listed.kind, listed.name, listed.dist.partition("[")[0]
        if key == (entry.kind, entry.name, entry.dist):
            return listed.finds
    return entry.summary
