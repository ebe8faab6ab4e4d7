"""The scans of a JPEG: each takes a few bytes, and is decoded over all of its pixels."""

import re
from collections.abc import Iterator
from itertools import islice
from typing import Any

MOST_SCANS = 100  # ten are usual
_SCAN = 0xDA
_END = 0xD9
_BEGINS = b"\xff\xd8"
# not a byte that is stuffed, a filler, or a marker without a length
_MARKER = re.compile(rb"\xff[^\x00\x01\xd0-\xd7\xff]")


def has_too_many_scans(content: Any) -> bool:
    """True if these bytes (any buffer) are a JPEG that could take minutes to decode."""
    return next(islice(_scans(content), MOST_SCANS, None), None) is not None


def _scans(content: Any) -> Iterator[int]:
    """Where each scan begins, up to the end of the picture: what follows may be a film."""
    if bytes(content[:2]) != _BEGINS:
        return
    place = 2
    while (found := _MARKER.search(content, place)) is not None:
        kind = content[found.start() + 1]
        if kind == _END:
            return
        if kind == _SCAN:
            yield found.start()
        # thumbnails are pictures within a segment, which is passed over
        size = int.from_bytes(content[found.end() : found.end() + 2], "big")
        place = found.end() + max(size, 2)
