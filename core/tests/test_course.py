"""Time left over several audits: by their plans, by earlier ones, by what this one shows."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from cuescope.cli import progress
from cuescope.cli.progress import Bars
from cuescope.cli.whole import following
from cuescope.course import ASKED, OWN_SECONDS, Course, Stage, share_asked
from cuescope.planning import Plan
from cuescope.store import ResponseCache


class Clock:
    """A clock that a test moves."""

    now = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def cache(tmp_path: Path) -> Iterator[ResponseCache]:
    cache = ResponseCache(tmp_path / "cache.sqlite")
    yield cache
    cache.close()


def ask(course: Course, clock: Clock, inputs: int, pace: float) -> None:
    """A call of the model, in batches of ten."""
    course.count_asked(0, inputs)
    for done in range(10, inputs + 1, 10):
        clock.now += 10 * pace
        course.count_asked(done, inputs)


def test_the_time_left_is_that_of_all_stages(clock: Clock) -> None:
    stages = [Stage("a", 100, 20), Stage("b", 300, 40)]
    course = Course(stages, pace=0.1, clock=clock)
    assert course.seconds_left == pytest.approx(400 * 0.1 + 60)
    course.begin("a")
    ask(course, clock, 100, 0.1)
    assert course.seconds_left == pytest.approx(300 * 0.1 + 60, rel=0.01)
    clock.now += 20
    course.end()
    assert course.seconds_left == pytest.approx(300 * 0.1 + 40, rel=0.02)
    assert course.share == pytest.approx(30 / 100, rel=0.03)


def test_a_slower_model_and_a_slower_computer_are_seen(clock: Clock) -> None:
    course = Course([Stage("a", 100, 20), Stage("b", 300, 40)], 0.2, clock)
    course.begin("a")
    ask(course, clock, 100, 0.4)
    clock.now += 60
    course.end()
    # 90 inputs at 0.4 seconds, beside 200 of earlier audits at 0.2
    pace = (90 * 0.4 + 200 * 0.2) / 290
    # three times as long as foreseen beside the model, in one of two stages
    slower = (60 + 61) / (20 + 61)
    assert course.pace == pytest.approx(pace)
    assert course.seconds_left == pytest.approx(300 * pace + 40 * slower)


def test_a_pace_that_cannot_be_true_is_forgotten(clock: Clock) -> None:
    """As of a model that was timed while its weights were opened."""
    course = Course([Stage("a", 100, 0)], 5.0, clock)
    course.begin("a")
    ask(course, clock, 100, 0.1)
    assert course.pace == pytest.approx(0.1)


def test_without_any_pace_there_is_no_time(clock: Clock) -> None:
    course = Course([Stage("a", 100, 1)], None, clock)
    course.begin("a")
    assert course.seconds_left is None
    assert course.share == 0
    ask(course, clock, 50, 0.1)
    assert course.seconds_left == pytest.approx(50 * 0.1 + 1)


def test_what_an_audit_says_of_its_later_calls_counts(clock: Clock) -> None:
    course = Course([Stage("a", 1000, 0, share=0.5)], 1.0, clock)
    course.begin("a")
    course.count_asked(0, 20)
    course.foresee(40)
    assert course.seconds_left == pytest.approx(20 + 0.5 * 40)
    course.foresee(None)
    assert course.seconds_left == pytest.approx(40)


def test_work_that_takes_longer_than_foreseen_is_not_nearly_done(clock: Clock) -> None:
    course = Course([Stage("a", 0, 10)], None, clock)
    course.begin("a")
    clock.now += 100
    assert course.seconds_left == pytest.approx(10)


def test_a_plan_becomes_a_stage_and_an_audit_a_memory(cache: ResponseCache) -> None:
    plan = Plan(model_calls=100, model_inputs=200, more=300, frames=200)
    stage = Stage.of_plan("cci", plan, cache, "scenes")
    assert stage.most == 200 + 2 * 300
    assert stage.inputs == pytest.approx(ASKED * 800)
    assert stage.seconds == pytest.approx(200 * OWN_SECONDS)
    stage.remember(cache, 400.0, 60.0)
    again = Stage.of_plan("cci", plan, cache, "scenes")
    assert (again.inputs, again.seconds) == pytest.approx((400, 60))
    assert share_asked("cci", "other data", cache) == pytest.approx(0.5)
    stage = Stage.of_plan("cci", plan, cache, "other data")
    stage.remember(cache, 800.0, 60.0)
    assert share_asked("cci", "scenes", cache) == pytest.approx(0.5)
    assert share_asked("another", "scenes", cache) == ASKED


def test_one_bar_stands_over_all_steps(
    clock: Clock, cache: ResponseCache, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(progress.Bars, "_watch", lambda self, idle: None)
    said: list[str] = []
    bars = Bars(clock=clock, say=said.append)
    audit: Any = SimpleNamespace(samples=range(20), labels=("a",), more_trials=None)
    runner: Any = SimpleNamespace(context=SimpleNamespace(progress=bars), cache=cache)

    def foresee() -> tuple[list[Stage], float]:
        return [Stage("a", 20, 0, most=20), Stage("b", 200, 0)], 1.0

    def told(done: int) -> None:
        bars.responses_progressed(
            audit=audit, done=done, total=20, cached=0, inputs=done, all_inputs=20
        )

    with following(runner, foresee) as step, step("a"):
        told(0)
        clock.now += 10
        told(10)
        bars.show_line_if_due()
    [line] = said
    assert line.startswith("0:10 [1/2] a: about 3:30 left in all; asking the model: 10")
    assert cache.pace("method a asked") == pytest.approx(0.5)


def test_where_nobody_looks_nothing_is_planned() -> None:
    @contextmanager
    def silent(description: str, total: int) -> Iterator[Any]:
        yield None

    runner: Any = SimpleNamespace(context=SimpleNamespace(progress=silent))
    with following(runner, lambda: pytest.fail("it was planned")) as step, step("a"):
        pass
