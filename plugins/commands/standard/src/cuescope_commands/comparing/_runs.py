"""The runs that are compared."""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from operator import attrgetter
from pathlib import Path
from typing import Any

import numpy as np

from cuescope.application import read_names, renamed, require_undamaged
from cuescope_sdk import Report, Score, StoredRun, UserError

Row = dict[str, Any]
BASELINE = "baseline"
UNKNOWN = "not known"


@dataclass(frozen=True, eq=False)
class Run:
    """A stored run, under the name of its column."""

    name: str
    folder: Path
    report: Report

    @property
    def method(self) -> str:
        """The name of its method."""
        return self.report.provenance.method.spec.partition(":")[0]

    @property
    def dataset(self) -> str:
        """The name of its data set."""
        return self.report.provenance.data.spec.partition(":")[0]

    @property
    def labels(self) -> tuple[str, ...]:
        """The labels that it audited."""
        return self.report.provenance.labels

    @cached_property
    def cue_names(self) -> dict[str, str]:
        """Feature key -> words."""
        return self.report.names

    @cached_property
    def shows(self) -> dict[str, frozenset[str]]:
        """Feature key -> the samples that show it."""
        shows = {}
        for feature in self.report.features:
            samples = map(attrgetter("sample"), feature.occurrences)
            shows[feature.key] = frozenset(samples)
        return shows

    @cached_property
    def strongest(self) -> dict[str, Score]:
        """The strongest finding about each label that has any."""
        strongest: dict[str, Score] = {}
        for score in self.report.findings:
            if score.label is not None:
                # the first one stays: findings are sorted by strength
                strongest.setdefault(score.label, score)
        return strongest

    @cached_property
    def answers(self) -> list[Row]:
        """What was answered, a row a trial; raises UserError where none is kept."""
        rows = StoredRun(self.folder).answers
        # what was measured of a sample is no answer
        return [row for row in rows if row.get("figure") is None]

    @property
    def plain_accuracy(self) -> str:
        """How many plain answers are right, in words: `65.0% of 120`."""
        plain = []
        with suppress(UserError):
            plain = [row for row in self.answers if row["condition"] == BASELINE]
        # an answer without a known label is neither right nor wrong
        right = [row["correct"] for row in plain if row["correct"] is not None]
        return f"{np.mean(right):.1%} of {len(right):,}" if right else UNKNOWN


Runs = Sequence[Run]


def load_runs(folders: Sequence[Path]) -> Runs:
    """Under the folders' own names, or their whole paths where two are alike."""
    names = [folder.name for folder in folders]
    if len(set(names)) < len(names):
        names = list(map(str, folders))
    reports = []
    for folder in folders:
        require_undamaged(folder)
        home = folder if folder.is_dir() else folder.parent
        # a name that the user gave a cue is the user's, and columns carry it
        reports.append(renamed(StoredRun(folder).report, read_names(home)))
    return list(map(Run, names, folders, reports))


def names_of(runs: Runs) -> list[str]:
    """What their columns are called."""
    return [run.name for run in runs]
