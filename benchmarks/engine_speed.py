"""What `respond` costs: over a bare loop around a model, and when all answers are cached."""

import argparse
import tempfile
import time
from collections.abc import Callable, Sequence
from functools import partial
from itertools import product
from pathlib import Path
from statistics import median
from typing import Any, cast

import numpy as np
from rich.console import Console
from rich.table import Table

from cuescope_core.capabilities import Model
from cuescope_core.respond import ModelRunner
from cuescope_core.store import ResponseCache
from cuescope_core.types import Frame, Output, Response, Sample, Trial

CHOICES, DIM, SIDE = 40, 512, 8
MODEL_SECONDS = 0.005
OVERHEAD_LIMIT, REPLAY_LIMIT = 0.05, 2.5
LOGITS: frozenset[Output] = frozenset({"logits"})
BOTH: frozenset[Output] = frozenset({"logits", "embedding"})


class SleepingModel:
    """Takes `seconds` a trial; the answers are drawn beforehand."""

    def __init__(self, outputs: frozenset[Output], seconds: float) -> None:
        rng = np.random.default_rng(0)
        self.logits = rng.normal(size=CHOICES).astype(np.float32)
        self.embedding = (
            rng.normal(size=DIM).astype(np.float32) if "embedding" in outputs else None
        )
        self.seconds = seconds

    def respond(self, trials: Sequence[Trial]) -> list[Response]:
        time.sleep(self.seconds * len(trials))
        return [Response(logits=self.logits, embedding=self.embedding) for _ in trials]


def trials(count: int, outputs: frozenset[Output]) -> list[Trial]:
    """Distinct trials of one tiny frame each."""
    pixels = np.zeros((count, SIDE, SIDE, 3), np.uint8)
    pixels.reshape(count, -1)[:, :4] = np.arange(count, dtype="<u4")[:, None].view(
        np.uint8
    )
    choices = tuple(f"class {index}" for index in range(CHOICES))
    return [
        Trial(
            sample=Sample(
                key=str(i), frames=(Frame.from_array(frame),), choices=choices
            ),
            outputs=outputs,
        )
        for i, frame in enumerate(pixels)
    ]


def timed(work: Callable[[], Any]) -> tuple[float, float]:
    """Wall and CPU seconds of `work`."""
    wall, cpu = time.perf_counter(), time.process_time()
    work()
    return time.perf_counter() - wall, time.process_time() - cpu


def runner(model: SleepingModel, path: Path, batch_size: int) -> ModelRunner:
    """What an audit asks, with a cache in a file."""
    return ModelRunner(
        "bench",
        lambda: cast("Model", model),
        ResponseCache(path),
        batch_size=batch_size,
    )


def overhead(
    folder: Path, batch: int, outputs: frozenset[Output], count: int, repeats: int
) -> tuple[float, float, float]:
    """Bare seconds, the share that `respond` adds to them, and its CPU share.

    Medians over `repeats` turns. The two loops take turns, so that other work on the machine
    weighs on both; the CPU share counts this process alone, whatever else runs.
    """
    model = SleepingModel(outputs, MODEL_SECONDS)
    asked = trials(count, outputs)

    def bare() -> None:
        for start in range(0, len(asked), batch):
            model.respond(asked[start : start + batch])

    turns = []
    for turn in range(repeats):
        ask = runner(model, folder / f"{batch}-{len(outputs)}-{turn}.sqlite", batch)
        turns.append((*timed(bare), *timed(partial(ask, asked))))
        ask.cache.close()
    return (
        median(wall for wall, *_ in turns),
        median(engine / wall - 1 for wall, _, engine, _ in turns),
        median((engine - cpu) / wall for wall, cpu, _, engine in turns),
    )


def replay(folder: Path, outputs: frozenset[Output], count: int) -> tuple[float, float]:
    """Wall and CPU seconds to bring back `count` cached responses in a fresh connection."""
    model, asked = SleepingModel(outputs, seconds=0), trials(count, outputs)
    path = folder / f"replay-{len(outputs)}.sqlite"
    warm = runner(model, path, batch_size=1000)
    warm(asked)
    warm.cache.close()
    cold = runner(model, path, batch_size=1000)
    wall, cpu = timed(partial(cold, asked))
    if cold.model_calls:
        raise RuntimeError(f"{cold.model_calls} of {count} responses were not cached")
    cold.cache.close()
    return wall, cpu


def main() -> None:
    """Print both tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--trials", type=int, default=256, help="trials a turn")
    parser.add_argument(
        "--repeats", type=int, default=5, help="turns; the median counts"
    )
    parser.add_argument("--count", type=int, default=100_000, help="cached responses")
    options = parser.parse_args()
    console = Console()
    with tempfile.TemporaryDirectory() as name:
        show_overhead(console, Path(name), options.trials, options.repeats)
        show_replay(console, Path(name), options.count)


def show_overhead(console: Console, folder: Path, count: int, repeats: int) -> None:
    """The table of what `respond` adds to a model's own time."""
    table = Table(
        "batch", "outputs", "added", "CPU added", "a trial", "aim", "", box=None
    )
    for outputs, batch in product((LOGITS, BOTH), (1, 16, 64)):
        bare, over, cpu = overhead(folder, batch, outputs, count, repeats)
        table.add_row(
            str(batch),
            " + ".join(sorted(outputs)),
            f"{over:+.1%}",
            f"{cpu:+.1%}",
            f"{1e6 * over * bare / count:.0f} us",
            f"< {OVERHEAD_LIMIT:.0%}",
            "met" if over < OVERHEAD_LIMIT else "missed",
        )
    console.print(
        f"respond over a bare loop, {count} trials of a model that takes "
        f"{MODEL_SECONDS * 1000:.0f} ms for each"
    )
    console.print(table)


def show_replay(console: Console, folder: Path, count: int) -> None:
    """The table of how long cached responses take."""
    table = Table("outputs", "took", "CPU", "aim", "", box=None)
    for outputs in (LOGITS, BOTH):
        wall, cpu = replay(folder, outputs, count)
        table.add_row(
            " + ".join(sorted(outputs)),
            f"{wall:.2f} s",
            f"{cpu:.2f} s",
            f"< {REPLAY_LIMIT:.1f} s",
            "met" if wall < REPLAY_LIMIT else "missed",
        )
    console.print(f"\n{count:,} cached responses, {CHOICES} logits, {DIM} dims")
    console.print(table)


if __name__ == "__main__":
    main()
