"""How often each method finds something where there is nothing, row by row; and what is planted.

    python benchmarks/nulls/rows.py --audits 1000
    python benchmarks/nulls/rows.py --audits 100 --planted
    python benchmarks/nulls/rows.py --audits 300 --method trove --only boxes
    python benchmarks/nulls/rows.py --audits 0

The worlds are those of the other scripts here. Each audit goes through a method's functions, the
common checks and the engine's doubts; `command_line.py` does the same by the command line.
"Passed" is the test alone, "a star" what is left after all checks. A result is a line of the store
as soon as it is known, and is not run again; 0 audits print what is there. Rows take turns.
"""

import argparse
import json
import os
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import cci
import saliency
import spurlens_checked
import trove
from rich.console import Console
from rich.table import Table
from scipy.stats import binomtest

ROUND = 10  # audits of a row, before it is the next one's turn
STORE = Path(".cache/null_rows.jsonl")


@dataclass(frozen=True)
class Row:
    """One null, or something planted: whether the test of an audit passes, and a star is left."""

    method: str
    name: str
    planted: bool
    audit: Callable[[int], tuple[bool, bool]]

    @property
    def key(self) -> tuple[str, str, bool]:
        """What it is called in the store."""
        return self.method, self.name, self.planted


def rows() -> Iterator[Row]:
    """All rows of all methods."""
    for method in ("trove", *trove.RIVALS):
        for name, world in trove.NULLS.items():
            audit = partial(trove.audit_null, method, world)
            yield Row(method, name, False, audit)
    for name, world in trove.NULLS.items():
        yield Row("trove", name, True, partial(trove.audit_planted, world))
    for row in (*spurlens_checked.NULLS, *spurlens_checked.PLANTED):
        planted = row in spurlens_checked.PLANTED
        audit = partial(spurlens_checked.audit_row, row)
        yield Row("spurlens", row.says, planted, audit)
    for setting in (*cci.NULLS, *cci.UNDECLARED, *cci.PLANTED):
        planted = setting in cci.PLANTED
        yield Row("cci", setting.name, planted, partial(cci.audit_row, setting))
    for maps in (*saliency.NULLS, *saliency.PLANTED):
        planted = maps in saliency.PLANTED
        yield Row("saliency", maps.name, planted, partial(saliency.audit_once, maps))


class Store:
    """Results of audits, a line each."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.done: Counter[tuple[str, str, bool]] = Counter()
        self.passed: Counter[tuple[str, str, bool]] = Counter()
        self.starred: Counter[tuple[str, str, bool]] = Counter()
        if path.exists():
            for line in path.read_text().splitlines():
                method, name, planted, passed, starred = json.loads(line)
                self._count((method, name, planted), passed, starred)

    def _count(self, key: tuple[str, str, bool], passed: bool, starred: bool) -> None:
        self.done[key] += 1
        self.passed[key] += passed
        self.starred[key] += starred

    def add(self, row: Row) -> None:
        """Run the next audit of a row: its seed is how many there were."""
        passed, starred = row.audit(self.done[row.key])
        self._count(row.key, passed, starred)
        with self.path.open("a") as file:
            file.write(json.dumps([*row.key, passed, starred]) + os.linesep)

    def table(self, rows: list[Row]) -> Table:
        """What is known of some rows, as docs have it."""
        table = Table("method", "row", "audits", "passed", "a star", "95%", box=None)
        for row in rows:
            audits = self.done[row.key]
            if not audits:
                continue
            starred = self.starred[row.key]
            ends = binomtest(starred, audits).proportion_ci(method="exact")
            interval = f"{100 * ends.low:.1f} to {100 * ends.high:.1f}%"
            cells = (audits, self.passed[row.key], starred)
            table.add_row(row.method, row.name, *map(str, cells), interval)
        return table


def main() -> None:
    """Run what is missing, and print the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--audits", type=int, default=1000, help="of each row")
    parser.add_argument("--method", action="append", help="else all")
    parser.add_argument("--only", default="", help="rows whose name contains this")
    parser.add_argument("--planted", action="store_true", help="with a cue to be found")
    parser.add_argument("--store", type=Path, default=STORE)
    given = parser.parse_args()
    given.store.parent.mkdir(parents=True, exist_ok=True)
    store = Store(given.store)
    chosen = [
        row
        for row in rows()
        if row.planted == given.planted
        and given.only in row.name
        and (given.method is None or row.method in given.method)
    ]
    for goal in range(ROUND, given.audits + ROUND, ROUND):
        for row in chosen:
            while store.done[row.key] < min(goal, given.audits):
                store.add(row)
    Console(width=140).print(store.table(chosen))


if __name__ == "__main__":
    main()
