"""One content digest for everything: equal values have equal digests, in any process."""

from collections.abc import Mapping, Set
from hashlib import blake2b
from typing import Any

import numpy as np
from pydantic import BaseModel

DIGEST_BYTES = 16  # no two of 2**40 values would meet by chance


def digest(*parts: object) -> str:
    """128-bit hex digest of nested plain values, arrays and pydantic models.

    Types are part of the content: 1, 1.0 and "1" differ. Sets and mappings are order-free.
    Raises TypeError for anything whose content it cannot see.
    """
    state = blake2b(digest_size=DIGEST_BYTES)
    for part in parts:
        _feed(state, part)
    return state.hexdigest()


def _feed(state: Any, value: object) -> None:
    match value:
        case bytes():
            _tagged(state, b"b", value)
        case str():
            _tagged(state, b"s", value.encode())
        case None | bool():
            _tagged(state, b"c", repr(value).encode())  # before int: a bool is one
        case int():
            _tagged(state, b"i", int.__repr__(value).encode())  # an IntEnum would print its name
        case float():
            _tagged(state, b"f", float.__repr__(value).encode())  # numpy's float64 is one too
        case np.ndarray() if value.dtype.kind in "biufcSU":
            # the same bytes may have two shapes
            _tagged(state, b"a", f"{value.dtype.str}{value.shape}".encode())
            state.update(np.ascontiguousarray(value).data)
        case BaseModel():
            # without its module: moving a class keeps caches
            _tagged(state, b"m", type(value).__name__.encode())
            _feed(state, {name: getattr(value, name) for name in type(value).model_fields})
        case Mapping():
            _tagged(state, b"d", str(len(value)).encode())
            for key in sorted(value, key=repr):  # by repr: keys of several types do not compare
                _feed(state, key)
                _feed(state, value[key])
        case Set():
            _tagged(state, b"t", str(len(value)).encode())
            for item in sorted(map(digest, value)):
                _feed(state, item)
        case tuple() | list():
            _tagged(state, b"l", str(len(value)).encode())
            for item in value:
                _feed(state, item)
        case _:
            raise TypeError(f"cannot take the digest of a {type(value).__name__}")


def _tagged(state: Any, tag: bytes, content: bytes) -> None:
    state.update(b"%b%d:" % (tag, len(content)))  # its length: "ab", "c" is not "a", "bc"
    state.update(content)
