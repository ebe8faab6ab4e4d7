"""Everybody's plugins: the table that ships with the core, and a newer one when asked for.

`plugins.csv` has a line for each: kind, name, dist, what it finds or does. Whoever wrote a plugin
adds the line (docs/install.md). To be listed is not to be looked at by anybody.
"""

import csv
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from io import StringIO

from cuescope_core.errors import UserError

NEWEST = "https://raw.githubusercontent.com/cuescope/cuescope/main/core/src/cuescope/plugins.csv"
COLUMNS = ["kind", "name", "dist", "finds"]
SECONDS = 20.0  # of waiting for each part of a newer table
MOST_BYTES = 2_000_000
# as pip takes it, perhaps with extras: the command to install it will be copied into a shell
_EXTRA = r"[A-Za-z0-9]([\w.-]*[A-Za-z0-9])?"
_DIST = re.compile(rf"{_EXTRA}(\[{_EXTRA}(,{_EXTRA})*\])?", re.ASCII)


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
    return tuple(read_index(text))


def dists_of(kind: str) -> dict[str, str]:
    """Names of the listed plugins of a kind, with the dist that brings each."""
    return {
        listed.name: listed.dist for listed in shipped_index() if listed.kind == kind
    }


def read_index(text: str) -> Iterator[Listed]:
    """The lines of a table; raises UserError for a text that is none.

    A line that nobody could install from is left out: one of a stranger must not hide the others.
    """
    rows = csv.reader(StringIO(text))
    try:
        header = next(rows, [])
        if header != COLUMNS:
            raise UserError(
                "the list of plugins cannot be read",
                expected=f"a table with the columns {', '.join(COLUMNS)}",
                got=", ".join(header)[:100] or "nothing",
            )
        for row in rows:
            if len(row) == len(COLUMNS) and all(row[:3]) and _DIST.fullmatch(row[2]):
                yield Listed(*row)
    except csv.Error as error:
        raise UserError("the list of plugins cannot be read", got=str(error)) from error


def fetch_index(address: str = NEWEST) -> tuple[Listed, ...]:
    """A newer table; raises UserError where it does not arrive."""
    from urllib.error import URLError  # 20 ms, which no other command is to pay
    from urllib.request import Request, urlopen

    request = Request(address, headers={"User-Agent": "cuescope"})
    try:
        with urlopen(request, timeout=SECONDS) as answer:
            content = answer.read(MOST_BYTES + 1)
        text = content.decode("utf-8")
    except (URLError, OSError, ValueError) as error:
        raise UserError(
            f"{address} cannot be read",
            got=str(getattr(error, "reason", error)),
            remedy="Without --newest, the list that came with cuescope is searched",
        ) from error
    if len(content) > MOST_BYTES:
        raise UserError(
            f"{address} is no list of plugins",
            expected=f"at most {MOST_BYTES:,} bytes",
        )
    return tuple(read_index(text))
