"""One process trains and the others wait for it: not in silence, and not for ever."""

import os
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import Event, Thread
from time import monotonic

from filelock import FileLock, Timeout

from cuescope_sdk import UserError

SILENCE_SECONDS = 5.0  # of waiting, before it is said
BEAT_SECONDS = 5.0  # whoever trains gives a sign of life so often
LIMIT_SECONDS = 45.0  # without a sign of life
POLL_SECONDS = 0.5


@contextmanager
def training_lock(path: Path, owner: str) -> Iterator[None]:
    """Holds the lock, and touches its file so that those who wait know that work goes on.

    Raises UserError where the drive has no locks, or where whoever holds it gives no sign of life.
    """
    lock = FileLock(path)
    _acquire(lock, path, owner)
    over = Event()
    # daemon: it must not keep a process alive that fails
    beats = Thread(target=_beat, args=(path, over), daemon=True)
    beats.start()
    try:
        yield
    finally:
        over.set()
        # joined first: a late beat would look like a sign of the next one that holds the lock
        beats.join()
        lock.release()


def _acquire(lock: FileLock, path: Path, owner: str) -> None:
    began = changed = monotonic()
    sign = _last_sign(path)
    silent = True
    while True:
        try:
            lock.acquire(timeout=POLL_SECONDS)
            return
        except Timeout:
            now = monotonic()
        # ENOLCK of a drive without locks
        except (OSError, NotImplementedError) as error:
            raise UserError(
                f"{owner}: cannot lock {path}",
                got=getattr(error, "strerror", None) or str(error),
                remedy="Set CUESCOPE_CACHE to a folder on a local drive that you can write to.",
            ) from error
        latest = _last_sign(path)
        if latest != sign:
            sign = latest
            changed = now
        if silent and now - began > SILENCE_SECONDS:
            silent = False
            warnings.warn(
                f"{owner}: waiting for another process, which trains the same weights ({path})",
                stacklevel=2,
            )
        if now - changed > LIMIT_SECONDS:
            raise UserError(
                f"{owner}: waited {now - began:.0f} s for the lock {path}",
                got="another process holds it and gives no sign of life",
                remedy="End that process, or set CUESCOPE_CACHE to another folder.",
            )


def _last_sign(path: Path) -> int:
    """When its file was last touched; clocks of machines differ, so that only a change counts."""
    try:
        return path.stat().st_mtime_ns
    except OSError:
        return 0


def _beat(path: Path, over: Event) -> None:
    while not over.wait(BEAT_SECONDS):
        # one touch that fails must not end the beats
        with suppress(OSError):
            os.utime(path)
