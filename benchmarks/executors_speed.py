"""What executors cost: start, and efficiency of each worker on a model that only sleeps.

Answers go through `respond` into a cache file, as in an audit. Efficiency is the time that the
model alone takes over the time that workers were there after the start; overhead is its inverse.
Beside Ray's workers stand bare ones: actors that sleep, and are called again when they are back,
as nobody can be faster who begins a batch after the last one is stored.
"""

import argparse
import tempfile
import time
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

from cuescope_core.context import Context
from cuescope_core.digest import digest
from cuescope_core.respond import ModelRunner
from cuescope_core.store import ResponseCache
from cuescope_core.types import Frame, Response, Sample, Trial

BATCH, CHOICES = 16, 40
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
    """Distinct trials of a file each; those of another turn are others."""
    choices = tuple(f"class {number}" for number in range(CHOICES))
    frame = Frame.from_file(Path(__file__))  # nobody looks
    frames = [replace(frame, key=digest(turn, number)) for number in range(count)]
    return [
        Trial(sample=Sample(key=f.key, frames=(f,), choices=choices)) for f in frames
    ]


def alone(seconds: float, batches: int) -> float:
    """Seconds of a batch of the model in a loop; to sleep takes a little longer than it is told."""
    model, batch = SleepingModel(seconds), trials(BATCH, 0)
    since = time.perf_counter()
    for _ in range(batches):
        model.respond(batch)
    return (time.perf_counter() - since) / batches


class Sleeper:
    """A bare actor."""

    def answer(self, seconds: float) -> bytes:
        """As long as a reply of the model."""
        time.sleep(seconds)
        return bytes(4000)


def bare_ray(workers: int, seconds: float, batches: int) -> float:
    """Seconds of a batch, in the Ray that the executor has started."""
    import ray

    actors: list[Any] = [
        ray.remote(num_cpus=1)(Sleeper).remote() for _ in range(workers)
    ]
    ray.get([actor.answer.remote(0.0) for actor in actors])
    since = time.perf_counter()
    calls, left = (
        {actor.answer.remote(seconds): actor for actor in actors},
        batches - workers,
    )
    while calls:
        for call in ray.wait(list(calls))[0]:
            actor = calls.pop(call)
            ray.get(call)
            if left:
                calls[actor.answer.remote(seconds)], left = actor, left - 1
    return (time.perf_counter() - since) * workers / batches


def measure(
    spec: str, workers: int, seconds: float, batches: int, turns: int
) -> tuple[float, ...]:
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
    seconds, batches = options.milliseconds / 1000, options.batches
    base = alone(seconds, batches)
    rows: list[tuple[str, str, float]] = [("the model alone", "", base)]
    for spec, workers in [
        ("", 1),
        ("processes:1", 1),
        ("processes:2", 2),
        ("ray:2", 2),
    ]:
        if options.only in (None, spec) and (
            not spec.startswith("ray") or find_spec("ray")
        ):
            start, wall = measure(spec, workers, seconds, batches, options.turns)
            rows.append((spec or "none", f"{start:.1f} s", wall * workers / batches))
            if spec.startswith("ray"):
                rows.append(
                    ("bare actors of Ray", "", bare_ray(workers, seconds, batches))
                )
    table = Table(
        "executor", "start", "a batch", "overhead", "efficiency", "", box=None
    )
    for name, told, batch in rows:
        efficiency, overhead = base / batch, batch / base - 1
        met = efficiency >= EFFICIENCY and overhead < OVERHEAD
        figures = f"{1000 * batch:.1f} ms", f"{overhead:+.1%}", f"{efficiency:.2f}"
        table.add_row(name, told, *figures, "met" if met else "missed")
    Console().print(table)


if __name__ == "__main__":
    from executors_speed import main as run  # so that workers can import the model

    run()
