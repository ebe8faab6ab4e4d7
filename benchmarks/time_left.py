"""How right is the time left of several audits? Runs of unlike kind, asked all the time.

    python benchmarks/time_left.py
    python benchmarks/time_left.py --only stills,words --times 2

Of each run the time left that a person reads is kept with the clock, and held against what was
really left: at a tenth of the whole time, and from there to nine tenths. It is a number where it
is thought to be known within a third, else a range that should hold 8 times of 10. `right` says
whether the number, or the middle of the range, is within a third at a tenth. A kind is run
`--times` times in a cache of its own: the first time the computer knows nothing of such runs, later
(another seed, and of fake models other weights, for which nothing is cached) it remembers those
before.

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
from collections.abc import Callable
from pathlib import Path
from threading import Event, Thread
from types import SimpleNamespace
from typing import Any

import typer
from distributions import write_distribution

SLOW = "--model slow -M weights={seed}"
FAKES = "--data fakes -D scale=4"
TEST = "-O confirm.interventions=blank,transplant -O confirm.samples=30"
RUN = "--seed {seed} --out {out}"
# Unlike in what takes the time: the model, clips, work beside the model, hidden patches, words.
# Rules were made while these were looked at.
SEEN = {
    "stills": f"investigate {SLOW} {FAKES} -D samples=160 --methods answers,looking {TEST} {RUN}",
    "clips": f"investigate {SLOW} {FAKES} -D samples=120 -D frames=6 --methods trove,confidence "
    f"{TEST} {RUN}",
    "statistics": f"investigate {SLOW} {FAKES} -D samples=200 -M seconds=0 "
    f"--methods blind,george,answers {TEST} {RUN}",
    "patches": "investigate --model toy-clip -M seed=0 --data scenes --limit 60 "
    f"--methods cci,answers -O confirm.interventions=swap,transplant -O confirm.samples=20 {RUN}",
    "words": "investigate --model toy-fusion -M seed=0 --data moving-shapes:none "
    f"-D questions=text -D val=1500 --methods quag,answers {RUN}",
}
# These were written after the rules, and run once.
UNSEEN = {
    "file": "run {file} --out {out}",
    "remedy": "mitigate {found} --with last-layer --folds 3 --out {out}",
    "confirming": "confirm {found} --with blank --with transplant -O samples=40 --out {out}",
    "video": "investigate --model toy -M seed=0 --data moving-shapes -D val=240 -D length=3 "
    f"--methods trove,saliency -O confirm.samples=20 {RUN}",
}
# Runs as long as those that somebody waits for, about ten minutes; run once.
LONG = {
    "long-stills": f"investigate {SLOW} -M seconds=0.3 {FAKES} -D samples=160 "
    f"--methods answers,looking {TEST} {RUN}",
    "long-clips": f"investigate {SLOW} -M seconds=0.3 {FAKES} -D samples=120 -D frames=6 "
    f"--methods trove,confidence {TEST} {RUN}",
    "long-statistics": f"investigate {SLOW} {FAKES} -D samples=2000 -M seconds=0 "
    f"--methods blind,george,answers {TEST} {RUN}",
    "long-patches": "investigate --model toy-clip -M seed=0 --data scenes --limit 400 "
    f"--methods cci,answers -O confirm.interventions=swap,transplant -O confirm.samples=60 {RUN}",
    "long-words": "investigate --model toy-fusion -M seed=0 --data moving-shapes:none "
    f"-D questions=text -D val=12000 --methods quag,answers {RUN}",
}
KINDS = SEEN | UNSEEN | LONG
# a run that is looked at again, before the clock begins
FOUND = f"audit trove {SLOW} -M seconds=0.02 {FAKES} -D samples=300 {RUN}"
FILE = """
methods: [answers, looking, trove]
models:
  - use: slow
    options: {{seconds: 0.02, weights: {seed}}}
data:
  - use: fakes
    options: {{samples: 240, scale: 4}}
  - use: fakes
    options: {{samples: 120, scale: 4, frames: 5}}
