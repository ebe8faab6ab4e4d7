"""Proofs that passed, kept for some days: `make prove` that was stopped goes on where it was."""

import json
import zipfile
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from pathlib import Path

HOLDS_FOR = timedelta(days=7)  # libraries of the index move on


@dataclass(frozen=True)
class Question:
    """What a proof asks; equal questions have equal answers for some days."""

    name: str
    python: str  # version
    how: str
    is_installed: bool
    contents: str  # of the wheels that it stands on


@dataclass(frozen=True)
class Kept:
    """A file with a line for each proof that passed; several processes may write to it."""

    file: Path

    def find(self, question: Question) -> str | None:
        """What the last proof said and when, None where it is to be given."""
        if not self.file.exists():
            return None
        asked = asdict(question)
        for line in reversed(self.file.read_text("utf-8").splitlines()):
            row = json.loads(line)
            at = datetime.fromisoformat(row["at"])
            if row["question"] == asked and datetime.now(UTC) - at < HOLDS_FOR:
                return f"{row['outcome']} (proved {at:%Y-%m-%d %H:%M})"
        return None

    def add(self, question: Question, outcome: str) -> None:
        """Keep a proof that passed just now."""
        at = datetime.now(UTC).isoformat(timespec="seconds")
        row = {"at": at, "question": asdict(question), "outcome": outcome}
        with self.file.open("a", encoding="utf-8") as file:
            file.write(json.dumps(row) + "\n")


def contents(wheels: Iterable[Path], *more: str) -> str:
    """A digest of what wheels hold, whenever they were built, and of further text."""
    digest = sha256()
    for wheel in sorted(wheels):
        digest.update(_record(wheel))
    for text in more:
        digest.update(text.encode())
    return digest.hexdigest()


def _record(wheel: Path) -> bytes:
    """The file of a wheel that lists the digests of all others."""
    with zipfile.ZipFile(wheel) as archive:
        [name] = [n for n in archive.namelist() if n.endswith(".dist-info/RECORD")]
        return archive.read(name)
