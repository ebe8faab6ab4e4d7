"""All configurations: several at once, each kept as soon as it is graded."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any

from cuescope_sdk import Context
from cuescope_sdk.workers import KeptJobs
from cuescope_trove.suite.configurations import Configuration
from cuescope_trove.suite.grading import (
    Gaps,
    Graded,
    Settings,
    grade,
    unbiased_accuracies,
)

VERSION = 2  # raise it when equal settings give other grades


@dataclass(frozen=True)
class Suite:
    """Where results are kept: one file a configuration, and one a sequence length.

    `origin` is what else decides them: versions and source of the plugins.
    """

    settings: Settings
    folder: Path
    origin: Sequence[object]
    workers: int

    def run(
        self,
        chosen: Sequence[Configuration],
        context: Context,
    ) -> tuple[dict[int, tuple[float, float]], dict[Configuration, Graded]]:
        """Unbiased accuracies by length, and the grades of each configuration."""
        lengths = sorted({configuration.length for configuration in chosen})
        jobs: dict[str, partial[Any]] = {}
        for length in lengths:
            # without a cue only the length matters: trained once for all configurations of it
            train = partial(unbiased_accuracies, self.settings, length)
            jobs[f"length {length}"] = train
        for configuration in chosen:
            grade_one = partial(graded_as_json, self.settings, configuration)
            jobs[configuration.name] = grade_one
        done = self.kept.run(jobs, context, "results")
        unbiased = {}
        for length in lengths:
            temporal, single_frame = done[f"length {length}"]
            unbiased[length] = temporal, single_frame
        graded = {}
        for configuration in chosen:
            graded[configuration] = grades_of(done[configuration.name])
        return unbiased, graded

    @property
    def kept(self) -> KeptJobs:
        """The files."""
        settings = asdict(self.settings)
        # where files lie changes no grade: results of a moved cache are still good
        del settings["cache"]
        return KeptJobs(
            self.folder, [VERSION, settings, list(self.origin)], self.workers
        )


def graded_as_json(settings: Settings, configuration: Configuration) -> dict[str, Any]:
    """What is kept of a configuration."""
    return asdict(grade(settings, configuration))


def grades_of(content: Mapping[str, Any]) -> Graded:
    """The grades again."""
    gaps = content["gaps"] and Gaps(**content["gaps"])
    grades = {}
    for name, row in content["grades"].items():
        # JSON gave back lists
        grades[name] = tuple(row)
    return Graded(gaps, grades)
