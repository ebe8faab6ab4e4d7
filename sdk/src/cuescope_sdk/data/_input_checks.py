"""Checks of what somebody hands in, before anything is audited."""

from dataclasses import dataclass
from typing import Literal

Status = Literal["ok", "note", "fault"]


@dataclass(frozen=True, slots=True)
class InputCheck:
    """A check of data or of a log: what was looked at, and what is there.

    A `fault` changes figures or hides rows, a `note` is to be known.
    """

    check: str
    status: Status
    detail: str
