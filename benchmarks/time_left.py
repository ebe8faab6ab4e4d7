"""How right is the time left of `cuescope investigate`? Runs of unlike kind, asked all the time.

    python benchmarks/time_left.py
    python benchmarks/time_left.py --only stills,words --times 2

Of each run the time left that a person reads is kept with the clock, and held against what was
really left: at a tenth of the whole time, and the worst from there to nine tenths. `right` says
whether that is within a third at a tenth. A kind is run `--times` times in a cache of its own: the
first time the computer knows nothing of such runs, later (another seed, and of fake models other
weights, for which nothing is cached) it remembers those before.

The clock is the CPU time of the process, which is what one idle core would take, whoever else
uses this computer. To that the fake model adds a twentieth of a second for each input, as a model
behind an API would; toys answer in the process.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from threading import Event, Thread
from types import SimpleNamespace
from typing import Any

import typer

FAKES = "--model slow --data fakes -D scale=4"
TEST = "-O confirm.interventions=blank,transplant -O confirm.samples=30"
# unlike in what takes the time: the model, clips, work beside the model, hidden patches, words
KINDS = {
    "stills": f"{FAKES} -D samples=160 --methods answers,looking {TEST}",
    "clips": f"{FAKES} -D samples=120 -D frames=6 --methods trove,confidence {TEST}",
    "statistics": f"{FAKES} -D samples=200 -M seconds=0 --methods blind,george,answers {TEST}",
    "patches": "--model toy-clip -M seed=0 --data scenes --limit 60 --methods cci,answers "
    "-O confirm.interventions=swap,transplant -O confirm.samples=20",
    "words": "--model toy-fusion -M seed=0 --data moving-shapes:none -D questions=text -D val=1500 "
    "--methods quag,answers",
}
PLUGIN = '''
from cuescope_sdk import Options
from cuescope_sdk.testing import FakeModel

spent = [0.0]  # by the model, which runs elsewhere


class SlowOptions(FakeModel.Options):
    seconds: float = 0.05
    weights: int = 0


class Slow(FakeModel):
    """A model on another computer: the clock goes on for each input, and nobody waits."""

    Options = SlowOptions

    def __init__(self, options, context):
        super().__init__(options, context)
        self.fingerprint = f"slow {options.weights}"

    def respond(self, trials):
        inputs = sum(len({f.key for f in t.sample.frames}) or 1 for t in trials)
        spent[0] += inputs * self.options.seconds
        return super().respond(trials)
'''
ENTRY = """
[cuescope.models]
slow = slow_model:Slow
[cuescope.datasets]
fakes = cuescope_sdk.testing:FakeDataset
"""
Row = dict[str, float | None]


def clock() -> float:
    """Seconds of this process, and of the model elsewhere."""
    slow = sys.modules.get("slow_model")
    return time.process_time() + (slow.spent[0] if slow else 0.0)


def record(words: list[str]) -> list[Row]:
    """Run a command here; the time left that was shown, ten times a second."""
    from cuescope import respond
    from cuescope.cli import main, progress, whole
    from cuescope.course import Course

    begun = clock()
    rows: list[Row] = []
    over = Event()
    courses: list[Course] = []

    def look() -> None:
        rows.append({"at": clock() - begun, "left": courses[-1].seconds_left})

    class Watched(Course):
        """A course that is looked at whenever the model has answered."""

        def __init__(self, *given: Any) -> None:
            super().__init__(*given)
            courses.append(self)

        def count_asked(self, inputs: int, all_inputs: int) -> None:
            super().count_asked(inputs, all_inputs)
            look()

    def watch() -> None:
        while not over.wait(0.1):
            if courses:
                look()

    whole.Course = Watched  # type: ignore[attr-defined]
    # the pace that is kept for the next time too, or it would be that of a busy computer
    respond.time = SimpleNamespace(perf_counter=clock)  # type: ignore[attr-defined]
    progress.Bars.__init__.__kwdefaults__["clock"] = clock
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
    """The time left at a tenth beside the true one, and the worst ratio from there on.

    Where none is said there, `first` is the ratio of the first that is said after, at `first at`.
    """
    end = rows[-1]["at"] or 0.0

    def ratio(row: Row) -> float | None:
        true = end - (row["at"] or 0.0)
        return None if row["left"] is None or true <= 0 else row["left"] / true

    later = [row for row in rows if 0.1 * end <= (row["at"] or 0.0) <= 0.9 * end]
    ratios = [found for row in later if (found := ratio(row)) is not None]
    first = ratio(later[0]) if later else None
    said = [(row["at"] or 0.0, found) for row in later if (found := ratio(row))]
    first_at, first_said = said[0] if said else (end, None)
    return {
        "seconds": round(end, 1),
        "said at a tenth": None if not later else later[0]["left"],
        "truly left": None if not later else end - (later[0]["at"] or 0.0),
        "ratio": first,
        "lowest": min(ratios, default=None),
        "highest": max(ratios, default=None),
        "first at": round(first_at / end, 2),
        "first": first_said,
        "right": first is not None and 2 / 3 <= first <= 4 / 3,
    }


def run_kind(kind: str, home: Path, seed: int) -> dict[str, object]:
    """One run in a process of its own, so that nothing is warm."""
    out = home / f"{kind}-{seed}"
    words = [*KINDS[kind].split(), "--seed", str(seed), "--out", str(out)]
    if FAKES in KINDS[kind]:
        words += ["-M", f"weights={seed}"]
    line = [sys.executable, __file__, "--record", *words]
    environment = {
        **os.environ,
        "CUESCOPE_CACHE": str(home / f"cache-{kind}"),
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
        rows = record(["investigate", *sys.argv[at + 1 :]])
        typer.echo(f"\n{json.dumps(judge(rows))}")
        return
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", default=",".join(KINDS))
    parser.add_argument("--times", type=int, default=2)
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
                found = run_kind(kind, home, seed)
                cells = [f"{name} {value}" for name, value in found.items()]
                typer.echo(f"{kind}, time {seed + 1}: {', '.join(cells)}")


if __name__ == "__main__":
    main()
