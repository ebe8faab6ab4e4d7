"""One content digest for everything: equal values have equal digests, in any process."""

from collections.abc import Callable, Iterable, Mapping, Set
from functools import cache
from hashlib import blake2b

import numpy as np
from pydantic import BaseModel

LONG = 10_000  # items of a list that are fed together
DIGEST_BYTES = 16  # no two of 2**40 values would meet by chance


def digest(*parts: object) -> str:
    """128-bit hex digest of nested plain values, arrays and pydantic models.

    Types are part of the content: 1, 1.0 and "1" differ. Sets and mappings are order-free.
    Raises TypeError for anything whose content it cannot see.
    """
    pieces: list[bytes] = []
    state = blake2b(digest_size=DIGEST_BYTES)

    def flush() -> None:
        # joined: a trial has twenty pieces, and one update is worth ten
        state.update(b"".join(pieces))
        pieces.clear()

    _feed(pieces.append, parts, flush)
    flush()
    return state.hexdigest()


def _feed(
    add: Callable[[bytes], None],
    values: Iterable[object],
    flush: Callable[[], None] = lambda: None,
) -> None:
    # the commonest first: a hundred thousand samples have millions of them
    for value in values:
        match value:
            case str():
                content = value.encode()
                add(b"s%d:" % len(content))  # as `_tag`, without a call
                add(content)
            case None:
                add(b"c4:None")  # as `_tag`; most trials have no edit and no readout
            case bytes():
                add(b"b%d:" % len(value))
                add(value)
            case bool():
                _tag(add, b"c", repr(value).encode())  # before int: a bool is one
            case tuple() | list():
                _tag(add, b"l", b"%d" % len(value))
                for start in range(0, len(value), LONG):
                    if start:  # the pieces of a million samples take gigabytes
                        flush()
                    _feed(add, value[start : start + LONG], flush)
            case int():
                # an IntEnum would print its name
                _tag(add, b"i", int.__repr__(value).encode())
            case float():
                # numpy's float64 is one too
                _tag(add, b"f", float.__repr__(value).encode())
            case np.ndarray() if value.dtype.kind in "biufcSU":
                # the same bytes may have two shapes
                _tag(add, b"a", f"{value.dtype.str}{value.shape}".encode())
                add(np.ascontiguousarray(value).tobytes())
            case BaseModel():
                head, fields = _layout(type(value))
                add(head)
                for tagged, name in fields:
                    add(tagged)
                    _feed(add, (getattr(value, name),))
            case Mapping():
                _tag(add, b"d", b"%d" % len(value))
                # by repr: keys of several types do not compare
                for key in sorted(value, key=repr):
                    _feed(add, (key, value[key]))
            case Set():
                _tag(add, b"t", b"%d" % len(value))
                _feed(add, sorted(map(digest, value)))
            case _:
                raise TypeError(f"cannot take the digest of a {type(value).__name__}")


@cache
def _layout(kind: type[BaseModel]) -> tuple[bytes, list[tuple[bytes, str]]]:
    """Layout of a class of values: its name, the names of its fields."""
    pieces: list[bytes] = []
    # without its module: moving a class keeps caches
    _tag(pieces.append, b"m", kind.__name__.encode())
    _tag(pieces.append, b"d", b"%d" % len(kind.model_fields))
    fields = []
    for name in sorted(kind.model_fields, key=repr):
        tagged: list[bytes] = []
        _feed(tagged.append, (name,))
        fields.append((b"".join(tagged), name))
    return b"".join(pieces), fields


def _tag(add: Callable[[bytes], None], tag: bytes, content: bytes) -> None:
    add(b"%b%d:" % (tag, len(content)))  # its length: "ab", "c" is not "a", "bc"
    add(content)
