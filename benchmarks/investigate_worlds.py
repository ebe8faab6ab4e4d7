"""`investigate` on biased models of the worlds: which cue its report has first, and the truth.

    python benchmarks/investigate_worlds.py --world 1 [--only TEXT] [--cache FOLDER]

A case is a model that uses a cue, or does not, and its pictures. The command is given the model and
the data, and nothing else. No sheet names the cue: all methods that fit look for it.
benchmarks/worlds/README.md says what worlds are.
"""

import argparse
import os
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from shutil import copytree, rmtree
from typing import Any

import numpy as np
from distributions import write_distribution
from rich.console import Console
from rich.table import Table
from worlds import MODULES, open_world
from worlds.design import Case, World
from worlds.grading import cases_named, points, truth_of
from worlds.planting import Truth, true_pull
from worlds.plugins import Pictures

from cuescope_core.data_parts import select_part
from cuescope_planted_cues.matching import Match, Sheet, match_of
from cuescope_sdk import Context, Feature, Report, Score, StoredRun, digest

# each chosen before any of them was looked at; of the second each is drawn of the causes of 20
# points or more of a world that was not among the first
SAYS_PULL = "causes the answer '"  # the sentence of a cue that draws answers to a label
DIFFICULTY = "difficulty"


@dataclass(frozen=True)
class Cue:
    """A cue of a report: its samples beside what was drawn, and what is said of it.

    `like` is what its samples show most beyond the label, of all that was drawn; `match` how far
    they show the planted cue.
    """

    name: str
    label: str
    verdict: str
    statement: str
    place: str
    found_by: str
    match: Match
    like: str
    truth: float | None
    effect: float | None = None
    low: float | None = None
    high: float | None = None

    @property
    def is_cause(self) -> bool:
        """Whether the report calls it a cause."""
        return self.verdict == "cause"


@dataclass(frozen=True)
class Investigated:
    """The report on one model: its cues in their order, and what it cost."""

    world: str
    case: Case
    cues: Sequence[Cue]
    truth: Truth
    calls: int
    minutes: float

    @property
    def place_of_planted(self) -> int | None:
        """Where the planted cue first stands, from 1; None where no cue is it."""
        for place, cue in enumerate(self.cues, 1):
            if cue.match.is_plant:
                return place
        return None

    @property
    def others_called(self) -> list[Cue]:
        """Causes by the report that are not the planted cue."""
        return [cue for cue in self.cues if cue.is_cause and not cue.match.is_plant]


@dataclass(frozen=True)
class Bench:
    """Investigations of one world's models."""

    number: str
    world: World
    cache: Path

    def investigate(self, case: Case) -> Investigated:
        """The whole command, as a user gives it; its report is graded."""
        folder = self.cache / "investigated" / digest(self.world.name, case.name)[:12]
        rmtree(folder, ignore_errors=True)
        # trained before the clock runs
        self.world.open_network(case, self.cache)
        since = time.monotonic()
        investigate(self.number, self.world, case, folder, self.cache.absolute())
        minutes = (time.monotonic() - since) / 60
        return self.grade(case, folder, minutes)

    def grade(self, case: Case, folder: Path, minutes: float = 0.0) -> Investigated:
        """What the report in a folder says, beside the truth."""
        report = StoredRun(folder / "report").report
        drawn = Drawn.of(self.number, self.world, case)
        cues = [
            self._cue(case, report, score, drawn)
            for score in report.scores
            if score.metric == "effect" and score.always_reported
        ]
        runs = folder.glob("report/found/*/report.json")
        calls = [StoredRun(file.parent).report.cost.model_calls for file in runs]
        return Investigated(
            world=self.number,
            case=case,
            cues=cues,
            truth=truth_of(self.world, case, self.world.victim_of(case), self.cache),
            calls=sum(calls) + report.cost.model_calls,
            minutes=minutes,
        )

    def _cue(self, case: Case, report: Report, score: Score, drawn: "Drawn") -> Cue:
        feature = next(one for one in report.features if one.key == score.feature)
        name = report.names[feature.key]
        rows = _rows_of(report, name)
        labels = str(rows["Cues by harm"].get("label", "any"))
        statement = (score.statement or "").replace("{feature}", name)
        where = rows["Where each cue is"]
        return Cue(
            name=name,
            label=labels,
            verdict=str(rows["Cues by harm"].get("verdict", "no cue")),
            statement=statement,
            place=f"{where.get('located by')}, {where.get('area')}, {where.get('AUROC')}",
            found_by=str(rows["What found each cue"].get("findings", "")),
            match=drawn.match(feature, case.cue),
            like=drawn.most_like(feature),
            truth=self._true_effect(case, labels, statement),
            effect=score.value,
            low=score.low,
            high=score.high,
        )

    def _true_effect(self, case: Case, labels: str, statement: str) -> float | None:
        """Of the planted cue, on the answers that a sentence is about."""
        about = list(self.world.labels) if labels == "any" else labels.split(", ")
        if not set(about) <= set(self.world.labels):
            return None
        if SAYS_PULL in statement:
            network = self.world.open_network(case, self.cache)
            return true_pull(self.world, case, network, about[0]).effect
        # a cue draws nothing away from its own label
        if labels == "any" and case.used is not None:
            about.remove(self.world.label_of(case.used))
        truths = [truth_of(self.world, case, label, self.cache) for label in about]
        return float(np.mean([truth.effect for truth in truths]))


