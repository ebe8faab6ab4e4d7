"""`confirm` in worlds that it was not made in: what it says of planted cues, beside the truth.

    python benchmarks/confirm_worlds.py --world 1 [--cache FOLDER] [--only TEXT] [--details FILE]

Each case is a model that uses a cue, or does not, and the finding that an audit would hand over.
The truth is known by drawing fresh samples again without the cue. benchmarks/worlds/README.md says
what the worlds are, and which of them may be looked at.
"""

import argparse
import json
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from shutil import rmtree
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table
from sklearn.metrics import roc_auc_score
from worlds import MODULES, open_world
from worlds.design import Case, World
from worlds.grading import cases_named, is_like, points, truth_of
from worlds.planting import Truth
from worlds.plugins import Pictures, Sheet
from worlds.rows import GRADED, KeptRows

from cuescope.application import Runner
from cuescope_sdk import Context, Report, Request, UserError, generator
from cuescope_testing import PluginShelf

CAUSE = 0.1  # of probability: from here on a cue has to be called a cause
NONE = 0.05  # below it a decoy has no effect worth the name
SHEET = "sheet"
FOLDS = 4  # of few samples


@dataclass(frozen=True)
class Graded:
    """One verdict beside the truth; figures are shares, None where nothing was measured."""

    case: str
    role: str
    kind: str
    found_by: str
    label: str
    truth: float
    verdict: str
    statement: str
    effect: float | None = None
    low: float | None = None
    high: float | None = None
    probability: float | None = None
    lost: tuple[float, float, float] | None = None
    truth_lost: float = 0.0
    enough: bool = False
    calls: int = 0
    seconds: float = 0.0
    tables: Mapping[str, Sequence[Mapping[str, Any]]] = field(default_factory=dict)

    @property
    def is_cause(self) -> bool:
        """Whether the cue takes enough that it has to be told."""
        return self.truth >= CAUSE

    @property
    def is_decoy(self) -> bool:
        """Whether the cue is not used, and takes next to nothing by what it hides."""
        return self.role == "decoy" and self.truth < NONE

    @property
    def covers(self) -> bool:
        """Whether the interval of the effect holds the truth."""
        return self.low <= self.truth <= self.high


