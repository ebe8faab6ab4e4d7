"""Work of a worker, wherever it runs: open the model once, answer batches."""

import os
import pickle
import traceback
import warnings
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from platform import node
from queue import SimpleQueue
from typing import Any, Self

from cuescope_sdk import Response, Trial, UserError
from cuescope_sdk.workers._versions import Versions, loaded_versions, require_versions

Respond = Callable[[Sequence[Trial]], list[Response]]


@dataclass(frozen=True)
class Setup:
    """Setup of a worker.

    `build` is the pickled function that opens the model; relative paths are those of `folder`. A
    worker must have these `versions`.
    """

    build: bytes
    versions: Versions = field(default_factory=dict)
    folder: Path = field(default_factory=Path.cwd)

    @classmethod
    def elsewhere(cls, build: bytes) -> Self:
        """For another machine: with the versions of this process."""
        return cls(build, loaded_versions())


class Answering:
    """Messages are bytes: a pool carries them and knows nothing of what they say."""

    def __init__(self) -> None:
        self._respond: Respond | None = None
        self._taken: SimpleQueue[Callable[[], Any]] = SimpleQueue()

    def open(self, setup: bytes) -> bytes:
        """Open the model; the reply to the driver, which may be an error."""
        return _reply(lambda: self._open(pickle.loads(setup)))  # noqa: S301 - our own driver's

    def take(self, batch: bytes) -> None:
        """Unpack a batch of trials and let their frames be loaded; from any thread."""
        try:
            trials = pickle.loads(batch)  # noqa: S301
        except Exception:
            self._taken.put(lambda: pickle.loads(batch))  # noqa: S301 - told by `answer`
            return
        if prefetch := getattr(self._respond, "prefetch", None):
            # what is wrong with a trial is told as it is answered
            with suppress(Exception):
                prefetch(trials)
        self._taken.put(lambda: self._answer(trials))

    def answer(self) -> bytes:
        """The reply to the first batch that was taken, or will be: responses, or an error."""
        return _reply(self._taken.get())

    def _open(self, setup: Setup) -> None:
        require_versions(setup.versions, node())
        if setup.folder.is_dir():
            os.chdir(setup.folder)
        try:
            build = pickle.loads(setup.build)  # noqa: S301
        except ImportError as error:
            raise UserError(
                f"the worker on {node()} has not the code of the model",
                got=str(error),
                remedy="Install the same packages on all machines",
            ) from error
        self._respond = build()

    def _answer(self, trials: Sequence[Trial]) -> list[Response]:
        if self._respond is None:
            raise RuntimeError("a batch came before the model was opened")
        return self._respond(trials)


def read_reply(reply: bytes) -> Any:
    """Read the reply of a worker; raises the error that it met, and gives its warnings again."""
    value, error, warned = pickle.loads(reply)  # noqa: S301 - our own worker's
    for line in warned:
        warnings.warn(line, stacklevel=2)
    if error is not None:
        raise error
    return value


def _reply(action: Callable[[], Any]) -> bytes:
    with warnings.catch_warnings(record=True) as caught:
        value = None
        error = None
        try:
            value = action()
        except Exception as raised:
            error = _portable(raised)
    warned = [str(warning.message) for warning in caught]
    return pickle.dumps((value, error, warned))


def _portable(error: Exception) -> Exception:
    """The error, or its words where pickle cannot carry it."""
    words = "".join(traceback.format_exception(error))
    try:
        same = str(pickle.loads(pickle.dumps(error))) == str(error)  # noqa: S301
    except Exception:
        same = False
    kept = error if same else RuntimeError(f"{type(error).__name__}: {error}")
    kept.add_note(f"in a worker on {node()}:\n{words}")  # for --debug
    return kept
