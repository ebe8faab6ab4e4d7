"""The answers that are kept on this computer, by model: an audit leaves its model's name there."""

import json
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from sqlite3 import Connection
from typing import TYPE_CHECKING, Any, ClassVar

from cuescope_core.errors import UserError
from cuescope_core.hookspecs import hookimpl
from cuescope_core.respond import MODEL_LETTERS
from cuescope_core.store import UNREADABLE, CacheFile, ResponseCache

if TYPE_CHECKING:
    from cuescope_core.auditing import Audit

DAY = 86400.0
LAST = 1e11  # seconds: a later time is no date
TOGETHER = 500  # rows of a transaction
BYTES_TOGETHER = 2**26  # and what they hold


def _in_parts(rows: Iterable[tuple[str, bytes]]) -> Iterator[dict[str, bytes]]:
    """The rows, as many at a time as fit into memory."""
    part: dict[str, bytes] = {}
    size = 0
    for key, value in rows:
        part[key] = value
        size += len(value)
        if len(part) == TOGETHER or size > BYTES_TOGETHER:
            yield part
            part = {}
            size = 0
    if part:
        yield part


def _leave_to_its_owner(connection: Connection) -> Iterator[tuple[str, bytes]]:
    raise UserError(
        "of an older cuescope", remedy="The next audit that needs it takes it over"
    )


class AnyCache(CacheFile):
    """A cache file of which only the rows matter, as `cuescope cache repair` looks at it."""

    migrations: ClassVar[Mapping[int, Any]] = {0: _leave_to_its_owner}

    def take(self, rows: Iterable[tuple[str, bytes]]) -> tuple[int, int]:
        """Keep those rows that are not here yet; how many were taken, and how many were here."""
        taken = 0
        here = 0
        for part in _in_parts(rows):
            own = self.read(part)
            here += len(own)
            new = {key: value for key, value in part.items() if key not in own}
            taken += len(new)
            self.write(new)
        return taken, here

    def shrink(self) -> None:
        """Give the room of what was deleted back to the disk."""
        # it writes the whole file into the log, which is then emptied
        self._rows("VACUUM")
        self._rows("PRAGMA wal_checkpoint(TRUNCATE)")


@dataclass(frozen=True)
class KeptModel:
    """The answers of one model; `used` is when an audit last asked it (seconds since 1970)."""

    mark: str
    name: str
    answers: int
    size: int
    used: float | None


class ModelNames:
    """Observes an audit: the cache learns the name of its model, and that it was used today."""

    @hookimpl
    def audit_started(self, audit: "Audit") -> None:
        """Before the first question: an audit that is killed has answers too."""
        respond: Any = audit.respond  # of an audit it is the engine's
        runner = getattr(respond, "model", respond)  # beside an outside eye
        name = runner.name.removeprefix("model ").strip("'")
        entry = json.dumps([name, time.time()]).encode()
        runner.cache.write({f"model {runner.identity}": entry})


class KeptAnswers(AnyCache, ResponseCache):
    """The response cache as its owner looks at it."""

    migrations: ClassVar = ResponseCache.migrations

    def models(self) -> list[KeptModel]:
        """Each model with answers here, the largest first."""
        names: dict[str, tuple[str, float]] = {}
        for key, value in self.scan("model ").items():
            # of one that is damaged the answers are there, without a name
            model = read_model(value)
            if model is not None:
                names[key.removeprefix("model ")[:MODEL_LETTERS]] = model
        # counted by SQLite: keys of a million answers need not come into Python
        query = (
            f"SELECT substr(key, 1, {MODEL_LETTERS}) AS mark, count(*), "
            "sum(length(value)) FROM rows "
            f"WHERE substr(key, {MODEL_LETTERS + 1}, 1) = '-' GROUP BY mark"
        )
        kept = []
        for mark, answers, size in self._rows(query):
            name, used = names.get(mark, ("unknown", None))
            kept.append(KeptModel(mark, name, answers, size, used))
        return sorted(kept, key=lambda model: -model.size)

    def forget(self, model: KeptModel) -> None:
        """Delete the answers of a model."""

        def delete(connection: Connection) -> None:
            for span in _spans(model):
                connection.execute("DELETE FROM rows WHERE key >= ? AND key < ?", span)

        self._transact(delete)

    def copy(self, models: Iterable[KeptModel], file: Path) -> None:
        """Write the rows of some models into a new file."""
        KeptAnswers(file).close()

        def insert(connection: Connection) -> None:
            connection.execute("ATTACH DATABASE ? AS other", [str(file)])
            for model in models:
                for span in _spans(model):
                    connection.execute(
                        "INSERT INTO other.rows SELECT * FROM rows WHERE key >= ? AND key < ?",
                        span,
                    )
            connection.commit()
            connection.execute("DETACH DATABASE other")

        with self._lock:
            insert(self._connection)
        # else the newest rows may lie in a log beside the file
        copy = KeptAnswers(file)
        copy.shrink()
        copy.close()


def _spans(model: KeptModel) -> list[tuple[str, str]]:
    """The keys of a model's rows, from and to."""
    # "." follows "-" in ASCII; a range goes by the index, LIKE by every row
    mark = model.mark
    spans = [(f"{mark}-", f"{mark}.")]
    return [
        *spans,
        *((f"{kind} {mark}", f"{kind} {mark}~") for kind in ("model", "pace")),
    ]


def read_model(value: bytes) -> tuple[str, float] | None:
    """A model's name and when it was last used; None for another row, whose seal may fit."""
    with suppress(*UNREADABLE):
        name, used = json.loads(value)
        if isinstance(name, str) and type(used) in (int, float) and 0 <= used < LAST:
            return name, used
    return None