@dataclass(frozen=True)
class Bench:
    """Audits of one world; `finder` is a method, or the sheet.

    Of `few` samples of each label the sheet is made in folds, and tested by them. A folder of
    `rows` keeps every row of a test.
    """

    number: str
    world: World
    cache: Path
    finder: str
    annotated: bool = False
    few: int | None = None
    rows: Path | None = None

    def grade(self, case: Case) -> Graded:
        """The verdict on a case; an auditor that does not find the cue is handed the sheet."""
        folder = self.cache / "runs" / self.world.name / case.name
        rmtree(folder, ignore_errors=True)
        # the run's answers are remembered, as a user's are; those of an older training are not
        for kept in self.cache.glob("responses.sqlite*"):
            kept.unlink()
        runner = self._runner(case)
        if self.few is not None:
            return self._graded_by_folds(case, runner, folder)
        found_by = self.finder
        feature = None
        if found_by != SHEET:
            found = _with_out(runner, folder / "found").run(
                self._request(case, found_by, "1/2")
            )
            feature = self._matching(case, found)
        if feature is None:
            found_by = SHEET
            rmtree(folder, ignore_errors=True)
            _with_out(runner, folder / "found").run(self._request(case, SHEET, "1/2"))
        options: dict[str, Any] = {"run": str(folder / "found")}
        if feature is not None:
            options["features"] = [feature]
        request = self._request(case, "confirm", "2/2").model_copy(
            update={"method_options": options}
        )
        return self._confirmed(case, runner, folder, request, found_by, feature)

    def _graded_by_folds(self, case: Case, runner: Runner, folder: Path) -> Graded:
        found = []
        for fold in range(FOLDS):
            found.append(folder / f"found-{fold}")
            others = [str(part + 1) for part in range(FOLDS) if part != fold]
            part = f"{'+'.join(others)}/{FOLDS}"
            _with_out(runner, found[-1]).run(self._request(case, SHEET, part))
        first, *rest = map(str, found)
        options = {"run": first, "others": rest, "folds": True}
        request = self._request(case, "confirm").model_copy(
            update={"method_options": options}
        )
        return self._confirmed(case, runner, folder, request, SHEET)

    def _confirmed(
        self,
        case: Case,
        runner: Runner,
        folder: Path,
        request: Request,
        found_by: str,
        feature: str | None = None,
    ) -> Graded:
        since = time.process_time()
        try:
            report = _with_out(runner, folder / "confirmed").run(request)
        except UserError as error:
            # no word on the cue: a reader is told that nothing can be said
            return self._undecided(case, found_by, feature, error)
        seconds = time.process_time() - since
        return self._graded(case, report, found_by, seconds)

    def truth(self, case: Case) -> Truth:
        """The true effect on the label that the sheet's finding is about."""
        return truth_of(self.world, case, self.world.victim_of(case), self.cache)

    def is_kept(self, case: Case) -> bool:
        """Whether all of a case is kept already."""
        if self.rows is None:
            return False
        return (self.rows / self.world.name / case.name / GRADED).exists()

    def keep(self, graded: Graded) -> None:
        """Write a verdict and its truth beside the rows of its test, if any are kept."""
        if self.rows is not None:
            folder = self.rows / self.world.name / graded.case
            folder.mkdir(parents=True, exist_ok=True)
            kept = asdict(graded) | {"world": self.world.name, "tables": None}
            (folder / GRADED).write_text(json.dumps(kept))

    def _runner(self, case: Case) -> Runner:
        shelf: dict[tuple[str, str], type] = {
            ("method", SHEET): Sheet,
            ("dataset", "pictures"): Pictures,
            ("model", self.world.name): self.world.model,
        }
        if self.rows is not None:
            KeptRows.folder = self.rows / self.world.name / case.name
            shelf["method", "confirm"] = KeptRows
        registry = PluginShelf(shelf, installed=True)
        context = Context(registry=registry, device="cpu", cache=self.cache)
        return Runner(context, self.cache / "runs")

    def _request(self, case: Case, method: str, part: str | None = None) -> Request:
        return Request(
            method=method,
            model=self.world.name,
            model_options={"case": case.name},
            data="pictures",
            data_options={
                "world": self.number,
                "case": case.name,
                "annotated": self.annotated,
                "few": self.few,
            },
            part=part,
        )

    def _matching(self, case: Case, report: Report) -> str | None:
        """KEY@LABEL of the first finding that is the cue; none about the cue's own label."""
        data = Context(cache=self.cache)
        pictures = Pictures(Pictures.Options(world=self.number, case=case.name), data)
        shown = pictures.keys(case.cue)
        features = {feature.key: feature for feature in report.features}
        home = self.world.label_of(case.used or case.cue)
        for score in report.findings:
            is_about = score.label is not None and score.label != home
            if is_about and is_like(features[score.feature], shown, len(pictures)):
                return f"{score.feature}@{score.label}"
        return None

    def _graded(
        self,
        case: Case,
        report: Report,
        found_by: str,
        seconds: float,
    ) -> Graded:
        [headline, *_] = [score for score in report.scores if score.metric == "effect"]
        scores = {score.metric: score for score in report.scores}
        probability = scores.get("probability")
        lost = scores.get("accuracy_lost")
        label = headline.label or self.world.victim_of(case)
        truth = truth_of(self.world, case, label, self.cache)
        of_label = [facts for facts in self.world.audited(case) if facts.label == label]
        share = np.mean([case.cue in facts.cues for facts in of_label])
        tables = {}
        for table in report.tables:
            tables[table.title.partition(" (")[0]] = [dict(row) for row in table.rows]
        [first, *_] = tables["Cues by harm"]
        return Graded(
            case=case.name,
            role=case.role,
            kind=self.world.kinds[case.cue],
            found_by=found_by,
            label=label,
            truth=truth.effect,
            verdict=str(first["verdict"]),
            statement=headline.statement or "",
            effect=headline.value,
            low=headline.low,
            high=headline.high,
            probability=probability.value if probability else None,
            lost=(lost.value, lost.low, lost.high) if lost else None,
            truth_lost=truth.accuracy * float(share) / len(self.world.labels),
            enough=report.notes.get("power", "").endswith("enough"),
            calls=report.cost.model_calls,
            seconds=seconds,
            tables=tables,
        )

    def _undecided(
        self,
        case: Case,
        found_by: str,
        feature: str | None,
        error: UserError,
    ) -> Graded:
        label = self.world.victim_of(case)
        if feature is not None:
            label = feature.rpartition("@")[2]
        truth = truth_of(self.world, case, label, self.cache)
        return Graded(
            case=case.name,
            role=case.role,
            kind=self.world.kinds[case.cue],
            found_by=found_by,
            label=label,
            truth=truth.effect,
            verdict="inconclusive",
            statement=f"refused: {error}",
        )


