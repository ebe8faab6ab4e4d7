"""Spending of a command, in one place for all of its processes: taken before it is sent."""

import platform
import secrets
import sqlite3
import time
from collections.abc import Callable, Mapping
from contextlib import closing, suppress
from dataclasses import dataclass, field
from pathlib import Path

FOLDER = "spent"
LOCK_SECONDS = 30.0  # a transaction takes milliseconds
OLD_SECONDS = 7 * 86400.0  # of a command that was killed, as long as one may take

Amounts = Mapping[str, float]
_TABLE = (
    "CREATE TABLE IF NOT EXISTS spent "
    "(account TEXT, unit TEXT, amount REAL, PRIMARY KEY (account, unit))"
)


@dataclass(frozen=True)
class Command:
    """Names a command: what is spent under it counts together, in whatever process."""

    name: str = field(default_factory=lambda: secrets.token_hex(8))
    computer: str = field(default_factory=platform.node)

    @property
    def is_here(self) -> bool:
        """True if this process runs on the computer of the command."""
        return self.computer == platform.node()


class Ledger:
    """The amounts of an account by unit ("calls", "money"), in a file of the cache folder.

    Processes of one command on one computer share it. What a process had taken when it was killed
    stays taken: whether it was paid for, nobody knows.
    """

    def __init__(self, cache: Path, command: Command, account: str) -> None:
        self._file = cache / FOLDER / f"{command.name}.sqlite"
        self._account = account

    def change(self, action: Callable[[Amounts], Amounts | None]) -> Amounts:
        """Give the account the amounts that `action` makes of those that it has, None as they are.

        Nobody else changes it meanwhile. Returns what it has then.
        """
        if not self._file.exists():
            self._file.parent.mkdir(parents=True, exist_ok=True)
            _delete_old(self._file.parent)
        # a connection each: a call to a server takes a thousand times as long
        with closing(sqlite3.connect(self._file, timeout=LOCK_SECONDS)) as connection:
            connection.isolation_level = None
            # what a power cut takes is of a command that is gone with it
            connection.execute("PRAGMA synchronous = OFF")
            connection.execute("BEGIN IMMEDIATE")
            with connection:
                return self._change(connection, action)

    def _change(
        self,
        connection: sqlite3.Connection,
        action: Callable[[Amounts], Amounts | None],
    ) -> Amounts:
        connection.execute(_TABLE)
        query = "SELECT unit, amount FROM spent WHERE account = ?"
        before = dict(connection.execute(query, [self._account]).fetchall())
        after = action(before)
        if after is None:
            return before
        rows = [(self._account, unit, amount) for unit, amount in after.items()]
        connection.executemany("INSERT OR REPLACE INTO spent VALUES (?, ?, ?)", rows)
        return after


def _delete_old(folder: Path) -> None:
    with suppress(OSError):
        for file in folder.iterdir():
            if time.time() - file.stat().st_mtime > OLD_SECONDS:
                file.unlink()
