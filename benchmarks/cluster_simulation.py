"""What a large audit would take on many GPUs: a discrete-event simulation of driver and workers.

The driver is one queue: it packs a batch, and digests, checks and stores its answers. A worker has
two batches, the one that it answers and the next; it dies at random, its batches are asked again,
and another one opens the model. `respond` looks trials up in windows, and a window ends when its
last batch is answered. How batch times spread is measured of a ViT-B/16 on this machine, and what
the driver takes too (`--measure`; else the figures below, measured in the same way); how many
images a GPU answers a second is assumed.
"""

import argparse
import heapq
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image
from rich.console import Console
from rich.table import Table

from cuescope_core.context import Context
from cuescope_core.respond import WINDOW, ModelRunner
from cuescope_core.store import ResponseCache
from cuescope_core.types import Frame, Response, Sample, Trial
from cuescope_sdk.workers._executor import MOST_TOGETHER, ROUNDS

# over their mean
DECILES = (0.23, 0.48, 0.73, 0.79, 0.88, 0.97, 1.07, 1.22, 1.31, 1.48, 2.05)
DRIVER_MICROSECONDS = 85.0  # processor time a trial
IN_FLIGHT, CHOICES = 2, 40


@dataclass(frozen=True)
class Fleet:
    """`images` are those that a GPU answers a second; `deaths` of all workers an hour."""

    workers: int = 64
    images: float = 1000.0
    trials: int = 400_000 * 8
    batch: int = 64
    driver_seconds: float = DRIVER_MICROSECONDS * 1e-6
    deaths: float = 1.0
    opening: float = 60.0
    window: int = WINDOW

    @property
    def ideal(self) -> float:
        """Seconds if no GPU ever waited."""
        return self.trials / self.workers / self.images


@dataclass(frozen=True)
class Outcome:
    """Seconds in all, shares of them that driver and workers were busy, batches asked again."""

    seconds: float
    driver: float
    workers: float
    again: int