"""
PLUGIN = '''
from cuescope_sdk import Options
from cuescope_testing import FakeModel

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

    def patch_features(self, frames, layer=-1):
        spent[0] += len(frames) * self.options.seconds
        return super().patch_features(frames, layer)
'''
PLUGINS = {
    "models": {"slow": "slow_model:Slow"},
    "datasets": {"fakes": "cuescope_testing:FakeDataset"},
}
Row = dict[str, float | None]


def clock() -> float:
    """Seconds of this process, and of the model elsewhere."""
    slow = sys.modules.get("slow_model")
    return time.process_time() + (slow.spent[0] if slow else 0.0)


def record(words: list[str]) -> list[Row]:
    """Run a command here; the time left that was shown, ten times a second."""
    from cuescope import engine, respond
    from cuescope.cli import main, progress, whole
    from cuescope.course import Course

    begun = clock()
    rows: list[Row] = []
    over = Event()
    courses: list[Course] = []

    def look() -> None:
        left = courses[-1].left
        row: Row = {"at": clock() - begun, "left": None}
        if left is not None:
            shortest, longest = left.range
            is_sure = float(left.is_sure)
            row |= {"left": left.seconds, "sure": is_sure}
            row |= {"shortest": shortest, "longest": longest}
        rows.append(row)

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
    # what a run took, by which one that is made again is foreseen
    engine.time = respond.time  # type: ignore[attr-defined]
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
    """What was said at a tenth beside the true time left, and what was said from there on.

    Where nothing is said at a tenth, `first` is the ratio of the first that is said after, at
    `first at`. `numbers` is how many of all moments had a number, `numbers right` how many of those
    were within a third, `range holds` how many of the ranges that were said in place of one held.
    """
    end = rows[-1]["at"] or 0.0
    later = [row for row in rows if 0.1 * end <= (row["at"] or 0.0) <= 0.9 * end]
    said = [row for row in later if row["left"] is not None]
    numbers = [row for row in said if row["sure"]]
    ranges = [row for row in said if not row["sure"]]
    at_tenth = later[0] if later else rows[-1]
    ratio = _ratio(at_tenth, end)
    return {
        "seconds": round(end, 1),
        "said at a tenth": at_tenth["left"],
        "is a number": bool(at_tenth.get("sure")),
        "shortest": at_tenth.get("shortest"),
        "longest": at_tenth.get("longest"),
        "truly left": end - (at_tenth["at"] or 0.0),
        "ratio": ratio,
        "right": is_within_a_third(ratio),
        "lowest": min((_ratio(row, end) or 0.0 for row in numbers), default=None),
        "highest": max((_ratio(row, end) or 0.0 for row in numbers), default=None),
        "first at": round((said[0]["at"] or 0.0) / end, 2) if said else None,
        "first": _ratio(said[0], end) if said else None,
        "said": _share(later, lambda row: row["left"] is not None),
        "numbers": _share(later, lambda row: bool(row.get("sure"))),
        "numbers right": _share(
            numbers, lambda row: is_within_a_third(_ratio(row, end))
        ),
        "middles right": _share(said, lambda row: is_within_a_third(_ratio(row, end))),
        "range holds": _share(ranges, lambda row: _holds(row, end)),
    }


def is_within_a_third(ratio: float | None) -> bool:
    """Whether what was said is within a third of what was left."""
    return ratio is not None and 2 / 3 <= ratio <= 4 / 3


def _ratio(row: Row, end: float) -> float | None:
    true = end - (row["at"] or 0.0)
    return None if row["left"] is None or true <= 0 else row["left"] / true


def _holds(row: Row, end: float) -> bool:
    true = end - (row["at"] or 0.0)
    return (row["shortest"] or 0.0) <= true <= (row["longest"] or 0.0)


def _share(rows: list[Row], is_so: Callable[[Row], bool]) -> float | None:
    return round(sum(map(is_so, rows)) / len(rows), 2) if rows else None


def run_kind(kind: str, home: Path, seed: int) -> dict[str, object]:
    """One run in a process of its own, so that nothing is warm."""
    words = KINDS[kind]
    file = home / f"{kind}-{seed}.yaml"
    file.write_text(FILE.format(seed=seed))
    found = home / f"{kind}-{seed}-found"
    environment = {
        **os.environ,
        "CUESCOPE_CACHE": str(home / f"cache-{kind}"),
        "PYTHONPATH": str(home / "plugins"),
        "OMP_NUM_THREADS": "1",
    }

    def run(command: str, out: Path) -> str:
        given = command.format(seed=seed, out=out, file=file, found=found).split()
        line = [sys.executable, __file__, "--record", *given]
        done = subprocess.run(
            line, env=environment, capture_output=True, text=True, check=False
        )
        if done.returncode:
            raise SystemExit(f"{kind}: {done.stderr[-2000:]}")
        return done.stdout

    if "{found}" in words:
        run(FOUND, found)
    judged: dict[str, object] = json.loads(
        run(words, home / f"{kind}-{seed}").splitlines()[-1]
    )
    return judged


def main() -> None:
    """Print a row a run."""
    if "--record" in sys.argv:
        at = sys.argv.index("--record")
        rows = record(sys.argv[at + 1 :])
        typer.echo(f"\n{json.dumps(judge(rows))}")
        return
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", default=",".join(SEEN | UNSEEN))
    parser.add_argument("--times", type=int, default=2)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        write_distribution(home / "plugins", "slow-model", PLUGINS)
        (home / "plugins" / "slow_model.py").write_text(PLUGIN)
        for kind in given.only.split(","):
            for seed in range(given.times):
                found = run_kind(kind, home, seed)
                cells = [
                    f"{name} {value:.3g}"
                    if isinstance(value, float)
                    else f"{name} {value}"
                    for name, value in found.items()
                ]
                typer.echo(f"{kind}, time {seed + 1}: {', '.join(cells)}")


if __name__ == "__main__":
    main()