def _with_out(runner: Runner, folder: Path) -> Runner:
    return Runner(runner.context, folder, out=folder)


# ------------------------------------------------------------------------------------ the tables


def summary(graded: Sequence[Graded]) -> Iterable[tuple[str, str]]:
    """The rows of the table, and what each is."""
    causes = [row for row in graded if row.is_cause]
    decoys = [row for row in graded if row.is_decoy]
    measured = [row for row in graded if row.effect is not None]
    planned = [row for row in causes if row.enough]
    yield "AUROC, cause against decoy, not measured is 0", _auroc(causes, decoys)
    yield (
        "AUROC where anything was measured",
        _auroc(
            [row for row in causes if row in measured],
            [row for row in decoys if row in measured],
        ),
    )
    yield "decoys called causes", _share(decoys, _has_verdict("cause"))
    yield "causes called causes", _share(causes, _has_verdict("cause"))
    yield (
        "causes called causes, where the plan says enough",
        _share(planned, _has_verdict("cause")),
    )
    yield "causes called no cause", _share(causes, _has_verdict("not a cause"))
    yield "causes, inconclusive", _share(causes, _has_verdict("inconclusive"))
    yield "decoys called no cause", _share(decoys, _has_verdict("not a cause"))
    yield "interval of the effect holds the truth", _share(measured, _covers)
    with_loss = [row for row in graded if row.lost is not None]
    yield "interval of accuracy lost holds the truth", _share(with_loss, _covers_loss)
    truths = [row.truth for row in measured]
    effects = [row.effect for row in measured]
    if len(measured) > 2:
        together = float(np.corrcoef(truths, effects)[0, 1])
        yield "correlation of effect and truth", f"{together:.2f} of {len(measured)}"
        error = np.mean(np.abs(np.subtract(truths, effects)))
        yield "mean error of the effect, points", f"{100 * error:.1f}"
    yield "calls a verdict", f"{np.mean([row.calls for row in graded]):,.0f}"
    yield (
        "processor seconds a verdict",
        f"{np.mean([row.seconds for row in graded]):.1f}",
    )


def _auroc(causes: Sequence[Graded], decoys: Sequence[Graded]) -> str:
    if not causes or not decoys:
        return "-"
    values = [row.probability or 0.0 for row in (*causes, *decoys)]
    is_cause = [True] * len(causes) + [False] * len(decoys)
    words = f"{len(causes)} causes, {len(decoys)} decoys"
    return f"{roc_auc_score(is_cause, values):.3f} ({words})"


def _share(rows: Sequence[Graded], holds: Callable[[Graded], bool]) -> str:
    return f"{sum(map(holds, rows))} of {len(rows)}"


def _has_verdict(verdict: str) -> Callable[[Graded], bool]:
    return lambda row: row.verdict == verdict


def _covers(row: Graded) -> bool:
    return row.covers


def _covers_loss(row: Graded) -> bool:
    _, low, high = row.lost
    return low <= row.truth_lost <= high


