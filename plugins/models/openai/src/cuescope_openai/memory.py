"""Answers that have been paid for, by what was asked."""

import sqlite3
import weakref
from collections.abc import Iterable
from pathlib import Path
from threading import Lock
from typing import Any

from pydantic import ValidationError

from cuescope_openai.answers import Answer
from cuescope_sdk import UserError

CHUNK = 500  # below SQLite's limit on variables

_TABLE = """
    CREATE TABLE IF NOT EXISTS answers (
        key TEXT PRIMARY KEY, server TEXT, model TEXT, build TEXT, answer TEXT
    ) WITHOUT ROWID
"""


class Memory:
    """Answers in one SQLite file, shared by all models and tools of this user.

    Each is a transaction of its own, on the disk before `put` returns, so that a kill loses none
    that has come. Raises UserError where the file cannot be used.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._lock = Lock()
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._connection = sqlite3.connect(path, timeout=60, check_same_thread=False)
            weakref.finalize(self, self._connection.close)
        except (OSError, sqlite3.Error) as error:
            raise self._unusable(error) from error
        # WAL lets other processes read meanwhile; FULL has an answer on the disk before it counts.
        self._run("PRAGMA journal_mode = WAL")
        self._run("PRAGMA synchronous = FULL")
        self._run(_TABLE)

    def get(self, keys: Iterable[str]) -> dict[str, Answer]:
        """The remembered ones among `keys`; a row that cannot be read is none."""
        keys, answers = list(keys), {}
        for start in range(0, len(keys), CHUNK):
            chunk = keys[start : start + CHUNK]
            marks = ",".join("?" * len(chunk))
            for key, text in self._run(
                f"SELECT key, answer FROM answers WHERE key IN ({marks})", *chunk
            ):
                try:
                    answers[key] = Answer.model_validate_json(text)
                except ValidationError:
                    continue
        return answers

    def put(self, key: str, server: str, model: str, answer: Answer) -> None:
        row = (key, server, model, answer.system_fingerprint, answer.model_dump_json())
        self._run("INSERT OR REPLACE INTO answers VALUES (?, ?, ?, ?, ?)", *row)

    def builds(self, server: str, model: str) -> list[str]:
        """The builds of the model that have answered, as the server names them."""
        query = (
            "SELECT DISTINCT build FROM answers "
            "WHERE server = ? AND model = ? AND build IS NOT NULL ORDER BY build"
        )
        return [build for (build,) in self._run(query, server, model)]

    def _run(self, statement: str, *values: Any) -> list[Any]:
        try:
            with self._lock, self._connection:
                return self._connection.execute(statement, values).fetchall()
        except sqlite3.Error as error:
            raise self._unusable(error) from error

    def _unusable(self, error: Exception) -> UserError:
        return UserError(
            f"openai: cannot keep answers in {self._path}",
            got=str(error),
            remedy="Free disk space, set CUESCOPE_CACHE to another folder, or remove the file",
        )
