"""Jobs of a bench, several at once, each kept as soon as it is done."""

import json
import os
import warnings
from collections.abc import Collection, Iterator, Mapping
from concurrent.futures import ProcessPoolExecutor, as_completed
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from multiprocessing import get_context, parent_process
from pathlib import Path
from threading import Thread
from typing import Any

from cuescope_core.checksummed_files import DamagedFileError, read_sealed, write_sealed
from cuescope_core.store import UNREADABLE
from cuescope_sdk import Context, digest

THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
# By name; each is a call of a module's function, which a process can take.
Jobs = Mapping[str, partial[Any]]


@dataclass(frozen=True)
class KeptJobs:
    """Jobs whose results are plain JSON: one file each in a folder, named by a digest.

    `stamp` is all that decides the results beside the job's own name: settings, versions. A run
    that was killed goes on: what is kept is read, and only the rest is done. One worker is this
    process.
    """

    folder: Path
    stamp: object
    workers: int

    def run(self, jobs: Jobs, context: Context, noun: str) -> dict[str, Any]:
        """The result of each job by name, as it is kept; under a progress bar with its forecast."""
        results: dict[str, Any] = {}
        if context.resume:
            results = self._read_all(jobs)
        if results:
            context.announce(
                f"{len(results)} of {len(jobs)} {noun} are kept; --again redoes them"
            )
        # The bar has what is left alone, or its forecast would count what took no time.
        left = {name: job for name, job in jobs.items() if name not in results}
        with context.progress(noun, len(left)) as advance:
            for name, result in self._work(left):
                # shown as it is kept, resumed or not
                results[name] = self.write(name, result)
                advance(1)
        return {name: results[name] for name in jobs}

    def _read_all(self, names: Collection[str]) -> dict[str, Any]:
        """The kept results; one warning for all that are damaged."""
        results: dict[str, Any] = {}
        damaged: list[DamagedFileError] = []
        for name in names:
            try:
                results[name] = self._read(name)
            except FileNotFoundError:
                continue
            except DamagedFileError as error:
                damaged.append(error)
        if damaged:
            warnings.warn(
                f"kept results that cannot be used are done again, {len(damaged)} of "
                f"{len(names)}: {damaged[0]}",
                stacklevel=2,
            )
        return results

    def _work(self, jobs: Jobs) -> Iterator[tuple[str, Any]]:
        if not jobs:
            return
        if self.workers == 1:
            for name, job in jobs.items():
                yield name, job()
            return
        # A forked process would inherit torch's threads in the state they are in.
        spawn = get_context("spawn")
        workers = min(self.workers, len(jobs))
        with _one_thread_each(), ProcessPoolExecutor(workers, spawn, _begin) as pool:
            running = {pool.submit(job): name for name, job in jobs.items()}
            try:
                for done in as_completed(running):
                    yield running[done], done.result()
            finally:
                # Ctrl-C must not wait for jobs that have not begun
                pool.shutdown(cancel_futures=True)

    def file(self, name: str) -> Path:
        """Where the result of a job is kept."""
        return self.folder / f"{digest(self.stamp, name)}.json"

    def read(self, name: str) -> Any:
        """Read what was written; None where nothing is, or not what was written."""
        try:
            return self._read(name)
        except (FileNotFoundError, DamagedFileError):
            return None

    def write(self, name: str, result: Any) -> Any:
        """Keep a result, which comes back as `read` would give it; whole or not at all."""
        text = json.dumps({"job": name, "result": result})
        # a result that was damaged since is done again, never used
        write_sealed(self.file(name), text.encode())
        return json.loads(text)["result"]

    def _read(self, name: str) -> Any:
        file = self.file(name)
        content = read_sealed(file)
        try:
            return json.loads(content)["result"]
        # the seal fits whatever a stranger's file holds
        except UNREADABLE as error:
            raise DamagedFileError(
                f"{file} is no result", expected="a result as it was kept"
            ) from error


@contextmanager
def _one_thread_each() -> Iterator[None]:
    """Processes that are started meanwhile run numpy's and scipy's kernels on one thread.

    A worker has a core: more threads would wait for each other. They read it as they are imported.
    """
    before = {name: os.environ.get(name) for name in THREADS}
    os.environ.update(dict.fromkeys(THREADS, "1"))
    try:
        yield
    finally:
        for name, value in before.items():
            os.environ.pop(name)
            if value is not None:
                os.environ[name] = value


def _begin() -> None:
    import torch

    torch.set_num_threads(1)
    Thread(target=_end_with_the_bench, daemon=True).start()


def _end_with_the_bench() -> None:
    """A killed bench leaves no worker behind."""
    bench = parent_process()
    if bench is not None:
        bench.join()
        os._exit(1)
