"""Timed actions as Charades writes them (Sigurdsson et al., 2016), for the data sets made of it."""

import re
from collections.abc import Mapping
from pathlib import Path

from cuescope_sdk import UserError, nearest
from cuescope_sdk.data._annotation_files import read_lines

Timed = tuple[str, float, float]
_ACTION = re.compile(r"(\S+)\s+(\d+(?:\.\d+)?)\s+(\d+(?:\.\d+)?)")


def read_classes(path: Path, title: str) -> dict[str, str]:
    """Names by code, from lines such as "c000 Holding some clothes" or "o000 person"."""
    classes = {}
    for place, line in read_lines(path, title):
        code, _, name = line.partition(" ")
        if not name:
            raise UserError(place, expected="a code and a name", got=f"'{line[:60]}'")
        classes[code] = name.strip()
    return classes


def parse_timed_actions(text: str, classes: Mapping[str, str], place: str) -> tuple[Timed, ...]:
    """(name, start, end) in seconds of each action in "c092 11.90 21.20;c147 0.00 12.60".

    Raises UserError at `place` for one that is no such triplet, or of no class.
    """
    return tuple(_timed(part, classes, place) for part in split_cell(text))


def split_cell(text: str) -> tuple[str, ...]:
    """The parts of a cell, which stand apart by semicolons."""
    return tuple(part.strip() for part in text.split(";") if part.strip())


def _timed(text: str, classes: Mapping[str, str], place: str) -> Timed:
    found = _ACTION.fullmatch(text)
    if found is None:
        raise UserError(place, expected="actions 'c092 11.90 21.20'", got=f"'{text[:60]}'")
    code, start, end = found.groups()
    if code not in classes:
        raise UserError(f"{place}: no action class '{code}'", remedy=nearest(code, classes))
    return classes[code], float(start), float(end)
