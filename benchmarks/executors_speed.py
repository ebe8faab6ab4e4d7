"""What executors cost: start, and efficiency of each worker on a model that only sleeps.

Efficiency is the time that the model slept over the time that the workers were there, after the start.
Answers go through `respond` into a cache file, as in an audit.
"""

import argparse
import tempfile
import time
from collections.abc import Sequence
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

from cuescope.context import Context
from cuescope.respond import ModelRunner
from cuescope.store import ResponseCache
from cuescope.types import Frame, Response, Sample, Trial

BATCH, SIDE, CHOICES = 16, 64, 40
EFFICIENCY, OVERHEAD = 0.9, 0.05


class SleepingModel:
    """Takes so many seconds a batch, and no CPU."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds

    def respond(self, trials: Sequence[Trial]) -> list[Response]:
        time.sleep(self.seconds)
        return [Response(logits=np.zeros(CHOICES, np.float32)) for _ in trials]


def open_sleeping(seconds: float) -> Any:
    """What workers call; they import this module by its name."""
    return SleepingModel(seconds)


def trials(count: int, turn: int) -> list[Trial]:
    """Distinct trials of a frame each; those of another turn are others."""
    rng = np.random.default_rng(turn)
    frames = rng.integers(0, 256, (count, SIDE, SIDE, 3), np.uint8)
    choices = tuple(f"class {number}" for number in range(CHOICES))
    return [
        Trial(sample=Sample(key=f"{turn}-{i}", frames=(Frame.from_array(f),), choices=choices))
        for i, f in enumerate(frames)
    ]


def measure(spec: str, workers: int, seconds: float, batches: int, turns: int) -> tuple[float, ...]:
    """Seconds until all workers have answered once, then median seconds of a turn."""
    with tempfile.TemporaryDirectory() as folder:
        cache = ResponseCache(Path(folder) / "responses.sqlite")
        executor = Context(device="cpu").build("executor", spec) if spec else None
        build = partial(open_sleeping, seconds)
        ask = ModelRunner("bench", build, cache, batch_size=BATCH, executor=executor)
        since = time.perf_counter()
        ask(trials(4 * workers * BATCH, 0))
        start, walls = time.perf_counter() - since, []
        for turn in range(1, turns + 1):
            asked = trials(batches * BATCH, turn)
            since = time.perf_counter()
            ask(asked)
            walls.append(time.perf_counter() - since)
        cache.close()
        if executor is not None:
            executor.close()
    return start, median(walls)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--milliseconds", type=float, default=50, help="of a batch")
    parser.add_argument("--batches", type=int, default=100, help="a turn")
    parser.add_argument("--turns", type=int, default=3, help="the median counts")
    parser.add_argument("--only", help="one executor, as processes:2")
    options = parser.parse_args()
    specs = [("", 1), ("processes:1", 1), ("processes:2", 2)]
    if find_spec("ray"):
        specs.append(("ray:2", 2))
    table = Table("executor", "start", "a batch", "overhead", "efficiency", "", box=None)
    for spec, workers in specs:
        if options.only in (None, spec):
            seconds = options.milliseconds / 1000
            start, wall = measure(spec, workers, seconds, options.batches, options.turns)
            batch = wall * workers / options.batches
            efficiency, overhead = seconds / batch, batch / seconds - 1
            met = efficiency >= EFFICIENCY and overhead < OVERHEAD
            table.add_row(
                spec or "none",
                f"{start:.1f} s",
                f"{1000 * batch:.1f} ms",
                f"{overhead:+.1%}",
                f"{efficiency:.2f}",
                "met" if met else "missed",
            )
    Console().print(table)


if __name__ == "__main__":
    from executors_speed import main as run  # so that workers can import the model

    run()