@dataclass(frozen=True)
class Drawn:
    """Of all samples, what was drawn in each: cues, surroundings, difficulty."""

    sheet: Sheet
    factors: Sequence[str]

    @classmethod
    def of(cls, number: str, world: World, case: Case) -> "Drawn":
        """Of a case; recall is of the half in which cues are tested, where a report has them."""
        data = Pictures(Pictures.Options(world=number, case=case.name), Context())
        factors = [*world.kinds, *world.settings, DIFFICULTY]
        shown: dict[str, dict[str, tuple[bool, ...]]] = {}
        label: dict[str, str | None] = {}
        for index, facts in enumerate(data.shown):
            sample = data[index]
            drawn = {*facts.cues, facts.setting, *([DIFFICULTY] * facts.is_hard)}
            frames = len(sample.frames)
            label[sample.key] = sample.label
            shown[sample.key] = {name: (name in drawn,) * frames for name in factors}
        audited = [data[index].key for index in select_part(data, "2/2", 0)]
        return cls(Sheet(shown, label, {}, audited=audited), factors)

    def match(self, feature: Feature, factor: str) -> Match:
        """How far the samples of a feature show something, beyond the label."""
        return match_of(feature, factor, self.sheet)

    def most_like(self, feature: Feature) -> str:
        """What its samples show most beyond the label."""
        matches = {name: self.match(feature, name) for name in self.factors}
        first, second, *_ = sorted(matches, key=lambda name: -matches[name].beyond)
        return ", ".join(
            f"{name} {matches[name].beyond:.0%}" for name in (first, second)
        )


def _rows_of(report: Report, name: str) -> Mapping[str, Mapping[str, Any]]:
    """The row of a cue in each table, by the table's title."""
    rows: dict[str, Mapping[str, Any]] = {}
    for title in ("Cues by harm", "Where each cue is", "What found each cue"):
        rows[title] = {}
        for table in report.tables:
            if table.title.startswith(title):
                own = (row for row in table.rows if row["cue"] == name)
                rows[title] = next(own, {})
    return rows


# -------------------------------------------------------------------------------------- the command


def investigate(
    number: str, world: World, case: Case, folder: Path, cache: Path
) -> None:
    """The command as it is typed; what it prints is kept in its folder."""
    install(world, folder / "plugins")
    # answers are remembered apart, so that all calls of a model are counted
    answers = folder / "cache"
    copytree(cache / world.name, answers / world.name)
    paths = [str(folder / "plugins"), str(Path(__file__).parent)]
    line = [
        *(str(Path(sys.executable).with_name("cuescope")), "investigate"),
        *("--model", world.name, "-O", f"model.case={case.name}"),
        *(
            "--data",
            "pictures",
            "-O",
            f"data.world={number}",
            "-O",
            f"data.case={case.name}",
        ),
        *("--out", str(folder / "report")),
    ]
    environment = os.environ | {
        "CUESCOPE_CACHE": str(answers),
        "PYTHONPATH": os.pathsep.join(paths),
        "COLUMNS": "120",
    }
    printed = folder / "printed.txt"
    with printed.open("w") as stdout, (folder / "progress.txt").open("w") as stderr:
        subprocess.run(line, check=True, stdout=stdout, stderr=stderr, env=environment)