def show(graded: Sequence[Graded]) -> None:
    """Both tables."""
    console = Console(width=150)
    cases = Table("case", "found by", "truth", "verdict", "effect", "probability")
    for row in graded:
        effect = "-"
        if row.effect is not None:
            effect = f"{points(row.effect)} ({points(row.low)} to {points(row.high)})"
        told = row.probability
        probability = "-" if told is None else f"{told:.2f}"
        cases.add_row(
            row.case,
            row.found_by,
            points(row.truth),
            row.verdict,
            effect,
            probability,
        )
    console.print(cases)
    figures = Table("figure", "seen")
    for name, value in summary(graded):
        figures.add_row(name, value)
    console.print(figures)


def show_truths(bench: Bench, only: str) -> None:
    """The true effect of each case whose name holds a text; `confirm` is not asked."""
    cases = Table("case", "label", "truth", "standard error", "right answers")
    for case in cases_named(bench.world, only):
        truth = bench.truth(case)
        error = f"{100 * truth.error:.1f}"
        label = bench.world.victim_of(case)
        cases.add_row(
            case.name,
            label,
            points(truth.effect),
            error,
            points(truth.accuracy),
        )
        Console(stderr=True).print(f"{case.name}: {points(truth.effect)}")
    Console(width=150).print(cases)


def details(graded: Sequence[Graded]) -> str:
    """What each intervention and each control said of each case, as Markdown."""
    lines = [f"- {name}: {value}" for name, value in summary(graded)]
    for row in graded:
        lines += [
            "",
            f"## {row.case}",
            "",
            f"- true effect {points(row.truth)} on '{row.label}', {row.kind}; found by "
            f"{row.found_by}; verdict: **{row.verdict}**",
            f"- {row.statement}",
            f"- {row.calls:,} calls, {row.seconds:.0f} processor seconds",
        ]
        for title, rows in row.tables.items():
            if not title.startswith("Cues by harm"):
                lines += [f"- {title}", *(f"    - {_cells(cells)}" for cells in rows)]
    return "\n".join(lines)


def _cells(row: Mapping[str, Any]) -> str:
    named = (f"{name}: {value}" for name, value in row.items() if name != "cue")
    return "; ".join(named)


def main() -> None:
    """Grade the cases, and print the tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--world", default="1", choices=MODULES)
    parser.add_argument(
        "--cache",
        type=Path,
        default=Context().cache / "worlds",
        help="networks and truths are kept here",
    )
    parser.add_argument("--only", default="", help="cases whose name holds this text")
    parser.add_argument(
        "--finder",
        default=SHEET,
        help="a method whose finding is tested where it is the cue, as trove; else the sheet's",
    )
    parser.add_argument(
        "--details", type=Path, help="write what each change and control said here"
    )
    parser.add_argument(
        "--annotated",
        action="store_true",
        help="the data say where each case's companion is",
    )
    parser.add_argument(
        "--few",
        type=int,
        help=f"so many samples of each label, tested by {FOLDS} folds",
    )
    parser.add_argument(
        "--truths",
        action="store_true",
        help="measure the true effects, and give no verdict",
    )
    parser.add_argument(
        "--rows",
        type=Path,
        help="keep every row of the tests here, but of cases that have theirs",
    )
    parser.add_argument(
        "--drawn",
        type=int,
        help="so many causes, and as many decoys, by lot",
    )
    given = parser.parse_args()
    bench = Bench(
        given.world,
        open_world(given.world),
        given.cache,
        given.finder,
        given.annotated,
        given.few,
        given.rows,
    )
    if given.truths:
        show_truths(bench, given.only)
        return
    graded = []
    for case in _chosen(bench.world, given.only, given.drawn):
        if bench.is_kept(case):
            continue
        graded.append(bench.grade(case))
        bench.keep(graded[-1])
        Console(stderr=True).print(f"{case.name}: {graded[-1].verdict}")
        # a run that is cut off has told what it has
        if given.details:
            given.details.write_text(details(graded))
    if graded:
        show(graded)


def _chosen(world: World, only: str, count: int | None) -> Sequence[Case]:
    named = cases_named(world, only)
    if count is None:
        return named
    rng = generator(0, "lot", world.name)
    shuffled = [named[index] for index in rng.permutation(len(named))]
    causes = [case for case in shuffled if case.role == "cause"]
    decoys = [case for case in shuffled if case.role == "decoy"]
    return causes[:count] + decoys[:count]


if __name__ == "__main__":
    main()
