"""Answers that have been paid for, by what was asked, and what is being asked now."""

import json
import os
import platform
import time
from collections.abc import Iterable, Iterator
from itertools import product
from pathlib import Path
from sqlite3 import SQLITE_CORRUPT, Connection, DatabaseError
from typing import ClassVar

from pydantic import ValidationError

from cuescope_openai.answers import LONGEST_NAME, Answer
from cuescope_sdk import CacheFile, digest

LONGEST_CLAIM = 86400.0  # s: a later end is no time


def _rows(key: str, server: str, model: str, answer: Answer) -> dict[str, bytes]:
    """An answer and, under a prefix of server and model, the build that gave it."""
    rows = {key: answer.model_dump_json().encode()}
    if build := answer.system_fingerprint:
        rows[_prefix(server, model) + digest(build)] = build.encode()
    return rows


def _prefix(server: str, model: str) -> str:
    """Of the keys of builds; those of answers are digests, and begin otherwise."""
    return f"build {digest(server, model)} "


def _parse(value: str | bytes) -> Answer | None:
    try:
        return Answer.model_validate_json(value)
    except ValidationError:
        return None


def _answers_of_version_0(connection: Connection) -> Iterator[tuple[str, bytes]]:
    """The rows that can be read and parsed; a bad page costs no rows but its own."""
    query = "SELECT key, server, model, answer FROM answers WHERE key >= ? AND key < ?"
    # in short ranges: a query fails as a whole where it meets a bad page
    starts = ["".join(digits) for digits in product("0123456789abcdef", repeat=3)]
    ends = [*starts[1:], "g"]  # sorts behind every hexadecimal digit
    for bounds in zip(starts, ends, strict=True):
        try:
            rows = connection.execute(query, bounds).fetchall()
        except DatabaseError as error:
            if error.sqlite_errorcode != SQLITE_CORRUPT:
                raise
            continue
        for key, server, model, text in rows:
            if answer := _parse(text):
                yield from _rows(key, server, model, answer).items()


class Memory(CacheFile):
    """Answers in one file, shared by all models and tools of this user.

    Each is on the disk before `put` returns, so that a kill loses none that has come.
    """

    durable: ClassVar = True
    migrations: ClassVar = {0: _answers_of_version_0}

    def get(self, keys: Iterable[str]) -> dict[str, Answer]:
        """The remembered ones among `keys`."""
        answers = {}
        for key, value in self.read(keys).items():
            # what cannot be read is asked for again
            answer = _parse(value)
            if answer is not None:
                answers[key] = answer
        return answers

    def put(self, key: str, server: str, model: str, answer: Answer) -> None:
        """Keep an answer."""
        self.write(_rows(key, server, model, answer))

    def builds(self, server: str, model: str) -> list[str]:
        """The builds of the model that have answered, as the server names them."""
        builds = self.scan(_prefix(server, model)).values()
        # as short as they were kept: a stranger's cache may hold any text
        names = (build[: 4 * LONGEST_NAME].decode(errors="replace") for build in builds)
        return sorted(name[:LONGEST_NAME] for name in names)


class Claims(CacheFile):
    """The questions that are under way, so that two commands pay for one answer to each.

    A claim ends by itself, and with its process.
    """

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self._own: dict[str, bytes] = {}

    def take(self, key: str, seconds: float) -> bool:
        """Claim a question for so long; False where somebody else has."""
        until = time.time() + seconds
        claim = json.dumps([platform.node(), os.getpid(), until]).encode()

        def take(connection: Connection) -> bool:
            connection.execute("BEGIN IMMEDIATE")
            query = "SELECT value FROM rows WHERE key = ?"
            for (value,) in connection.execute(query, [key]).fetchall():
                if _is_held(value):
                    return False
            row = (key, claim, "")
            connection.execute("INSERT OR REPLACE INTO rows VALUES (?, ?, ?)", row)
            return True

        if not self._transact(take):
            return False
        self._own[key] = claim
        return True

    def release(self, key: str) -> None:
        """End a claim of one's own."""
        # one that has ended may be another's by now
        own = [key, self._own.pop(key)]
        self._transact(
            lambda connection: connection.execute(
                "DELETE FROM rows WHERE key = ? AND value = ?", own
            ).close()
        )


def _is_held(claim: bytes) -> bool:
    try:
        computer, process, until = json.loads(claim)
        if not time.time() < until < time.time() + LONGEST_CLAIM:
            return False
        if computer == platform.node() and os.name != "nt":
            os.kill(int(process), 0)
    except (ProcessLookupError, ValueError, TypeError, OverflowError):
        return False
    except OSError:  # a process of another user
        return True
    return True
