"""Mitigators beside a plain refit, on planted cues, over several draws: worst group, all, bounds.

    python benchmarks/mitigation_bounds.py [--draws 3] [--with coop,last-layer] [--dial 0.35]

toy-clip learned from pictures whose background goes with the label (scenes:0.85), and is audited on
others where it does so less often (`--dial`). The first cues that TRoVe finds (`--top`) are mended
by each mitigator on one half of the test split, and measured on the other. A draw is another draw
of all audited pictures; `--train` also trains another model each time.

Two tables are printed. The first has accuracies as the model was, and after each mitigator
(`refit` knows no cue): on the hurt label with the cue, in the worst group of label and cue, over
all groups and over all samples. The second says in how many cases bounds hold:
the worst group gains at least 20 points, all samples lose at most 2, the gap left is within 5, and
the intervals of both placebos hold 0; verdicts, and how many gains the shift equals where the cue
is. `flattery` and `flattery-there` are no mitigators: they say the hurt label more often,
everywhere or where the cue is, and must not be called remedies.
"""

import argparse
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from cuescope.application import Runner
from cuescope_mitigation import MitigationTrial
from cuescope_mitigation.analysis import Row, measure
from cuescope_mitigation.options import MitigationOptions
from cuescope_mitigation.trials import compare, prepare
from cuescope_sdk import Audit, Context, Request, Response, Score, Table, hookimpl
from cuescope_sdk.mitigation import Ask, Mitigation, Mitigator, Router, Task
from cuescope_testing import PluginShelf

MITIGATORS = "refit,coop,last-layer,dfr,group-dro,jtt,flattery,flattery-there"
BOUNDS = ("worst group +20", "all -2", "gap 5", "random cues", "shift")
FIGURES = ("with the cue", "worst group", "all groups", "all")
AS_IT_WAS = "as it was"
FLATTERY = 20.0  # logits


@dataclass(frozen=True)
class Flatterer(Mitigation):
    """The label that a cue hurts is said more often."""

    labels: tuple[str, ...]
    hurts: tuple[str, ...]
    everywhere: bool
    router: Router

    def answer(self, trials: Sequence[Any], ask: Ask) -> list[Response]:
        """Its logit gains a constant: the first cue's everywhere, or each where its cue is."""
        cues = self.router.best(trials, ask)

        def logits(place: int, answer: Response) -> np.ndarray:
            cue = 0 if self.everywhere else cues[place]
            if cue < 0:
                return np.asarray(answer.logits)
            names = [self.labels[column] for column in self.columns(trials[place])]
            gains = [FLATTERY * (name == self.hurts[cue]) for name in names]
            return np.asarray(answer.logits + gains)

        return self.rescore(trials, ask, logits)


class Flattery(Mitigator):
    """It learns nothing."""

    title = "Flattery"
    learned = Flatterer
    everywhere = True

    def fit(self, task: Task) -> Flatterer:
        """The labels that cues hurt."""
        hurts = tuple(label or task.labels[0] for label in task.hurts)
        return Flatterer(task.labels, hurts, self.everywhere, task.router)


class FlatteryThere(Flattery):
    """The same where the cue is."""

    everywhere = False


class BesideOptions(MitigationOptions):
    """Several mitigators, all of them on the same parts of the data."""

    mitigators: tuple[str, ...]


class Beside(MitigationTrial):
    """The trial of each mitigator, without its report."""

    Options = BesideOptions
    options: BesideOptions

    @hookimpl
    def compute_scores(self, audit: Audit, features: Any) -> list[Score]:
        """A row a mitigator and cue, in a table."""
        parts = audit.once(prepare, audit, self.options)
        rows: list[dict[str, Any]] = []
        for name in self.options.mitigators:
            options = self.options.model_copy(update={"mitigator": name})
            trial = type(parts)(**{**vars(parts), "options": options})
            results = measure(compare(trial))
            everywhere = results.overall.before, results.overall.after
            for row in results.rows:
                if row.present is None:
                    continue
                known = dict(row_of(row, *everywhere))
                rows.append({"mitigator": name, "cue": row.cue.name} | known)
                sys.stdout.write(f"{rows[-1]}\n")
                sys.stdout.flush()
        audit.attach(Table(title="beside", columns=tuple(rows[0]), rows=tuple(rows)))
        return []

    @hookimpl
    def verify(self, audit: Audit, features: Any, scores: Any) -> Iterator[Any]:
        """Nothing more."""
        yield from ()


