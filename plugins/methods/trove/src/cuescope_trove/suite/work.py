"""All configurations: several at once, each kept as soon as it is graded."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from cuescope_sdk import Context
from cuescope_sdk.workers import Job, KeptJobs
from cuescope_trove.suite.configurations import Configuration
from cuescope_trove.suite.grading import Gaps, Graded, Settings, grade, unbiased_accuracies

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
        self, chosen: Sequence[Configuration], context: Context
    ) -> tuple[dict[int, tuple[float, float]], dict[Configuration, Graded]]:
        """Unbiased accuracies by length, and the grades of each configuration."""
        lengths = {f"length {c.length}": c.length for c in sorted(chosen, key=lambda c: c.length)}
        jobs: dict[str, Job] = {
            name: (unbiased_accuracies, (self.settings, length)) for name, length in lengths.items()
        }
        jobs |= {each.name: (graded_as_json, (self.settings, each)) for each in chosen}
        done = self.kept.run(jobs, context, "results")
        unbiased = {length: (done[name][0], done[name][1]) for name, length in lengths.items()}
        return unbiased, {each: graded_of(done[each.name]) for each in chosen}

    @property
    def kept(self) -> KeptJobs:
        """The files."""
        settings = {k: v for k, v in asdict(self.settings).items() if k != "cache"}
        return KeptJobs(self.folder, [VERSION, settings, list(self.origin)], self.workers)


def graded_as_json(settings: Settings, configuration: Configuration) -> dict[str, Any]:
    """What is kept of a configuration."""
    return asdict(grade(settings, configuration))


def graded_of(content: Mapping[str, Any]) -> Graded:
    """The grades again."""
    gaps = content["gaps"] and Gaps(**content["gaps"])
    return Graded(gaps, {name: tuple(row) for name, row in content["grades"].items()})
