"""The wait for whoever trains: said, and not for ever."""

import errno
import fcntl
import os
from collections.abc import Iterator
from pathlib import Path
from threading import Event, Thread
from time import monotonic
from typing import Any

import pytest

from cuescope_sdk import UserError
from cuescope_toy import locking
from cuescope_toy.locking import training_lock


@pytest.fixture
def path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name, seconds in (
        ("SILENCE", 0.3),
        ("BEAT", 0.2),
        ("LIMIT", 1.5),
        ("POLL", 0.1),
    ):
        monkeypatch.setattr(locking, f"{name}_SECONDS", seconds)
    return tmp_path / "a.lock"


@pytest.fixture
def stranger(path: Path) -> Iterator[None]:
    """Somebody who holds the lock and does nothing."""
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT)
    fcntl.flock(descriptor, fcntl.LOCK_EX)
    yield
    os.close(descriptor)


@pytest.mark.timeout(60)
def test_a_lock_that_is_never_given_back_ends_in_a_line(
    path: Path, stranger: None
) -> None:
    with (
        pytest.warns(UserWarning, match="toy: waiting for another process"),
        pytest.raises(
            UserError, match=r"waited \d s for the lock .*no sign of life.*End that"
        ),
        training_lock(path, "toy"),
    ):
        pass


def test_within_a_minute() -> None:
    assert locking.LIMIT_SECONDS + locking.POLL_SECONDS < 55
    assert locking.BEAT_SECONDS * 5 < locking.LIMIT_SECONDS


@pytest.mark.timeout(60)
def test_a_drive_without_locks_ends_in_a_line(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*arguments: Any) -> None:
        raise OSError(errno.ENOLCK, os.strerror(errno.ENOLCK))

    monkeypatch.setattr(fcntl, "flock", refuse)
    with (
        pytest.raises(
            UserError, match=r"cannot lock .*No locks available.*CUESCOPE_CACHE"
        ),
        training_lock(path, "toy"),
    ):
        pass


def test_who_trains_for_long_is_waited_for(path: Path) -> None:
    begun, over = Event(), Event()

    def train() -> None:
        with training_lock(path, "toy"):
            begun.set()
            over.wait(2.5)  # longer than the limit, with signs of life

    thread = Thread(target=train)
    thread.start()
    begun.wait()
    began = monotonic()
    with (
        pytest.warns(UserWarning, match="waiting for another process"),
        training_lock(path, "toy"),
    ):
        assert monotonic() - began > locking.LIMIT_SECONDS
    thread.join()
