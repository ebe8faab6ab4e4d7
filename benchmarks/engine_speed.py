"""What `respond` costs: over a bare loop around a model, and when all answers are cached."""

import argparse
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

from cuescope.respond import Responder
from cuescope.store import ResponseCache
from cuescope.types import Frame, Output, Response, Sample, Trial

CHOICES, DIM, SIDE = 40, 512, 8
MODEL_SECONDS = 0.005
OVERHEAD_LIMIT, REPLAY_LIMIT = 0.05, 5.0


class SleepingModel:
    """Takes `seconds` a call, however many trials it holds; the answers are drawn beforehand."""

    def __init__(self, outputs: frozenset[Output], seconds: float) -> None:
        rng = np.random.default_rng(0)
        self.logits = rng.normal(size=CHOICES).astype(np.float32)
        self.embedding = (
            rng.normal(size=DIM).astype(np.float32) if "embedding" in outputs else None
        )
        self.seconds = seconds

    def respond(self, trials: Sequence[Trial]) -> list[Response]:
        time.sleep(self.seconds)
        return [Response(logits=self.logits, embedding=self.embedding) for _ in trials]


def trials(count: int, outputs: frozenset[Output]) -> list[Trial]:
    """Distinct trials of one tiny frame each."""
    pixels = np.zeros((count, SIDE, SIDE, 3), np.uint8)
    pixels.reshape(count, -1)[:, :4] = np.arange(count, dtype="<u4")[:, None].view(np.uint8)
    choices = tuple(f"class {index}" for index in range(CHOICES))
    return [
        Trial(
            sample=Sample(key=str(i), frames=(Frame.from_array(frame),), choices=choices),
            outputs=outputs,
        )
        for i, frame in enumerate(pixels)
    ]


def seconds_of(work: Callable[[], Any]) -> float:
    """Wall time of `work`."""
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def responder(model: SleepingModel, path: Path, batch_size: int) -> Responder:
    """What an audit asks, with a cache in a file."""
    return Responder("bench", lambda: model, ResponseCache(path), batch_size=batch_size)


def overhead(folder: Path, batch_size: int, calls: int, repeats: int) -> tuple[float, float, float]:
    """Bare seconds, `respond`'s seconds (medians) and the median of their ratios, less 1.

    The two take turns, so that other work on the machine weighs on both.
    """
    outputs: frozenset[Output] = frozenset({"logits", "embedding"})
    model, asked = SleepingModel(outputs, MODEL_SECONDS), trials(calls * batch_size, outputs)

    def bare() -> None:
        for start in range(0, len(asked), batch_size):
            model.respond(asked[start : start + batch_size])

    pairs = []
    for turn in range(repeats):
        ask = responder(model, folder / f"{batch_size}-{turn}.sqlite", batch_size)
        pairs.append((seconds_of(bare), seconds_of(lambda: ask(asked))))  # noqa: B023
        ask.cache.close()
    ratio = median(engine / loop for loop, engine in pairs)
    return median(loop for loop, _ in pairs), median(engine for _, engine in pairs), ratio - 1


def replay(folder: Path, outputs: frozenset[Output], count: int) -> float:
    """Seconds to bring back `count` cached responses in a fresh connection."""
    model, asked = SleepingModel(outputs, seconds=0), trials(count, outputs)
    path = folder / f"replay-{len(outputs)}.sqlite"
    warm = responder(model, path, batch_size=1000)
    warm(asked)
    warm.cache.close()
    cold = responder(model, path, batch_size=1000)
    took = seconds_of(lambda: cold(asked))
    if cold.model_calls:
        raise RuntimeError(f"{cold.model_calls} of {count} responses were not cached")
    cold.cache.close()
    return took


def main() -> None:
    """Print both tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--calls", type=int, default=200, help="model calls a turn")
    parser.add_argument("--repeats", type=int, default=5, help="turns; the median counts")
    parser.add_argument("--count", type=int, default=100_000, help="cached responses")
    options = parser.parse_args()
    console = Console()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        table = Table("batch", "bare loop", "respond", "overhead", "aim", "", box=None)
        for batch_size in (1, 16):
            loop, engine, over = overhead(folder, batch_size, options.calls, options.repeats)
            table.add_row(
                str(batch_size), f"{loop:.3f} s", f"{engine:.3f} s", f"{over:+.1%}",
                f"under {OVERHEAD_LIMIT:.0%}", "met" if over < OVERHEAD_LIMIT else "missed",
            )  # fmt: skip
        console.print(f"{options.calls} calls of a model that takes {MODEL_SECONDS * 1000:.0f} ms")
        console.print(table)
        table = Table("replayed", "responses", "took", "aim", "", box=None)
        kinds: list[tuple[Output, ...]] = [("logits",), ("logits", "embedding")]
        for outputs in kinds:
            took = replay(folder, frozenset(outputs), options.count)
            table.add_row(
                " + ".join(outputs), f"{options.count:,}", f"{took:.2f} s",
                f"under {REPLAY_LIMIT:.0f} s", "met" if took < REPLAY_LIMIT else "missed",
            )  # fmt: skip
        console.print(table)


if __name__ == "__main__":
    main()
