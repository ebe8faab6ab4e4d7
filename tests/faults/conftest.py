"""Faults on purpose, counted: `make faults` tries each many times and prints the table.

Among all other tests each is tried a few times. benchmarks/results/reliability.md keeps the table.
"""

import os
from collections.abc import Callable, Iterator

import pytest

WHOLE = bool(os.environ.get("CUESCOPE_FAULTS"))


class Tries:
    """Counts what was tried and what was survived."""

    def __init__(self) -> None:
        self.tried = self.survived = 0

    def __call__(self, *, few: int, many: int) -> Iterator[int]:
        """The numbers of the tries; one whose code raises nothing was survived."""
        for number in range(many if WHOLE else few):
            self.tried += 1
            yield number
            self.survived += 1


@pytest.fixture
def tries(record_property: Callable[[str, object], None]) -> Iterator[Tries]:
    """The counter of this test."""
    counter = Tries()
    yield counter
    record_property("tried", counter.tried)
    record_property("survived", counter.survived)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """The table, in the whole run alone."""
    # pytest files teardowns that passed under "", and others under what became of them
    reports = [report for filed in terminalreporter.stats.values() for report in filed]
    teardowns = [
        report for report in reports if getattr(report, "when", None) == "teardown"
    ]
    rows = []
    for report in teardowns:
        counts = dict(report.user_properties)
        if "tried" in counts:
            name = (
                report.nodeid.rpartition("::")[2]
                .removeprefix("test_")
                .replace("_", " ")
            )
            rows.append(f"| {name} | {counts['tried']} | {counts['survived']} |")
    if WHOLE and rows:
        terminalreporter.section("faults")
        terminalreporter.write_line("| fault | tried | survived |\n| --- | --- | --- |")
        for row in sorted(set(rows)):
            terminalreporter.write_line(row)
