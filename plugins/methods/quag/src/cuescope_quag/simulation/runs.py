"""Trainings in processes of their own; what one found is kept, and never trained again."""

import json
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import asdict, dataclass
from multiprocessing import get_context
from pathlib import Path

import torch

from cuescope_quag.simulation.training import Errors, Schedule, trained_errors
from cuescope_sdk import derive, digest

VERSION = 1  # part of the key: raise it when an equal training gives other errors


@dataclass(frozen=True)
class Training:
    """One model: the coupling of its data, and which of the seeds it has."""

    alpha: float
    number: int


@dataclass(frozen=True)
class Runs:
    """Where and how trainings are run."""

    schedule: Schedule
    folder: Path
    seed: int
    device: str
    workers: int

    def errors(
        self, trainings: Sequence[Training], advance: Callable[[int], None]
    ) -> dict[Training, Errors]:
        """Test errors of each training; `advance` is called with 1 for each that is known."""
        found: dict[Training, Errors] = {}
        for training, errors in self._known_first(trainings):
            found[training] = errors
            advance(1)
        return found

    def _known_first(self, trainings: Sequence[Training]) -> Iterator[tuple[Training, Errors]]:
        missing = []
        for training in trainings:
            if (kept := read(self._file(training))) is None:
                missing.append(training)
            else:
                yield training, kept
        yield from self._trained(missing)

    def _trained(self, trainings: Sequence[Training]) -> Iterator[tuple[Training, Errors]]:
        if not trainings:
            return
        workers = min(self.workers, len(trainings))
        # a forked process would inherit torch's threads in the state they are in
        with ProcessPoolExecutor(
            workers, get_context("spawn"), torch.set_num_threads, (1,)
        ) as pool:
            jobs = {
                pool.submit(
                    trained_errors, training.alpha, self.schedule, self._seed(training), self.device
                ): training
                for training in trainings
            }
            try:
                for job in as_completed(jobs):
                    write(self._file(jobs[job]), job.result())
                    yield jobs[job], job.result()
            finally:
                pool.shutdown(cancel_futures=True)

    def _seed(self, training: Training) -> int:
        return derive(self.seed, "quag simulation", str(training.number))

    def _file(self, training: Training) -> Path:
        key = digest(VERSION, asdict(self.schedule), training.alpha, self._seed(training))
        return self.folder / f"{key}.json"


def read(path: Path) -> Errors | None:
    """What was written; None where nothing is, or nothing whole."""
    try:
        return Errors(**json.loads(path.read_bytes()))
    except (OSError, ValueError, TypeError):
        return None


def write(path: Path, errors: Errors) -> None:
    """A reader sees the whole file or none."""
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.with_suffix(".part")
    draft.write_text(json.dumps(asdict(errors)))
    draft.replace(path)
