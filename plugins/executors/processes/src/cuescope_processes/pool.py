"""Processes of this machine, begun by the standard library's `spawn`."""

import os
import signal
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from multiprocessing import get_context
from multiprocessing.connection import Connection, wait
from multiprocessing.context import SpawnProcess
from threading import RLock
from types import ModuleType

from cuescope_processes.worker import END, KEPT, work
from cuescope_sdk.workers import Death, Pool

END_SECONDS = 3.0  # a process that has nothing to do needs milliseconds
GONE_SECONDS = 5.0  # between the end of its messages and its exit code
_starting = RLock()


@dataclass(frozen=True)
class _Worker:
    process: SpawnProcess
    pipe: "Connection[bytes, bytes]"
    environment: Mapping[str, str]


class ProcessPool(Pool):
    """A process for each environment, reached through a pipe."""

    def __init__(self, environments: Sequence[Mapping[str, str]]) -> None:
        self._free = list(environments)
        self._workers: dict[int, _Worker] = {}

    def start(self, worker: int, setup: bytes) -> None:
        """Begin a process in an environment that is free."""
        context = get_context("spawn")
        ours, theirs = context.Pipe()
        process = context.Process(target=work, args=(theirs,), daemon=True)
        environment = self._free.pop(0)
        with _starting, _environment(environment), _without_main(), _without_ctrl_c():
            process.start()
        theirs.close()  # so that the pipe ends with the process
        self._workers[worker] = _Worker(process, ours, environment)
        self.submit(worker, setup)

    def submit(self, worker: int, batch: bytes) -> None:
        """Send it; that the process is dead is told by `wait`."""
        with suppress(OSError):
            self._workers[worker].pipe.send_bytes(batch)

    def start_next(self, worker: int) -> None:
        """Let it begin the next batch."""
        if worker in self._workers:
            self.submit(worker, KEPT)

    def wait(self) -> list[tuple[int, bytes | Death]]:
        """What has come."""
        pipes = {number: worker.pipe for number, worker in self._workers.items()}
        ready = wait(list(pipes.values()))
        return [
            self._receive(number) for number, pipe in pipes.items() if pipe in ready
        ]

    def _receive(self, worker: int) -> tuple[int, bytes | Death]:
        try:
            return worker, self._workers[worker].pipe.recv_bytes()
        except (EOFError, OSError):
            process = self._forget(worker)
            process.join(GONE_SECONDS)
            process.kill()  # its pipe is closed, so it is of no use
            return worker, Death(_reason(process.exitcode))

    def _forget(self, worker: int) -> SpawnProcess:
        gone = self._workers.pop(worker)
        gone.pipe.close()
        self._free.append(gone.environment)
        return gone.process

    def end(self, *, at_once: bool) -> None:
        """End the processes; none is left."""
        deadline = time.monotonic() + END_SECONDS
        if not at_once:
            for number in self._workers:
                self.submit(number, END)
            for worker in self._workers.values():
                worker.process.join(max(0.0, deadline - time.monotonic()))
        for worker in self._workers.values():
            worker.process.kill()
        for number in list(self._workers):
            self._forget(number).join(GONE_SECONDS)


def _reason(code: int | None) -> str:
    if code is None or code >= 0:
        return f"exit code {code}"
    with suppress(ValueError):
        return f"killed by {signal.Signals(-code).name}"
    return f"killed by signal {-code}"


# What a process is born with. Nothing of it is left in this one.


@contextmanager
def _environment(changes: Mapping[str, str]) -> Iterator[None]:
    """GPUs and threads are read as libraries are imported, so they are set before."""
    before = {name: os.environ.get(name) for name in changes}
    os.environ.update(changes)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


@contextmanager
def _without_main() -> Iterator[None]:
    """Workers need nothing of the script that was started; `spawn` would run it once more."""
    main = sys.modules["__main__"]
    sys.modules["__main__"] = ModuleType("__main__")
    try:
        yield
    finally:
        sys.modules["__main__"] = main


@contextmanager
def _without_ctrl_c() -> Iterator[None]:
    """A terminal sends Ctrl-C to workers too; this process hears it, and ends them."""
    if not hasattr(signal, "pthread_sigmask"):  # Windows
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
