"""All configurations: several at once, each kept as soon as it is graded."""

import json
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import asdict, dataclass
from multiprocessing import get_context, parent_process
from pathlib import Path
from threading import Thread
from typing import Any

from cuescope_sdk import Context, digest
from cuescope_trove.suite.configurations import Configuration
from cuescope_trove.suite.grading import Gaps, Graded, Settings, grade, unbiased_accuracies

Job = tuple[Callable[..., Any], tuple[Any, ...]]  # what is called, and with what
VERSION = 1  # raise it when equal settings give other grades


@dataclass(frozen=True)
class Suite:
    """Where results are kept: one file a configuration, and one a sequence length.

    `origin` is what else decides them: versions and source of the plugins.
    """

    settings: Settings
    folder: Path
    origin: Sequence[object]
    workers: int

    def run(
        self, chosen: Sequence[Configuration], context: Context
    ) -> tuple[dict[int, tuple[float, float]], dict[Configuration, Graded]]:
        """Unbiased accuracies by length, and the grades of each configuration."""
        lengths = sorted({configuration.length for configuration in chosen})
        jobs: dict[Any, Job] = {
            length: (unbiased_accuracies, (self.settings, length)) for length in lengths
        }
        jobs |= {each: (grade, (self.settings, each)) for each in chosen}
        results: dict[Any, Any] = {}
        if context.resume:
            results = {job: kept for job in jobs if (kept := self._read(job)) is not None}
        if results:
            context.announce(f"{len(results)} of {len(jobs)} results are kept; --again redoes them")
        # The bar has what is left alone, or its forecast would count what took no time.
        left = {job: jobs[job] for job in jobs if job not in results}
        with context.progress("configurations", len(left)) as advance:
            for job, result in self._work(left):
                self._write(job, result)
                results[job] = self._read(job)  # shown as it is kept, resumed or not
                advance(1)
        return {length: results[length] for length in lengths}, {c: results[c] for c in chosen}

    def _work(
        self, jobs: Mapping[Any, tuple[Callable[..., Any], tuple[Any, ...]]]
    ) -> Iterator[Any]:
        if not jobs:
            return
        # A forked process would inherit torch's threads in the state they are in.
        spawn = get_context("spawn")
        with ProcessPoolExecutor(min(self.workers, len(jobs)), spawn, _one_thread) as pool:
            running = {pool.submit(work, *given): job for job, (work, given) in jobs.items()}
            try:
                for done in as_completed(running):
                    yield running[done], done.result()
            finally:
                pool.shutdown(cancel_futures=True)

    def _file(self, job: Any) -> Path:
        settings = {k: v for k, v in asdict(self.settings).items() if k != "cache"}
        key = asdict(job) if isinstance(job, Configuration) else job
        return self.folder / f"{digest(VERSION, settings, list(self.origin), key)}.json"

    def _read(self, job: Any) -> Any:
        """What was written; None where nothing is, or nothing whole."""
        try:
            content = json.loads(self._file(job).read_bytes())
            if not isinstance(job, Configuration):
                temporal, single_frame = content
                return float(temporal), float(single_frame)
            gaps = content["gaps"] and Gaps(**content["gaps"])
            return Graded(gaps, {name: tuple(row) for name, row in content["grades"].items()})
        except (OSError, ValueError, TypeError, KeyError):
            return None

    def _write(self, job: Any, result: Any) -> None:
        """A reader sees the whole file or none."""
        path = self._file(job)
        path.parent.mkdir(parents=True, exist_ok=True)
        draft = path.with_suffix(".part")
        draft.write_text(json.dumps(asdict(result) if isinstance(result, Graded) else result))
        draft.replace(path)  # a rename is atomic within a file system


def _one_thread() -> None:
    import torch

    torch.set_num_threads(1)
    Thread(target=_end_with_the_bench, daemon=True).start()


def _end_with_the_bench() -> None:
    """A killed bench leaves no worker behind."""
    bench = parent_process()
    if bench is not None:
        bench.join()
        os._exit(1)
