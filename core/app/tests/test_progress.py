"""Progress without a terminal: lines that come in time, and a time left that holds."""

from types import SimpleNamespace
from typing import Any

import pytest

from cuescope.cli import progress
from cuescope.cli.options import open_runner
from cuescope.cli.progress import Bars, Verbosity

from ...conftest import Line

AUDIT: Any = SimpleNamespace(samples=range(400), labels=("a", "b"))


class Clock:
    """A clock that a test moves."""

    now = 0.0

    def __call__(self) -> float:
        return self.now


def progress_to(bars: Bars, done: int, total: int, cached: int = 0) -> None:
    """As `respond` tells it, of clips of eight frames."""
    bars.responses_progressed(
        audit=AUDIT,
        done=done,
        total=total,
        cached=cached,
        inputs=8 * (done - cached),
        all_inputs=8 * (total - cached),
    )


def lines_of(batch_seconds: float, batches: int, verbosity: Verbosity) -> list[str]:
    """What is said while `batches` of 64 answers are awaited; the watch looks every second."""
    clock, said = Clock(), list[str]()
    bars = Bars(verbosity, clock=clock, say=said.append)
    total = 64 * batches
    progress_to(bars, 0, total, cached=0)
    for batch in range(1, batches + 1):
        for _ in range(int(batch_seconds)):
            clock.now += 1
            bars.show_line_if_due()
        progress_to(bars, 64 * batch, total, cached=0)
    return said


@pytest.fixture(autouse=True)
def no_watch(monkeypatch: pytest.MonkeyPatch) -> None:
    """No thread of its own: the tests look instead."""
    monkeypatch.setattr(progress.Bars, "_watch", lambda self, idle: None)


@pytest.mark.parametrize("batch_seconds", [1, 9, 45, 180])
def test_three_minutes_are_three_lines_however_slow_a_batch_is(
    batch_seconds: float,
) -> None:
    said = lines_of(batch_seconds, int(180 // batch_seconds), Verbosity.normal)
    assert [line.split()[0] for line in said] == ["0:10", "1:10", "2:10"]
    assert all("answers" in line and "400 samples" in line for line in said)
    assert all(
        f"of {8 * 64 * int(180 // batch_seconds):,} inputs" in line for line in said
    )


def test_quiet_says_nothing_and_verbose_more() -> None:
    assert lines_of(9, 20, Verbosity.quiet) == []
    said = lines_of(9, 20, Verbosity.verbose)
    assert said[0] == "0:00 asking the model for 1,280 answers, 0 of them in the cache"
    assert len(said) == 1 + 18


def test_the_time_left_goes_by_what_the_model_looks_at() -> None:
    """A tenth of the answers is a tenth of the time only where all are alike."""
    clock, said = Clock(), list[str]()
    bars = Bars(Verbosity.verbose, clock=clock, say=said.append)
    all_inputs = 100 * 8 + 1000  # clips of eight frames first, stills after
    for clips in range(0, 60, 10):  # a second an input
        bars.responses_progressed(
            audit=AUDIT,
            done=clips,
            total=1100,
            cached=0,
            inputs=8 * clips,
            all_inputs=all_inputs,
        )
        clock.now += 80
    # as of the last batch: 1,800 inputs of which 400 are done
    assert said[-1].endswith("400 of 1,800 inputs, about 23:20 left")


def test_answers_of_the_cache_are_no_part_of_the_pace() -> None:
    clock, said = Clock(), list[str]()
    bars = Bars(Verbosity.verbose, clock=clock, say=said.append)
    progress_to(bars, 3200, 6400, cached=3200)
    clock.now += 64
    progress_to(bars, 3264, 6400, cached=3200)
    clock.now += 64
    progress_to(bars, 3328, 6400, cached=3200)
    assert said[-1].endswith("about 51:12 left")


def test_of_several_audits_the_line_says_how_far_all_are_and_no_time() -> None:
    """Two quick ones say nothing of how long the third takes."""
    clock, said = Clock(), list[str]()
    bars = Bars(clock=clock, say=said.append)
    with bars("audits", 4) as advance:
        for _ in range(2):
            clock.now += 30
            advance(1)
        progress_to(bars, 0, 640)
        clock.now += 60
        progress_to(bars, 320, 640)
    # the first batch opened the weights, and tells no pace
    assert said[-1] == (
        "2:00 audits: 2 of 4 (50%); asking the model: 320 of 640 answers (50%) "
        "about 400 samples, 2,560 of 5,120 inputs"
    )


def test_an_audit_that_failed_leaves_no_bar() -> None:
    clock, said = Clock(), list[str]()
    bars = Bars(clock=clock, say=said.append)
    progress_to(bars, 0, 64, cached=0)
    bars.audit_started(audit=AUDIT)  # the one before ended without a word
    progress_to(bars, 8, 16, cached=8)
    bars.clear()
    clock.now += 100
    bars.show_line_if_due()
    assert said == []


def test_the_runner_of_the_line_takes_its_bars_away() -> None:
    said: list[str] = []

    def broken_audit() -> None:
        with open_runner() as runner:
            bars = next(each for each in runner.observers if isinstance(each, Bars))
            kept.append(bars)
            progress_to(bars, 0, 64, cached=0)
            raise ValueError("the method broke")

    kept: list[Any] = []
    with pytest.raises(ValueError, match="the method broke"):
        broken_audit()
    [bars] = kept
    bars.clock, bars._say = (lambda: 1e9), said.append
    bars.show_line_if_due()
    assert said == []


def test_quiet_and_verbose_are_one_or_the_other(line: Line) -> None:
    audit = ("audit", "red", "--model", "colour", "--data", "clips")
    assert "expected one of them" in line(*audit, "-q", "-v", code=2)
    assert line(*audit, "--quiet").startswith("Red: colour on clips")
