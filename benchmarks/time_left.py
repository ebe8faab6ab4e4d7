"""How right is the time left of `cuescope investigate`? Runs of unlike kind, asked each second.

    python benchmarks/time_left.py
    python benchmarks/time_left.py --only video,slow --times 2

Of each run the time left that a person reads is kept with the clock, and held against what was
really left: at a tenth of the whole time, and the worst from there to nine tenths. `right` says
whether that is within a third at a tenth. A kind is run `--times` times in one cache: the first
time the computer knows nothing of such runs, later (with another seed) it remembers the one before.

The clock is the wall's, or with `--clock cpu` the CPU time of the process, for a computer that
others use: that is the time left of a computer with one idle core.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from threading import Event, Thread

import typer

FAKES = "--data fakes -D samples={samples} -D scale=4"
SMALL = "-O confirm.interventions=blank,transplant,shuffle"
# unlike in what takes the time: the model, methods beside it, many calls, no pictures, a test alone
KINDS = {
    "slow": f"--model slow {FAKES.format(samples=120)} --methods answers,looking {SMALL}",
    "clip": "--model toy-clip --data scenes --limit 100 --methods cci,answers "
    "-O confirm.interventions=swap,transplant -O confirm.samples=40",
    "video": "--model toy --data moving-shapes --limit 300 --methods trove,george,domino "
    "-O confirm.interventions=blank,swap -O confirm.samples=40",
    "words": "--model toy-fusion --data moving-shapes:none -D questions=text -D val=300 "
    "--methods quag,answers",
    "data": "--model toy-clip --data scenes --limit 200 --methods blind,answers,saliency "
    "-O confirm.samples=20",
}
PLUGIN = '''
import time
from cuescope_sdk.testing import FakeModel

class Slow(FakeModel):
    """A model on another computer: each input takes a thirtieth of a second."""

    def respond(self, trials):
        time.sleep(sum(len({f.key for f in t.sample.frames}) or 1 for t in trials) / 30)
        return super().respond(trials)
'''
ENTRY = """
[cuescope.models]
slow = slow_model:Slow
[cuescope.datasets]
fakes = cuescope_sdk.testing:FakeDataset
"""
Row = dict[str, float | None]


def record(words: list[str], clock: Callable[[], float]) -> list[Row]:
    """Run a command here; the time left that was shown, each half second."""
    from cuescope.cli import main, progress
    from cuescope.course import Course

    courses: list[Course] = []
    made = Course.__init__

    def remember(self: Course, *given: object, **named: object) -> None:
        made(self, *given, **named)  # type: ignore[arg-type]
        courses.append(self)

    Course.__init__ = remember  # type: ignore[method-assign,assignment]
    progress.Bars.__init__.__kwdefaults__["clock"] = clock
    begun = clock()
    rows: list[Row] = []
    over = Event()

    def watch() -> None:
        while not over.wait(0.5):
            if courses:
                rows.append({"at": clock() - begun, "left": courses[-1].seconds_left})

    Thread(target=watch, daemon=True).start()
    try:
        main(words)
    except SystemExit as ended:
        if ended.code:
            raise
    finally:
        over.set()
    rows.append({"at": clock() - begun, "left": 0.0})
    return rows


def judge(rows: list[Row]) -> dict[str, float | bool | None]:
    """The time left at a tenth beside the true one, and the worst ratio from there on."""
    end = rows[-1]["at"] or 0.0

    def ratio(row: Row) -> float | None:
        true = end - (row["at"] or 0.0)
        return None if row["left"] is None or true <= 0 else row["left"] / true

    later = [row for row in rows if 0.1 * end <= (row["at"] or 0.0) <= 0.9 * end]
    ratios = [found for row in later if (found := ratio(row)) is not None]
    first = ratio(later[0]) if later else None
    return {
        "seconds": round(end, 1),
        "said at a tenth": None if not later else later[0]["left"],
        "truly left": None if not later else end - (later[0]["at"] or 0.0),
        "ratio": first,
        "lowest": min(ratios, default=None),
        "highest": max(ratios, default=None),
        "right": first is not None and 2 / 3 <= first <= 4 / 3,
    }


def run_kind(kind: str, home: Path, seed: int, clock: str) -> dict[str, object]:
    """One run in a process of its own, so that nothing is warm."""
    out = home / f"{kind}-{seed}"
    words = [*KINDS[kind].split(), "--seed", str(seed), "--out", str(out)]
    line = [sys.executable, __file__, "--record", clock, *words]
    environment = {
        **os.environ,
        "CUESCOPE_CACHE": str(home / "cache"),
        "PYTHONPATH": str(home / "plugins"),
        "OMP_NUM_THREADS": "1",
    }
    done = subprocess.run(
        line, env=environment, capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise SystemExit(f"{kind}: {done.stderr[-2000:]}")
    found: dict[str, object] = json.loads(done.stdout.splitlines()[-1])
    return found


def main() -> None:
    """Print a row a run."""
    if "--record" in sys.argv:
        at = sys.argv.index("--record")
        clock = time.process_time if sys.argv[at + 1] == "cpu" else time.monotonic
        rows = record(["investigate", *sys.argv[at + 2 :]], clock)
        typer.echo(f"\n{json.dumps(judge(rows))}")
        return
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", default=",".join(KINDS))
    parser.add_argument("--times", type=int, default=2)
    parser.add_argument("--clock", choices=("wall", "cpu"), default="wall")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        info = home / "plugins" / "slow_model-0.dist-info"
        info.mkdir(parents=True)
        (info / "entry_points.txt").write_text(ENTRY)
        (info / "METADATA").write_text(
            "Metadata-Version: 2.1\nName: slow_model\nVersion: 0\n"
        )
        (home / "plugins" / "slow_model.py").write_text(PLUGIN)
        for kind in given.only.split(","):
            for seed in range(given.times):
                found = run_kind(kind, home, seed, given.clock)
                cells = [f"{name} {value}" for name, value in found.items()]
                typer.echo(f"{kind}, time {seed + 1}: {', '.join(cells)}")


if __name__ == "__main__":
    main()
