"""Progress without a terminal: lines that come in time, and a time left that holds."""

from types import SimpleNamespace
from typing import Any

import pytest

from cuescope.cli import progress
from cuescope.cli.options import open_runner
from cuescope.cli.progress import Bars, Verbosity, Work

from .conftest import Line

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


def test_the_time_left_is_that_of_the_last_batches() -> None:
    clock = Clock()
    work = Work("asking the model", 6400, "answers", clock)
    work.begin(3200)  # from the cache, and no part of the pace
    assert work.seconds_left is None
    clock.now += 100  # the first batch opens the weights
    work.update(3264)
    for batch in range(2, 6):
        clock.now += 20
        work.update(3200 + 64 * batch)
    assert work.rate == pytest.approx(64 / 20)
    assert work.seconds_left == pytest.approx((6400 - 3520) / 3.2)
    for batch in range(6, 40):  # the model grew slower: the pace follows
        clock.now += 40
        work.update(3200 + 64 * batch)
    assert work.rate == pytest.approx(64 / 40)
    left = work.seconds_left
    clock.now += 15  # within a batch the time left goes on falling
    assert left is not None
    assert work.seconds_left == pytest.approx(left - 15, abs=0.01)
    assert work.words == (
        "asking the model: 5,696 of 6,400 answers (89%), 1.6 a second, about 7:05 left"
    )


def test_a_batch_that_takes_longer_than_usual_makes_the_rest_longer() -> None:
    clock = Clock()
    work = Work("audits", 100, clock=clock)
    for audit in range(11):  # of 10 seconds each
        work.update(audit)
        clock.now += 10
    # the eleventh ends about now
    assert work.seconds_left == pytest.approx(890, abs=3)
    clock.now += 90
    # eleven took 200 seconds, and this one has not ended
    assert work.seconds_left == pytest.approx(89 * 200 / 11 + 0.3 * 90)


def test_a_last_batch_that_takes_longer_is_never_said_to_be_over() -> None:
    clock = Clock()
    work = Work("asking the model", 240, "answers", clock)
    for answers in (0, 64, 128, 192):
        work.update(answers)
        clock.now += 20
    due = clock.now
    for overdue in (0, 10, 60):
        clock.now = due + overdue
        left = work.seconds_left
        assert left is not None
        assert left >= max(1.0, 0.3 * overdue)
        assert "0:00" not in work.words


def test_the_time_left_goes_by_what_the_model_looks_at() -> None:
    """A tenth of the answers is a tenth of the time only where all are alike."""
    clock = Clock()
    work = Work("asking the model", 1100, "answers", clock)
    work.all_effort = 100 * 8 + 1000
    work.begin(0, 0)
    for clip in range(10, 110, 10):  # a second an input: clips first, stills after
        clock.now += 80
        work.update(clip, 8 * clip)
        assert work.seconds_left == pytest.approx(work.all_effort - 8 * clip)


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


def test_a_refusal_stands_alone_and_a_report_follows_its_warnings() -> None:
    said: list[str] = []
    warnings = progress.HeldWarnings(said.append)
    warnings.audit_started(audit=AUDIT)
    warnings.announce("warning: few samples")
    warnings.announce("a key goes to a server")
    warnings.drop()  # the audit was refused
    warnings.audit_started(audit=AUDIT)
    warnings.announce("warning: nothing moves")
    warnings.responses_progressed(audit=AUDIT)
    assert said == ["a key goes to a server"]
    warnings.audit_finished(report=SimpleNamespace())
    warnings.drop()
    assert said == ["a key goes to a server", "warning: nothing moves"]
