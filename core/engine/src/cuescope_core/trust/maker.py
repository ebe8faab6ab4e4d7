"""Who made a run: a signature that only this user can write, under a key that never travels."""

import hmac
import os
import secrets
import warnings
from contextlib import suppress
from functools import cache
from hashlib import blake2b
from pathlib import Path

import platformdirs

from cuescope_core.atomic_files import locked, write_atomically
from cuescope_core.checksummed_files import read_sealed, with_seal, write_sealed
from cuescope_core.errors import UserError

KEY_BYTES = 32
CACHE_ID = "cache-id"  # a file of a cache folder, wherever it is mounted
_MOST_BYTES = 2**10  # of a key with its checksum
_VARIABLE = "CUESCOPE_KEY"


def sign(seal: str, answers: Path) -> str:
    """The signature of a seal; raises UserError where the key is damaged.

    It is bound to `answers`, the cache folder whose answers the run rests on: a cache folder of
    somebody else brings no trust along.
    """
    return _signature(seal, _home_of(answers, make=True))


def require_key() -> None:
    """Raise UserError where there is no key that a run could be signed with."""
    _key(_key_file())


def is_signed(seal: str, signature: str | None, answers: Path) -> bool:
    """True if this user signed the seal, with the same cache folder."""
    # a stranger's report may hold half characters
    given = (signature or "").encode(errors="replace")
    own = _signature(seal, _home_of(answers, make=False)).encode()
    # in constant time: how long it takes tells nothing of the signature
    return hmac.compare_digest(own, given)


def _signature(seal: str, home: str) -> str:
    key = _key(_key_file())
    return blake2b(f"{home}\n{seal}".encode(), key=key, digest_size=32).hexdigest()


def _home_of(answers: Path, *, make: bool) -> str:
    """Identify a cache folder: by its id, else its path."""
    # computers that share a key by CUESCOPE_KEY have cache folders of their own
    if os.environ.get(_VARIABLE):
        return ""
    folder = answers.expanduser().resolve()
    file = folder / CACHE_ID
    # a folder that cannot be written; a damaged id is of no use, and its runs are told as others'
    with suppress(OSError, UserError):
        if make and not file.exists():
            with locked(file):
                if not file.exists():
                    write_sealed(file, secrets.token_hex(16).encode())
        return read_sealed(file, most=_MOST_BYTES).decode(errors="replace")
    return str(folder)


def _key_file() -> Path:
    """`CUESCOPE_KEY`, for machines that share runs; else a file of the user's data folder."""
    named = os.environ.get(_VARIABLE)
    return (
        Path(named).expanduser()
        if named
        else platformdirs.user_data_path("cuescope") / "key"
    )


# a key that no file can keep must stay the same in this process
@cache
def _key(file: Path) -> bytes:
    """The key in a file, which is made where it is missing.

    Where none can be made it is one of this process, which is told. Raises UserError for a file
    that holds no key, as one that was cut or edited.
    """
    if not file.exists():
        try:
            # whoever comes first makes it
            with locked(file):
                if not file.exists():
                    content = with_seal(file.name, secrets.token_bytes(KEY_BYTES))
                    # whoever else could read it could sign runs as this user
                    write_atomically(file, content, mode=0o600)
        except UserError as error:
            if os.environ.get(_VARIABLE):
                raise _no_key(file) from error
            warnings.warn(
                f"no key can be kept in {file.parent}: the next command takes the runs of this one "
                f"for somebody else's. Set {_VARIABLE} to a file in a folder that you can write to",
                stacklevel=2,
            )
            return secrets.token_bytes(KEY_BYTES)
    try:
        # a person may keep it behind a link
        key = read_sealed(file.resolve(), most=_MOST_BYTES)
    except (OSError, UserError) as error:
        raise _no_key(file) from error
    # an empty or cut file would be a key that anybody can guess
    if len(key) != KEY_BYTES:
        raise _no_key(file)
    return key


def _no_key(file: Path) -> UserError:
    head = f"{_VARIABLE}: " if os.environ.get(_VARIABLE) else "the key of your runs: "
    remedy = (
        "Name the file of another machine's key, or one that does not exist yet: it is made"
        if os.environ.get(_VARIABLE)
        else "Put it back from a backup, or delete it: a new one is made, and the runs until "
        "now count as untrusted"
    )
    return UserError(
        f"{head}expected a file with a key of {KEY_BYTES} bytes, got {file}",
        remedy=remedy,
    )
