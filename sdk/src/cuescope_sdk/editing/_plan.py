"""Cost of editing: edits, hours at the pace that was measured, bytes on the disk."""

import json
from dataclasses import dataclass
from math import isfinite
from pathlib import Path
from typing import Any

from cuescope_core.checksummed_files import LARGEST_WORDS, read_sealed
from cuescope_core.errors import UserError
from cuescope_core.plain_json import parse_json
from cuescope_core.store import UNREADABLE

GIGABYTE = 1e9


@dataclass(frozen=True)
class EditPlan:
    """`edits` asked for, `cached` of them on the disk already.

    `seconds_each` is the pace measured on `device` when this editor last worked there, None where
    it never has. `bytes_each` is the mean file of that run, else an estimate; `free_bytes` is what
    the disk has left.
    """

    edits: int
    cached: int
    device: str
    seconds_each: float | None
    bytes_each: float
    free_bytes: int

    @property
    def to_make(self) -> int:
        """Edits that are still to be made."""
        return self.edits - self.cached

    @property
    def hours(self) -> float | None:
        """Hours of one device; None where no pace was measured."""
        return (
            None
            if self.seconds_each is None
            else self.to_make * self.seconds_each / 3600
        )

    @property
    def bytes(self) -> float:
        """Bytes of the files that are still to be written."""
        return self.to_make * self.bytes_each

    def __str__(self) -> str:
        made = f"{self.edits:,} edits, {self.cached:,} of them made already"
        if self.hours is None or self.seconds_each is None:
            time = f"time unknown: no pace measured on {self.device}, make a few edits first"
        else:
            time = f"{self.hours:,.2f} hours on {self.device} at {self.seconds_each:.3g} s an edit"
        told = "measured" if self.seconds_each is not None else "estimated"
        free = f"{self.free_bytes / GIGABYTE:,.1f} GB free"
        return (
            f"{made}; {time}; {self.bytes / GIGABYTE:,.2f} GB on disk ({told}; {free})"
        )


@dataclass(frozen=True)
class Pace:
    """How long the edits of a run took on a device, and how large their files are together."""

    edits: int = 0
    seconds: float = 0.0
    bytes: int = 0

    def add(self, edits: int, seconds: float, written: int) -> "Pace":
        """With these edits."""
        return Pace(self.edits + edits, self.seconds + seconds, self.bytes + written)


def read_pace(file: Path, device: str) -> Pace | None:
    """Read the pace that was measured on a device; None for a file that cannot be read."""
    measured: Any = _read(file).get(device)
    try:
        pace = Pace(
            int(measured["edits"]), float(measured["seconds"]), int(measured["bytes"])
        )
    except UNREADABLE:
        return None
    # of seconds 1e999 is a number in JSON
    is_pace = pace.edits > 0 and isfinite(pace.seconds) and pace.seconds >= 0
    return pace if is_pace and pace.bytes >= 0 else None


def with_pace(file: Path, device: str, pace: Pace) -> bytes:
    """The content of the file with the pace of this device, the others as they are."""
    return json.dumps(_read(file) | {device: vars(pace)}, indent=1).encode()


def _read(file: Path) -> dict[str, Any]:
    try:
        content = parse_json(read_sealed(file, most=LARGEST_WORDS), file.name)
    except (OSError, UserError):
        return {}
    return content if isinstance(content, dict) else {}
