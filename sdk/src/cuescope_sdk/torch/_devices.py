"""Devices and dtypes by name, refused in words when they are misspelt or not there."""

import warnings
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from hashlib import file_digest
from importlib.util import find_spec
from logging import ERROR
from pathlib import Path

import torch

from cuescope_core.digest import digest
from cuescope_core.errors import UserError, nearest

DEVICES = ("auto", "cpu", "cuda", "mps")
DTYPES = {
    "float32": torch.float32,
    "float16": torch.float16,
    "bfloat16": torch.bfloat16,
}


def resolve_device(name: str) -> torch.device:
    """The device `name` stands for; "auto" takes CUDA, then MPS, then the CPU.

    Raises UserError for a name that is no device and for a device this machine has not.
    """
    if name == "auto":
        return torch.device(next(k for k in ("cuda", "mps", "cpu") if _device_count(k)))
    kind, colon, index = name.partition(":")
    if kind not in DEVICES or (colon and not index.isdecimal()):
        raise UserError(
            f"unknown device '{name}'",
            expected=f"one of {', '.join(DEVICES)}, or cuda:1 and so on",
            remedy=nearest(kind, DEVICES),
        )
    count = _device_count(kind)
    if int(index or 0) >= count:  # torch itself fails only when the first tensor moves
        raise UserError(
            f"device '{name}' is not available",
            expected="a device of this machine",
            got=f"{count} {kind} device{'' if count == 1 else 's'}",
            remedy="Use --device auto or --device cpu.",
        )
    return torch.device(name)


def resolve_dtype(name: str) -> torch.dtype:
    """The floating dtype `name` stands for; raises UserError for any other name."""
    if name not in DTYPES:
        raise UserError(
            f"unknown dtype '{name}'",
            expected=f"one of {', '.join(DTYPES)}",
            remedy=nearest(name, DTYPES),
        )
    return DTYPES[name]


def _device_count(kind: str) -> int:
    match kind:
        case "cuda":
            return torch.cuda.device_count() if torch.cuda.is_available() else 0
        case "mps":
            return int(torch.backends.mps.is_available())
        case _:
            return 1


# ------------------------------------------------------------------------------------------- quiet


@contextmanager
def quiet() -> Iterator[None]:
    """Nothing is said or asked within, and the caller's random generator is as before after it."""
    # transformers draws weights before it loads them
    with (
        _quiet_transformers(),
        torch.random.fork_rng(devices=[]),
        warnings.catch_warnings(),
    ):
        warnings.simplefilter("ignore")
        yield


@contextmanager
def _quiet_transformers() -> Iterator[None]:
    """It asks and tells nothing, where it is installed: open_clip and others do without it."""
    if find_spec("transformers") is None:
        yield
        return
    from transformers.utils import logging

    from cuescope_sdk.torch._strangers import ask_nobody

    ask_nobody()
    verbosity = logging.get_verbosity()
    bars = logging.is_progress_bar_enabled()
    # setting it empties what every logger remembers, which costs half a millisecond
    speaks = verbosity != ERROR
    if speaks:
        logging.set_verbosity(ERROR)
    logging.disable_progress_bar()  # type: ignore[no-untyped-call]
    try:
        yield
    finally:
        if speaks:
            logging.set_verbosity(verbosity)
        if bars:
            logging.enable_progress_bar()  # type: ignore[no-untyped-call]


# ------------------------------------------------------------------------------------ fingerprints


def files_digest(files: Iterable[Path]) -> str:
    """Digest of the bytes of files, in order, read a piece at a time."""
    digests = []
    for file in files:
        with file.open("rb") as opened:
            digests.append(file_digest(opened, "sha256").hexdigest())  # 2 GB a second
    return digest(digests)