def row_of(row: Row, all_before: float, all_after: float) -> Iterator[tuple[str, Any]]:
    """The figures of a cue, in percent and points; `1` where a bound holds."""
    yield "label", row.cue.label
    yield "samples", row.n
    yield "verdict", row.verdict
    present, worst, groups, gap = row.present, row.worst, row.groups, row.gap
    shift, random = row.shifted, row.random
    if not (present and worst and groups and gap and shift and random):
        return
    models = {
        AS_IT_WAS: (present.before, worst.before, groups.before, all_before),
        "remedy": (present.after, worst.after, groups.after, all_after),
    }
    for model, figures in models.items():
        for name, figure in zip(FIGURES, figures, strict=True):
            yield f"{model}: {name}", round(100 * figure, 1)
    holds = (
        worst.gain >= 0.2,
        all_after - all_before >= -0.02,
        abs(gap.after) <= 0.05,
        random.gain.low <= 0 <= random.gain.high,
        shift.gain.low <= 0 <= shift.gain.high,
    )
    yield from zip(BOUNDS, map(int, holds), strict=True)
    yield "groups gained at least", round(100 * groups.low, 1)
    yield "shift gains as much", int(present.low > 0 and shift.beyond.low <= 0)


def rows_of_draw(given: argparse.Namespace, seed: int) -> list[dict[str, Any]]:
    """The table of one draw."""
    shelf = {
        ("method", "beside"): Beside,
        ("mitigator", "flattery"): Flattery,
        ("mitigator", "flattery-there"): FlatteryThere,
    }
    context = Context(registry=PluginShelf(shelf, installed=True), device="cpu")
    runner = Runner(context, given.out)
    common: dict[str, Any] = {
        "model": "toy-clip:scenes:0.85",
        "model_options": {"seed": seed} if given.train else {},
        "data": "scenes:0.85",
    }
    data = {
        "seed": seed,
        "audit_dial": given.dial,
        "val": given.val,
        "test": given.test,
    }
    find = Request(method="trove", data_options=data, **common)
    if not runner.run(find).findings:
        sys.stdout.write(f"draw {seed}: no cue was found\n")
        return []
    options = {
        "run": str(runner.folder(find).path),
        "mitigator": "refit",
        "mitigators": tuple(given.mitigators.split(",")),
        "top": given.top,
        "placebos": 1,
    }
    data = {**data, "split": "test"}
    report = runner.run(
        Request(method="beside", method_options=options, data_options=data, **common)
    )
    [table] = [table for table in report.tables if table.title == "beside"]
    return [{"draw": seed, **row} for row in table.rows]


def main() -> None:
    """Audit, mend and print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--out", type=Path, default=Path("runs/mitigation-bounds"))
    parser.add_argument("--draws", type=int, default=3, help="draws of the pictures")
    parser.add_argument("--first", type=int, default=1, help="seed of the first draw")
    parser.add_argument(
        "--test", type=int, default=12800, help="to mend and measure on"
    )
    parser.add_argument("--val", type=int, default=3200, help="to find the cues in")
    parser.add_argument("--dial", type=float, default=0.35, help="own backgrounds")
    parser.add_argument("--top", type=int, default=1, help="cues that are mended")
    parser.add_argument("--train", action="store_true", help="another model each time")
    parser.add_argument("--with", dest="mitigators", default=MITIGATORS)
    given = parser.parse_args()
    rows = []
    for seed in range(given.first, given.first + given.draws):
        rows += rows_of_draw(given, seed)
    if rows:
        write_accuracies(rows)
        write_bounds(rows)


def write_line(cells: Sequence[object]) -> None:
    """A row of a table."""
    sys.stdout.write(f"| {' | '.join(map(str, cells))} |\n")


def write_accuracies(rows: Sequence[dict[str, Any]]) -> None:
    """Means over draws and cues, and the lowest and highest, in percent."""
    figures = defaultdict(list)
    first = rows[0]["mitigator"]
    for row in rows:
        models = {"remedy": row["mitigator"]}
        # what does not depend on the mitigator is counted once
        if row["mitigator"] == first:
            models |= {AS_IT_WAS: AS_IT_WAS}
        for model, name in models.items():
            figures[name].append([row[f"{model}: {figure}"] for figure in FIGURES])
    sys.stdout.write("\n")
    write_line(("model", *FIGURES))
    write_line(["---"] * 5)
    for name, values in sorted(figures.items()):
        ends = zip(
            np.mean(values, 0), np.min(values, 0), np.max(values, 0), strict=True
        )
        cells = [f"{mean:.1f} ({low:.0f} to {high:.0f})" for mean, low, high in ends]
        write_line([name, *cells])


def write_bounds(rows: Sequence[dict[str, Any]]) -> None:
    """In how many cases each bound holds, and the verdicts."""
    sys.stdout.write("\n")
    write_line(("mitigator", *BOUNDS, "shift gains as much", "verdicts"))
    write_line(["---"] * (len(BOUNDS) + 3))
    for name in dict.fromkeys(row["mitigator"] for row in rows):
        cases = [row for row in rows if row["mitigator"] == name]
        counts = [
            f"{sum(row[bound] for row in cases)} of {len(cases)}"
            for bound in (*BOUNDS, "shift gains as much")
        ]
        verdicts = Counter(row["verdict"] for row in cases)
        said = [f"{count} {verdict}" for verdict, count in verdicts.most_common()]
        write_line([name, *counts, ", ".join(said)])


if __name__ == "__main__":
    main()
