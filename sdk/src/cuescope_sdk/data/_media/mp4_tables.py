"""The tables of an MP4: ffmpeg makes room for as many samples as they claim, before it reads one.

A file of two kilobytes may claim a hundred million, which take gigabytes and a minute.
"""

import re
from collections.abc import Iterator
from typing import Any, NamedTuple

from cuescope_core.amounts import count_of

# what ffmpeg takes a file for an MP4 by, whatever it is called
_ROOTS = {b"ftyp", b"moov", b"mdat", b"pnot", b"udta", b"wide", b"free", b"skip"}
_ROOTS |= {b"junk", b"pict", b"uuid", b"prfl", b"moof", b"styp", b"sidx"}
# stsz has the samples of a track, trun those of a fragment, cmvd hides either in a zip
_TABLE = re.compile(b"stsz|trun|cmvd")


class _Box(NamedTuple):
    kind: bytes
    start: int
    end: int


def require_samples(content: Any) -> None:
    """Raise ValueError for an MP4 (any buffer) that claims more samples than it has bytes."""
    boxes = list(_boxes(content))
    if not any(box.kind in _ROOTS for box in boxes):
        return
    claimed = 0
    for box in boxes:
        # sounds and pictures hold any letters by chance
        if box.kind == b"mdat":
            continue
        for found in _TABLE.finditer(content, box.start, box.end):
            if found[0] == b"cmvd":
                raise ValueError("a compressed header, which is not read")
            claimed += _samples(content, found)
    if claimed > len(content):
        raise ValueError(
            f"its header claims {count_of(claimed, 'samples')} in {len(content):,} bytes"
        )


def _samples(content: Any, found: "re.Match[bytes]") -> int:
    """How many samples a table claims without a cell for each."""
    # version and flags come first
    first, second = (
        _number(content, place, 4) for place in (found.end() + 4, found.end() + 8)
    )
    if found[0] == b"trun":
        return first
    # a size of 0 says that each sample has a size of its own, which is read
    return second if first else 0


def _boxes(content: Any) -> Iterator[_Box]:
    """The boxes of the file itself, not those within them; what is none goes to the end."""
    place = 0
    while place < len(content):
        size = _number(content, place, 4)
        kind = bytes(content[place + 4 : place + 8])
        if size == 1:
            size = _number(content, place + 8, 8)
        if size == 0:  # up to the end
            size = len(content)
        if size < 8:
            # whatever it says that it is
            kind, size = b"", len(content)
        yield _Box(kind, place, min(place + size, len(content)))
        place += size


def _number(content: Any, place: int, size: int) -> int:
    return int.from_bytes(content[place : place + size], "big")
