"""An atlas: how much of every benchmark in a folder is answered without looking."""

import re
from collections.abc import Iterator
from pathlib import Path

from pydantic import Field, NonNegativeInt

from cuescope.application import Runner
from cuescope_sdk import (
    Cell,
    Context,
    Options,
    Picture,
    Plugin,
    Report,
    Request,
    Score,
    Table,
    UserError,
)

READERS = "cuescope-questions"
LEARNER = "blind-learner"
COLUMNS = (
    "benchmark",
    "questions",
    "guessing",
    "blind",
    "gain",
    "low",
    "high",
    "redrawn",
    "strongest tell",
)


class AtlasOptions(Options):
    """Where the question files are."""

    data: Path = Field(description="folder; a benchmark is a file or folder in it")
    redraws: NonNegativeInt = Field(
        19, description="times that answers are redrawn for the check"
    )
    runs: Path = Field(Path("runs"), description="folder of the runs, a page each")


class Atlas(Plugin):
    """Runs `cuescope blind` on all that is in a folder; a killed run goes on where it was."""

    Options = AtlasOptions
    options: AtlasOptions

    def __init__(self, options: AtlasOptions, context: Context) -> None:
        super().__init__(options, context)
        self._runner = Runner(context, options.runs)

    def run(self) -> Iterator[Table | Picture]:
        """A row a benchmark, those that cannot be read too."""
        rows: list[tuple[Cell, ...]] = []
        faults = []
        for name, path in self._benchmarks():
            # warnings of an audit do not say which benchmark they are about
            self.context.announce(path.name)
            request = Request(
                method="blind",
                model="none",
                # no model: an atlas is of the data
                data=f"{name}:{path}",
                method_options={"redraws": str(self.options.redraws)},
                seed=self.context.seed,
            )
            try:
                # each is a run of its own, so what is answered is kept when the atlas is killed
                report = self._runner.run(request, resume=self.context.resume)
            except UserError as error:
                # one that cannot be read must not cost the others
                faults.append(f"{path.name}: {error}")
                continue
            rows.append((path.stem, *_figures(report)))
        if not rows:
            raise UserError(
                f"no benchmark in '{self.options.data}' can be read",
                got="; ".join(faults),
            )
        note = (
            "In percent; the interval is over videos. `cuescope show RUN` shows each."
        )
        if faults:
            # what is missing is said beside the table, or it would seem to be whole
            note += f" Left out: {'; '.join(faults)}"
        yield Table.of("Answered without looking", COLUMNS, rows, note)

    def _benchmarks(self) -> Iterator[tuple[str, Path]]:
        """The reader of each file or folder whose name begins as that of a reader."""
        folder = self.options.data.expanduser()
        if not folder.is_dir():
            raise UserError("bench blind: no such folder", got=f"'{folder}'")
        # readers are found by their package: one that comes later is in the atlas at once
        names = [
            entry.name
            for entry in self.context.registry.of_kind("dataset")
            if entry.dist == READERS
        ]
        for path in sorted(folder.iterdir()):
            fitting = [
                name for name in names if _bare(path.name).startswith(_bare(name))
            ]
            if fitting:
                # mmmu-pro begins as mmmu does
                yield max(fitting, key=len), path


def _bare(name: str) -> str:
    return re.sub(r"[^a-z0-9]", "", name.lower())


def _figures(report: Report) -> tuple[Cell, ...]:
    gain = _score(report, LEARNER, "gain")
    right = _score(report, LEARNER, "blind_accuracy")
    if gain is None or right is None or gain.value is None or right.value is None:
        return (len(report.scores), *(None for _ in COLUMNS[2:]))
    # of redrawn answers: how often luck does as well
    redrawn = [evidence.value for evidence in report.evidence]
    tells = [score.feature for score in report.findings if score.feature != LEARNER]
    return (
        gain.n,
        100 * (right.value - gain.value),
        100 * right.value,
        100 * gain.value,
        None if gain.low is None else 100 * gain.low,
        None if gain.high is None else 100 * gain.high,
        f"p = {redrawn[0]:.3f}" if redrawn and redrawn[0] is not None else None,
        tells[0] if tells else "none",
    )


def _score(report: Report, feature: str, metric: str) -> Score | None:
    for score in report.scores:
        if (score.feature, score.metric) == (feature, metric):
            return score
    return None


__all__ = ["Atlas", "AtlasOptions"]