def install(world: World, place: Path) -> None:
    """The model of a world and its pictures, as a distribution on the path."""
    model = f"{world.model.__module__}:{world.model.__qualname__}"
    plugins = {
        "models": {world.name: model},
        "datasets": {"pictures": "worlds.plugins:Pictures"},
    }
    write_distribution(place, "worlds", plugins)


# ---------------------------------------------------------------------------------------- tables


def show(done: Sequence[Investigated]) -> None:
    """A row a model."""
    console = Console(width=190)
    table = Table(
        *("world and model", "truth", "first cue", "verdict", "shows the planted cue"),
        *("effect", "truth of that", "planted stands", "cues", "other causes"),
        *("calls", "minutes"),
    )
    for row in done:
        table.add_row(*_cells(row))
    console.print(table)
    first = sum(row.place_of_planted == 1 for row in done)
    console.print(f"planted cue first in {first} of {len(done)}")


def _cells(row: Investigated) -> Iterator[str]:
    yield f"{row.world}: {row.case.name}"
    yield points(row.truth.effect)
    if row.cues:
        first, *_ = row.cues
        yield f"{first.name} on {first.label}"
        yield first.verdict
        yield _shows(first.match)
        yield _effect(first)
        yield "-" if first.truth is None else points(first.truth)
    else:
        yield from ("none", "-", "-", "-", "-")
    yield str(row.place_of_planted or "not found")
    yield str(len(row.cues))
    yield str(len(row.others_called))
    yield f"{row.calls:,}"
    yield f"{row.minutes:.1f}"


def _shows(match: Match) -> str:
    word = "yes" if match.is_plant else "no"
    return f"{word} ({match.purity:.0%} pure, {match.recall:.0%} of all)"


def _effect(cue: Cue) -> str:
    if cue.effect is None or cue.low is None or cue.high is None:
        return "-"
    return f"{points(cue.effect)} ({points(cue.low)} to {points(cue.high)})"


def details(done: Iterable[Investigated]) -> str:
    """Every cue of every report beside what was drawn, as Markdown."""
    lines = []
    for row in done:
        lines += ["", f"## {row.world}: {row.case.name}", ""]
        lines.append(
            f"- true effect {points(row.truth.effect)}; {row.calls:,} calls, "
            f"{row.minutes:.1f} minutes"
        )
        for place, cue in enumerate(row.cues, 1):
            truth = "-" if cue.truth is None else points(cue.truth)
            lines += [
                f"- {place}. {cue.name} on {cue.label}: **{cue.verdict}**, {_effect(cue)}, "
                f"true {truth}",
                f"    - the planted cue: {_shows(cue.match)}, {cue.match.beyond:.0%} beyond the "
                f"label; most like {cue.like}",
                f"    - located by {cue.place}; found by {cue.found_by}",
                f"    - {cue.statement}",
            ]
    return "\n".join(lines)


def main() -> None:
    """Investigate the models, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--world", choices=MODULES, required=True)
    parser.add_argument("--only", default="cause", help="cases whose name holds this")
    parser.add_argument("--cache", type=Path, default=Context().cache / "worlds")
    parser.add_argument("--details", type=Path, help="write each report's cues here")
    given = parser.parse_args()
    done = []
    bench = Bench(given.world, open_world(given.world), given.cache)
    for case in cases_named(bench.world, given.only):
        done.append(bench.investigate(case))
        Console(stderr=True).print(f"{case.name}: {len(done[-1].cues)} cues")
        # a run that is cut off has told what it has
        if given.details:
            given.details.write_text(details(done))
    show(done)


if __name__ == "__main__":
    main()
