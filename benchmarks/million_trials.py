"""What a trial costs `respond` as an audit grows: time, memory, and beside a bare loop.

The trials are those of an audit of frames under eight conditions, made as they are asked for; the
model's answers are scripted. The bare loop takes the same trials, digests them, and writes the same
rows to SQLite in the same batches; it holds nothing and brings nothing back. Processor time is what
is compared, as it does not count what others do on the machine.

    python benchmarks/million_trials.py --trials 1000000
"""

import argparse
import resource
import sqlite3
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any, cast

import numpy as np
from PIL import Image
from rich.console import Console
from rich.table import Table

from cuescope_core.capabilities import Model
from cuescope_core.digest import digest
from cuescope_core.respond import WINDOW, ModelRunner, trial_key
from cuescope_core.store import (
    _INSERT,
    PAGE_BYTES,
    PAGE_CACHE_KIB,
    TABLE,
    WAL_PAGES,
    ResponseCache,
    _pack,
    _seal,
)
from cuescope_core.types import Edit, Frame, Outcome, Response, Sample, Trial

CONDITIONS, CHOICES, PARTS = 8, 40, 10  # parts: of the trials, each whole windows
SLOWER, TIMES, GIGABYTES = 0.10, 3.0, 1.5  # the aims


class Shift(Edit):
    """One of the conditions."""

    kind = "shift"
    step: int


class ScriptedModel:
    """Answers by the number in a frame's key."""

    def __init__(self) -> None:
        self.answers = (
            np.random.default_rng(0).normal(size=(97, CHOICES)).astype(np.float32)
        )

    def respond(self, trials: Sequence[Trial]) -> list[Response]:
        answers = self.answers
        return [
            Response(logits=answers[int(t.sample.frames[0].key[:8], 16) % 97])
            for t in trials
        ]


def never() -> Image.Image:
    """No pixels: a scripted model does not look."""
    raise RuntimeError("nobody looks")


def samples(count: int) -> Iterator[Sample]:
    """Samples of a frame each."""
    choices = tuple(f"class {number}" for number in range(CHOICES))
    for number in range(count):
        yield Sample(
            key=f"s{number}", frames=(Frame(digest(number), never),), choices=choices
        )


def trials(asked: Sequence[Sample]) -> Iterator[Trial]:
    """Each sample under each condition."""
    edits = [None, *(Shift(step=step) for step in range(1, CONDITIONS))]
    for sample in asked:
        for edit in edits:
            yield Trial(
                sample=sample, edit=edit, condition="shifted" if edit else "baseline"
            )


def megabytes() -> float:
    """What this process has in memory now."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * resource.getpagesize() / 1e6


class Marks:
    """Time and memory at each part of the trials."""

    def __init__(self, total: int) -> None:
        self.total, self.done = total, 0
        self.parts = max(2, min(PARTS, total // WINDOW))
        self.rows = [(0, time.process_time(), time.perf_counter(), megabytes())]

    def __call__(self, count: int) -> None:
        self.done += count
        if self.done >= self.total * len(self.rows) // self.parts:
            self.rows.append(
                (self.done, time.process_time(), time.perf_counter(), megabytes())
            )

    def a_trial(self) -> list[tuple[int, float, float, float]]:
        """Trials so far; microseconds of processor and wall of each since the last; megabytes."""
        pairs = zip(self.rows, self.rows[1:], strict=False)
        return [
            (
                b[0],
                1e6 * (b[1] - a[1]) / (b[0] - a[0]),
                1e6 * (b[2] - a[2]) / (b[0] - a[0]),
                b[3],
            )
            for a, b in pairs
        ]


def through_respond(asked: Sequence[Sample], path: Path, batch: int) -> Marks:
    """All trials through the engine, and each outcome looked at once."""
    marks = Marks(len(asked) * CONDITIONS)

    def count(outcomes: Iterable[Outcome]) -> None:
        marks(sum(1 for _ in outcomes))

    cache = ResponseCache(path)
    runner = ModelRunner(
        "million",
        lambda: cast("Model", ScriptedModel()),
        cache,
        batch_size=batch,
        on_answers=count,
    )
    outcomes = runner(trials(asked))
    chosen = {outcome.response.prediction for outcome in outcomes}
    if (runner.model_calls, len(outcomes)) != (marks.total, marks.total) or len(
        chosen
    ) < 2:
        raise RuntimeError(f"{runner.model_calls} of {marks.total} trials were asked")
    cache.close()
    return marks


def bare(asked: Sequence[Sample], path: Path, batch: int) -> Marks:
    """The same rows in a loop."""
    marks, model = Marks(len(asked) * CONDITIONS), ScriptedModel()
    connection = sqlite3.connect(path)
    connection.execute(f"PRAGMA page_size = {PAGE_BYTES}")
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("PRAGMA synchronous = NORMAL")
    connection.execute(f"PRAGMA wal_autocheckpoint = {WAL_PAGES}")
    connection.execute(f"PRAGMA cache_size = -{PAGE_CACHE_KIB}")
    connection.execute(TABLE)
    left = trials(asked)
    while several := list(islice(left, batch)):
        responses = model.respond(several)
        rows = [
            _seal(trial_key("million", trial), _pack(response))
            for trial, response in zip(several, responses, strict=True)
        ]
        with connection:
            connection.executemany(_INSERT, rows)
        marks(len(several))
    connection.close()
    return marks


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--trials", type=int, default=100_000)
    parser.add_argument(
        "--batch", type=int, default=64, help="trials a call of the model"
    )
    options = parser.parse_args()
    console = Console()
    asked = list(samples(options.trials // CONDITIONS))
    with tempfile.TemporaryDirectory() as name:
        work: Callable[[Any, Path, int], Marks]
        done = {}
        for work in (through_respond, bare):
            done[work] = work(
                asked, Path(name) / f"{work.__name__}.sqlite", options.batch
            )
        size = sum(file.stat().st_size for file in Path(name).iterdir()) / 2e6
    table = Table("trials", "respond", "wall", "bare", "wall", "memory", box=None)
    for own, other in zip(
        done[through_respond].a_trial(), done[bare].a_trial(), strict=True
    ):
        number, cpu, wall, memory = own
        table.add_row(
            f"{number:,}",
            *(f"{each:.1f} us" for each in (cpu, wall, *other[1:3])),
            f"{memory:.0f} MB",
        )
    console.print(table)
    report(console, done[through_respond], done[bare])
    console.print(f"a file of {size:.0f} MB each")


def report(console: Console, own: Marks, other: Marks) -> None:
    """Whether the aims are met."""
    rows, theirs = own.a_trial(), other.a_trial()
    # the first part has the start in it, and fills SQLite's memory
    base = min(1, len(rows) - 2)
    slower = rows[-1][1] / rows[base][1] - 1
    times = sum(row[1] for row in rows) / sum(row[1] for row in theirs)
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
    for what, value, aim, met in (
        (
            "last part beside the second",
            f"{slower:+.0%}",
            f"{SLOWER:.0%}",
            slower <= SLOWER,
        ),
        ("times the bare loop", f"{times:.2f}", f"{TIMES:.0f}", times <= TIMES),
        ("most memory", f"{most:.2f} GB", f"{GIGABYTES} GB", most <= GIGABYTES),
    ):
        console.print(f"{what}: {value} (aim {aim}): {'met' if met else 'missed'}")


if __name__ == "__main__":
    main()
