"""What is told before a test: of how many samples, and each warning once."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from cuescope.expected_samples import expected_samples
from cuescope.warn_once import WarnOnce

from ...engine.tests.reports import make_report


def run_of(folder: Path, count: int) -> Any:
    """A run whose first finding so many samples of its label show, of a hundred."""
    report = make_report(1)
    label = report.findings[0].label
    keys = [shown.sample for shown in report.features[0].occurrences]
    rows = [
        {"sample": key, "label": label if number < count else "another"}
        for number, key in enumerate(keys)
    ]
    rows += [{"sample": f"other {number}", "label": "another"} for number in range(70)]
    return SimpleNamespace(folder=folder, report=report, answers=rows, has_answers=True)


@pytest.mark.parametrize(
    ("count", "folds", "said"),
    [
        (8, None, "about 4 of them are held out, too few (10 are the fewest)."),
        (11, None, "held out, too few (10 are the fewest; --folds 4 tests all)."),
        (24, None, "24 samples of the run show it, and about 12 of them are held out."),
        (24, 4, "24 samples of the run show it, and all samples are tested."),
        (
            8,
            4,
            "8 samples of the run show it, and all samples are tested: the runs without a part "
            "may find it in more of them. 10 are the fewest that decide.",
        ),
    ],
)
def test_how_many_samples_test_a_cue_is_told(
    tmp_path: Path, count: int, folds: int | None, said: str
) -> None:
    [line, *_] = expected_samples(
        run_of(tmp_path, count), 1, parts=2, folds=folds, least=10
    )
    assert line.endswith(said)


def test_warnings_of_folds_that_differ_in_numbers_are_said_once() -> None:
    said: list[str] = []
    once = WarnOnce(said.append)
    for line in (
        "warning: trove: few samples, got 50",
        "warning: trove: few samples, got 1,048.",
        "warning: cci: few samples, got 50",
        "[1/2] trove",
        "[2/2] trove",
    ):
        once.announce(line)
    assert said == [
        "warning: trove: few samples, got 50",
        "warning: cci: few samples, got 50",
        "[1/2] trove",
        "[2/2] trove",
    ]
