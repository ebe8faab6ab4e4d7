"""Who made a run: a signature that only this user can write, under a key that never travels."""

import hmac
import os
import secrets
from contextlib import suppress
from functools import cache
from hashlib import blake2b
from pathlib import Path

import platformdirs

from cuescope.errors import UserError

KEY_BYTES = 32
_VARIABLE = "CUESCOPE_KEY"


def sign(seal: str, answers: Path) -> str:
    """The signature of a seal.

    It is bound to `answers`, the cache folder whose answers the run rests on: a cache folder of
    somebody else brings no trust along.
    """
    # computers that share a key by CUESCOPE_KEY have cache folders of other names
    home = "" if os.environ.get(_VARIABLE) else str(answers.expanduser().resolve())
    key = _key(_key_file())
    return blake2b(f"{home}\n{seal}".encode(), key=key, digest_size=32).hexdigest()


def require_key() -> None:
    """Raise UserError where `CUESCOPE_KEY` names what is no key: a run could not be signed."""
    _key(_key_file())


def is_signed(seal: str, signature: str | None, answers: Path) -> bool:
    """Whether this user signed the seal, with the same cache folder."""
    # a stranger's report may hold half characters
    given = (signature or "").encode(errors="replace")
    # in constant time: how long it takes tells nothing of the signature
    return hmac.compare_digest(sign(seal, answers).encode(), given)


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

    Where no file can be kept it is one of this process, so that its commands know its own runs.
    Raises UserError for a file that was named and holds no key.
    """
    try:
        if not file.exists():
            _make_key(file)
        # no more: a device has no end
        with file.open("rb") as opened:
            content = opened.read(KEY_BYTES + 1)
    except OSError:
        content = b""
    # an empty or cut file would be a key that anybody can guess
    if len(content) == KEY_BYTES:
        return content
    if os.environ.get(_VARIABLE):
        raise UserError(
            f"{_VARIABLE}: expected a file with a key of {KEY_BYTES} bytes, got {file}",
            remedy="Name the file of another machine's key, or one that does not exist yet: "
            "it is made",
        )
    return secrets.token_bytes(KEY_BYTES)


def _make_key(file: Path) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    draft = file.with_name(f".{file.name}-{secrets.token_hex(8)}")
    # whoever else could read it could sign runs as this user
    handle = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(handle, "wb") as opened:
        opened.write(secrets.token_bytes(KEY_BYTES))
    with suppress(FileExistsError):
        os.link(draft, file)  # unlike a rename it leaves the key of who came first
    draft.unlink()
