"""Messages to experiment trackers about an audit: the same calls for each of them.

An observer for a tracker subclasses `Tracker` with four calls on the vendor's own client.
"""

import time
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from cuescope_sdk import Audit, Cell, Plugin, Report, hookimpl

EVERY = 10.0  # seconds between two lines about the answers: a tracker may be asked by network


@dataclass(frozen=True)
class RunSummary:
    """Summary of a run: its figures, its findings and its origin."""

    columns: ClassVar[tuple[str, ...]] = (
        "rank",
        "cue",
        "label",
        "metric",
        "value",
        "low",
        "high",
        "n",
        "q_value",
    )
    report: Report

    def figures(self) -> dict[str, float]:
        """The figures of a run as a whole, and the headline of each finding by its cue."""
        cost = self.report.cost
        figures: dict[str, float] = {
            "findings": len(self.report.findings),
            "model_calls": cost.model_calls,
            "cache_hits": cost.cache_hits,
            "seconds": cost.seconds,
        }
        if self.report.accuracy is not None:
            figures["accuracy"] = self.report.accuracy.share
        for score in self.report.findings:
            if score.value is not None:
                about = f" on {score.label}" if score.label else ""
                name = f"{score.metric}/{self.report.names[score.feature]}{about}"
                figures[name] = score.value
        return figures

    def findings(self) -> list[tuple[Cell, ...]]:
        """A finding a row, as `columns` names them."""
        rows: list[tuple[Cell, ...]] = []
        for rank, score in enumerate(self.report.findings, 1):
            name = self.report.names[score.feature]
            figures = (score.value, score.low, score.high, score.n, score.q_value)
            rows.append((rank, name, score.label, score.metric, *figures))
        return rows

    def origin(self) -> dict[str, str]:
        """Where the report comes from."""
        origin = self.report.provenance
        return {
            "method": origin.method.spec,
            "model": origin.model.spec,
            "data": origin.data.spec,
            "command": origin.command,
            "started": origin.started,
            "report": self.report.hash,
        }


class Tracker(Plugin, ABC):
    """Starts a run with an audit, follows its answers, and ends it with the findings.

    No picture, question or answer is sent: figures, and the names of cues.
    """

    _told = 0.0
    # a tracker that could not start has been told of, and is left alone
    _is_open = False

    @abstractmethod
    def start(self, config: Mapping[str, Cell]) -> None:
        """Open a run of the tracker."""

    @abstractmethod
    def log(self, figures: Mapping[str, float]) -> None:
        """Add figures at the next step."""

    @abstractmethod
    def table(
        self, name: str, columns: Sequence[str], rows: Sequence[Sequence[Cell]]
    ) -> None:
        """Add a table."""

    @abstractmethod
    def finish(self) -> None:
        """Close the run."""

    @hookimpl
    def audit_started(self, audit: Audit) -> None:
        """Everything is built; nothing has been asked yet."""
        seed = audit.context.seed
        counts = {"samples": len(audit.samples), "labels": len(audit.labels)}
        self.start({**counts, "seed": seed})
        self._is_open = True

    @hookimpl
    def responses_progressed(self, done: int, total: int, cached: int) -> None:
        """So many of all trials are answered, so many of them by the cache."""
        now = time.monotonic()
        is_due = now - self._told >= EVERY or done == total
        if self._is_open and is_due:
            self._told = now
            self.log({"answers": done, "answers_wanted": total, "cached": cached})

    @hookimpl
    def audit_finished(self, report: Report) -> None:
        """The report is whole and stored."""
        if not self._is_open:
            return
        summary = RunSummary(report)
        self.log(summary.figures())
        self.table("findings", summary.columns, summary.findings())
        self.table("origin", ("what", "value"), list(summary.origin().items()))
        self.finish()


__all__ = ["RunSummary", "Tracker"]