class Simulation:
    """One audit; all workers have the model open at the start."""

    def __init__(self, fleet: Fleet, deciles: Sequence[float], seed: int) -> None:
        self.fleet, self.rng = fleet, np.random.default_rng(seed)
        spread = np.interp(
            self.rng.random(4096), np.linspace(0, 1, len(deciles)), deciles
        )
        self.times = spread / spread.mean() * fleet.batch / fleet.images
        self.events: list[tuple[float, int, str, int, int]] = []
        self.order = count()
        self.held = [0] * fleet.workers  # batches with each
        self.lives = [
            0
        ] * fleet.workers  # what an earlier life began is not answered any more
        self.closed: set[int] = set()
        self.waiting = self.again = 0
        self.now = self.driver_free = self.driver_busy = self.worker_busy = 0.0

    def run(self) -> Outcome:
        """Window after window."""
        fleet = self.fleet
        left, window = (
            -(-fleet.trials // fleet.batch),
            max(1, fleet.window // fleet.batch),
        )
        self._plan_death()
        while left:
            asked = min(window, left)
            self._answer(asked)
            left -= asked
        shares = (
            self.driver_busy / self.now,
            self.worker_busy / self.now / fleet.workers,
        )
        return Outcome(self.now, *shares, self.again)

    def _answer(self, batches: int) -> None:
        self.waiting = batches
        for most in range(1, IN_FLIGHT + 1):
            self._feed(most)
        while batches:
            self.now, _, what, worker, life = heapq.heappop(self.events)
            if what == "death":
                self._kill(int(self.rng.integers(self.fleet.workers)))
                self._plan_death()
            elif what == "open":
                self.closed.discard(worker)
                self._feed(IN_FLIGHT)
            elif what == "answered" and life == self.lives[worker]:
                self.held[worker] -= 1
                if self.held[worker]:
                    self._begin(worker)
                handling = self.fleet.batch * self.fleet.driver_seconds
                self.driver_free = max(self.driver_free, self.now) + handling
                self.driver_busy += handling
                self._at(self.driver_free, "stored", worker)
            elif what == "stored":
                batches -= 1
                self._feed(IN_FLIGHT)

    def _feed(self, most: int) -> None:
        for worker in range(self.fleet.workers if self.waiting else 0):
            while (
                self.waiting and self.held[worker] < most and worker not in self.closed
            ):
                self.waiting -= 1
                self.held[worker] += 1
                if self.held[worker] == 1:
                    self._begin(worker)

    def _begin(self, worker: int) -> None:
        seconds = float(self.times[self.rng.integers(len(self.times))])
        self.worker_busy += seconds
        self._at(self.now + seconds, "answered", worker)

    def _kill(self, worker: int) -> None:
        self.again += bool(self.held[worker])
        self.waiting += self.held[worker]
        self.held[worker] = 0
        self.lives[worker] += 1
        self.closed.add(worker)
        self._at(self.now + self.fleet.opening, "open", worker)

    def _plan_death(self) -> None:
        if self.fleet.deaths:
            self._at(
                self.now + self.rng.exponential(3600 / self.fleet.deaths), "death", 0
            )

    def _at(self, moment: float, what: str, worker: int) -> None:
        event = (moment, next(self.order), what, worker, self.lives[worker])
        heapq.heappush(self.events, event)


# ----------------------------------------------------------------------------------- measuring


def measured_deciles(batches: int = 30, images: int = 2) -> list[float]:
    """How the times of a ViT-B/16 spread, over their mean; the weights are random."""
    import torch
    from transformers import CLIPVisionConfig, CLIPVisionModel

    model = CLIPVisionModel(CLIPVisionConfig(patch_size=16)).eval()
    pixels, seconds = torch.zeros(images, 3, 224, 224), []
    with torch.inference_mode():
        for number in range(batches + 2):
            since = time.perf_counter()
            model(pixel_values=pixels)
            if number >= 2:
                seconds.append(time.perf_counter() - since)
    deciles = np.quantile(seconds, np.linspace(0, 1, 11)) / np.mean(seconds)
    return [round(float(value), 2) for value in deciles]


class QuickModel:
    """Answers at once."""

    def respond(self, trials: Sequence[Trial]) -> list[Response]:
        return [Response(logits=np.zeros(CHOICES, np.float32)) for _ in trials]


def open_quick() -> Any:
    """What the worker calls; it imports this module by its name."""
    return QuickModel()


def open_image(path: Path) -> Image.Image:
    """The loader of frames that travel as paths."""
    return Image.open(path)


def quick_trials(number: int) -> Iterator[Trial]:
    """Distinct trials of files that nobody opens."""
    choices = tuple(f"class {index}" for index in range(CHOICES))
    for index in range(number):
        frame = Frame(
            f"{index:032x}", partial(open_image, Path(f"/photos/{index}.jpg"))
        )
        yield Trial(sample=Sample(key=f"{index}.jpg", frames=(frame,), choices=choices))


def measured_driver(trials: int = 20_000) -> float:
    """Microseconds of the driver's processor time a trial, by way of `processes:1`."""
    with tempfile.TemporaryDirectory() as folder:
        cache = ResponseCache(Path(folder) / "responses.sqlite")
        executor = Context(device="cpu").build("executor", "processes:1")
        ask = ModelRunner(
            "cluster", open_quick, cache, batch_size=64, executor=executor
        )
        since = time.process_time()
        ask(quick_trials(trials))
        seconds = time.process_time() - since
        executor.close()
        cache.close()
    return 1e6 * seconds / trials


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument(
        "--measure", action="store_true", help="measure here, for a minute"
    )
    parser.add_argument("--trials", type=int, default=400_000 * 8)
    parser.add_argument("--deaths", type=float, default=1.0, help="of workers, an hour")
    options = parser.parse_args()
    deciles = measured_deciles() if options.measure else DECILES
    driver = measured_driver() if options.measure else DRIVER_MICROSECONDS
    console = Console()
    console.print(
        f"driver: {driver:.0f} us a trial; batch times over their mean: {deciles}"
    )
    base = Fleet(
        trials=options.trials, deaths=options.deaths, driver_seconds=driver * 1e-6
    )
    table = Table(
        "images/s a GPU", "workers", "window", "ideal", "took", "GPUs busy", box=None
    )
    table.add_column("driver busy")
    table.add_column("asked again")
    for images in (1000.0, 100.0, 10.0):
        for workers in (8, 64):
            asked = base.batch * min(ROUNDS * workers, MOST_TOGETHER)
            for window in (WINDOW, max(WINDOW, asked)):
                fleet = replace(base, images=images, workers=workers, window=window)
                outcome = Simulation(fleet, deciles, seed=0).run()
                table.add_row(
                    f"{images:.0f}",
                    str(workers),
                    f"{window:,}",
                    f"{fleet.ideal / 60:.0f} min",
                    f"{outcome.seconds / 60:.1f} min",
                    f"{outcome.workers:.0%}",
                    f"{outcome.driver:.0%}",
                    str(outcome.again),
                )
    console.print(table)
    most = 1e6 / driver
    console.print(
        f"The driver answers for {most:,.0f} trials a second: "
        + ", ".join(
            f"{most / rate:,.0f} GPUs of {rate:.0f}" for rate in (1000, 100, 10)
        )
    )


if __name__ == "__main__":
    from cluster_simulation import main as run  # so that workers can import the model

    run()
