"""Time left over several audits: by their plans, by earlier ones, by what this one shows."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from cuescope.cli import progress
from cuescope.cli.progress import Bars
from cuescope.cli.whole import Whole, following
from cuescope.conclusions import Cost
from cuescope.context import Context
from cuescope.course import Course, Stage
from cuescope.experience import (
    ASKED,
    FRAME_SECONDS,
    OWN_SECONDS,
    doubt,
    keep_surprise,
    share_asked,
)
from cuescope.planning import Plan
from cuescope.request import Request
from cuescope.runner import Runner
from cuescope.store import ResponseCache
from cuescope.time_left import longer_than

from .reports import make_report


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
    stages = [Stage("a", 100, 20, pace=0.1), Stage("b", 300, 40, pace=0.1)]
    course = Course(stages, clock)
    assert course.seconds_left == pytest.approx(400 * 0.1 + 60)
    course.begin("a")
    ask(course, clock, 100, 0.1)
    assert course.seconds_left == pytest.approx(300 * 0.1 + 60, rel=0.01)
    clock.now += 20
    course.end()
    assert course.seconds_left == pytest.approx(300 * 0.1 + 40, rel=0.02)
    assert course.share == pytest.approx(30 / 100, rel=0.03)


def test_a_slower_model_and_a_slower_computer_are_seen(clock: Clock) -> None:
    stages = [Stage("a", 100, 20, pace=0.2), Stage("b", 300, 40, pace=0.2)]
    course = Course(stages, clock)
    course.begin("a")
    ask(course, clock, 100, 0.4)
    clock.now += 60
    course.end()
    # 90 inputs at 0.4 seconds, beside 200 of earlier audits at 0.2
    pace = (90 * 0.4 + 200 * 0.2) / 290
    # three times as long as foreseen beside the model, in one of two stages
    slower = (60 + 61) / (20 + 61)
    assert course.pace(stages[1]) == pytest.approx(pace)
    assert course.seconds_left == pytest.approx(300 * pace + 40 * slower)


def test_a_pace_that_cannot_be_true_is_forgotten(clock: Clock) -> None:
    """As of a model that was timed while its weights were opened."""
    stage = Stage("a", 100, 0, pace=5.0)
    course = Course([stage], clock)
    course.begin("a")
    ask(course, clock, 100, 0.1)
    assert course.pace(stage) == pytest.approx(0.1)


def test_without_any_pace_there_is_no_time(clock: Clock) -> None:
    course = Course([Stage("a", 100, 1)], clock)
    course.begin("a")
    assert course.seconds_left is None
    assert course.share == 0
    ask(course, clock, 50, 0.1)
    assert course.seconds_left == pytest.approx(50 * 0.1 + 1)


def test_what_an_audit_says_of_its_later_calls_counts(clock: Clock) -> None:
    course = Course([Stage("a", 1000, 0, share=0.5, share_said=0.5, pace=1.0)], clock)
    course.begin("a")
    course.count_asked(0, 20)
    course.foresee(40)
    assert course.seconds_left == pytest.approx(20 + 0.5 * 40)
    course.foresee(None)
    assert course.seconds_left == pytest.approx(40)
    # what it thinks likely counts before what others asked of a bound
    course.foresee(40, likely=5)
    assert course.seconds_left == pytest.approx(25)
    assert course.left is not None
    assert course.left.surely == 20


def test_a_batch_under_way_is_no_work_beside_the_model(clock: Clock) -> None:
    course = Course([Stage("a", 20, 1, pace=10.0)], clock)
    course.begin("a")
    course.count_asked(0, 20)
    before = course.seconds_left
    clock.now += 100
    assert course.seconds_left == before
    course.count_asked(10, 20)
    course.count_asked(20, 20)
    clock.now += 30
    # now it is
    assert course.seconds_left == pytest.approx(0.3 * 30)


def test_a_guess_that_is_used_up_is_not_nearly_done(clock: Clock) -> None:
    course = Course([Stage("a", 50, 0, most=50, pace=1.0)], clock)
    course.begin("a")
    ask(course, clock, 100, 1.0)
    # 30 more where 100 were asked, if so many may follow
    assert course.seconds_left == pytest.approx(0)
    course.foresee(500)
    assert course.seconds_left == pytest.approx(30)
    course.foresee(500, likely=0)
    assert course.seconds_left == 0


def test_work_that_takes_longer_than_foreseen_is_not_nearly_done(clock: Clock) -> None:
    course = Course([Stage("a", 0, 10)], clock)
    course.begin("a")
    clock.now += 100
    assert course.seconds_left == pytest.approx(30)


def test_a_plan_becomes_a_stage_and_an_audit_a_memory(cache: ResponseCache) -> None:
    plan = Plan(model_calls=100, model_inputs=200, more=300, frames=200)
    request = Request(method="cci", model="toy-clip", data="scenes")
    elsewhere = request.model_copy(update={"data": "other data"})
    stage = Stage.of_plan("cci", plan, cache, request)
    assert stage.most == 200 + 2 * 300
    assert stage.inputs == pytest.approx(ASKED * 800)
    assert stage.seconds == pytest.approx(OWN_SECONDS + 200 * FRAME_SECONDS)
    stage.remember(cache, 400.0, 60.0)
    again = Stage.of_plan("cci", plan, cache, request)
    assert (again.inputs, again.seconds) == pytest.approx((400, 60))
    assert share_asked("cci", "other data", cache) == pytest.approx(0.5)
    stage = Stage.of_plan("cci", plan, cache, elsewhere)
    stage.remember(cache, 800.0, 60.0)
    assert share_asked("cci", "scenes", cache) == pytest.approx(0.5)
    assert share_asked("another", "scenes", cache) == ASKED


def test_one_bar_stands_over_all_steps(
    clock: Clock,
    cache: ResponseCache,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(progress.Bars, "_watch", lambda self, idle: None)
    said: list[str] = []
    bars = Bars(clock=clock, say=said.append)
    audit: Any = SimpleNamespace(
        samples=range(20), labels=("a",), more_trials=None, likely_trials=None
    )
    runner = Runner(Context(progress=bars), tmp_path)
    monkeypatch.setitem(runner.__dict__, "cache", cache)
    stages = [Stage("a", 20, 0, most=20, pace=1.0), Stage("b", 200, 0, pace=1.0)]

    def told(done: int) -> None:
        bars.responses_progressed(
            audit=audit, done=done, total=20, cached=0, inputs=done, all_inputs=20
        )

    with following(runner, ["a", "b"], lambda silenced: stages) as step, step("a"):
        told(0)
        clock.now += 10
        told(10)
        bars.show_line_if_due()
    [line] = said
    # ten inputs say little of the pace
    assert line.startswith(
        "0:10 [1/2] a: 2:24 to 5:06 left in all; asking the model: 10"
    )
    assert cache.pace("method a asked") == pytest.approx(0.5)


def test_where_nobody_looks_nothing_is_planned() -> None:
    @contextmanager
    def silent(description: str, total: int) -> Iterator[Any]:
        yield None

    runner: Any = SimpleNamespace(context=SimpleNamespace(progress=silent))

    def foresee(silenced: Any) -> list[Stage]:
        pytest.fail("it was planned")

    with following(runner, ["a"], foresee) as step, step("a"):
        pass


def test_each_model_has_a_pace_of_its_own(clock: Clock) -> None:
    stages = [
        Stage("a", 100, 0, model="fast"),
        Stage("b", 100, 0, model="slow", pace=2.0),
        Stage("c", 100, 0, model="fast"),
    ]
    course = Course(stages, clock)
    assert course.seconds_left is None
    course.begin("a")
    ask(course, clock, 100, 0.1)
    course.end()
    assert course.seconds_left == pytest.approx(100 * 2.0 + 100 * 0.1)


def test_nothing_is_said_of_what_cannot_be_foreseen(
    clock: Clock, tmp_path: Path
) -> None:
    course = Course([Stage.unknown("a"), Stage("b", 10, 0, pace=1.0)], clock)
    course.begin("a")
    assert course.seconds_left is None
    course.end()
    assert course.seconds_left == pytest.approx(10)


def test_a_run_that_is_made_again_takes_as_it_took(cache: ResponseCache) -> None:
    whole = make_report()
    cost = Cost(
        trials=90, model_calls=90, cache_hits=0, seconds=50, model_seconds=30, shown=120
    )
    report = whole.model_copy(update={"cost": cost})
    origin = report.provenance
    request = Request(
        method="trove", model=origin.model.spec, data=origin.data.spec, part="1/2"
    )
    stage = Stage.of_run("trove", report, cache, request)
    assert (stage.inputs, stage.seconds) == (0.0, 10.0)
    other = request.model_copy(update={"model": "another"})
    assert Stage.of_run("trove", report, cache, other).inputs == 60


def test_the_opening_of_a_model_says_nothing_of_a_method(clock: Clock) -> None:
    stages = [Stage("a", 0, 5), Stage("b", 0, 5)]
    course = Course(stages, clock, opening=60)
    course.begin("a")
    clock.now += 10
    assert course.seconds_left == pytest.approx(50 + 10)
    clock.now += 50
    course.open()
    clock.now += 5
    assert course.end() == (0.0, 5.0)
    assert course.seconds_left == pytest.approx(5)


def test_a_test_of_fewer_cues_still_locates_them(clock: Clock) -> None:
    course = Course([Stage("test", 600, 0, most=600, cues=3, pace=1.0)], clock)
    course.scale("test", 1)
    # two thirds, not one: half of it is for all cues
    assert course.seconds_left == pytest.approx(400)


def test_a_test_of_no_cue_takes_no_time_and_tells_of_the_same_data_alone(
    cache: ResponseCache, clock: Clock
) -> None:
    request = Request(method="confirm", model="toy", data="scenes")
    stage = Stage.of_test("test", 600, cache, request, share=0.7, seconds=30, cues=3)
    course = Course([replace(stage, pace=1.0)], clock)
    course.scale("test", 0)
    assert course.seconds_left == 0
    course.begin("test")
    course.stages["test"].remember(cache, *course.end())
    again = Stage.of_test("test", 600, cache, request, share=0.7, seconds=30)
    assert (again.inputs, again.seconds) == (0, 0)
    other = request.model_copy(update={"data": "other"})
    stage = Stage.of_test("test", 600, cache, other, share=0.7, seconds=30)
    assert (stage.inputs, stage.seconds) == (420, 30)


def test_a_number_is_said_where_it_is_known_within_a_third(clock: Clock) -> None:
    doubtful = Stage("a", 100, 100, most=100, pace=1.0, seconds_doubt=1.0)
    course = Course([doubtful], clock)
    shortest, longest = course.left.range if course.left else (0.0, 0.0)
    assert shortest < 150
    assert longest > 266
    assert Whole(course).words_left == "1:47 to 6:15"
    assert Whole(course).facts["all_seconds_left"] is None
    course.begin("a")
    ask(course, clock, 100, 1.0)
    clock.now += 99
    # what takes longer than foreseen may take much longer
    left = course.left
    assert left is not None
    assert left.seconds == pytest.approx(19.6, abs=0.1)
    assert left.range[1] > 100
    sure = Course([replace(doubtful, inputs=1000, most=1000, seconds=10)], clock)
    sure.begin("a")
    sure.count_asked(0, 1000)
    for done in (100, 200):
        clock.now += 100
        sure.count_asked(done, 1000)
    assert Whole(sure).words_left == "about 13:30"
    assert Whole(sure).facts["all_seconds_left"] == pytest.approx(810)


def test_a_range_that_tells_nothing_is_not_said(clock: Clock) -> None:
    wild = Course([Stage("a", 0, 200, seconds_doubt=1.6)], clock)
    assert wild.left is not None
    shortest, longest = wild.left.range
    assert longest > 10 * shortest
    assert Whole(wild).words_left is None
    assert Whole(wild).facts["all_seconds_left_between"] is None


def test_in_the_last_call_nothing_of_earlier_ones_is_waited_for(clock: Clock) -> None:
    audit: Any = SimpleNamespace(more_trials=5000, likely_trials=None)
    stage = Stage("a", 6000, 0, 6000, pace=1.0, share_said=0.5, inputs_doubt=0.3)
    course = Course([stage], clock)
    whole = Whole(course)
    course.begin("a")
    # a first look of stills, and a second one of clips, which nothing follows
    for trials, each, later in ((100, 1, 5000), (100, 2, 0)):
        audit.more_trials = later
        whole.count_asked(audit, trials, 0, 0, each * trials)
        for done in range(10, each * trials + 1, 10):
            clock.now += 10
            whole.count_asked(audit, trials, 0, done, each * trials)
            if later == 0:
                assert course.seconds_left == pytest.approx(200 - done)
    assert course.left is not None
    assert course.left.range == (0, 0)


def test_how_far_foresights_were_off_tells_how_far_the_next_may_be(
    cache: ResponseCache,
) -> None:
    guess = doubt("seconds", "a", cache, known=False)
    assert doubt("seconds", "a", cache, known=True) < guess
    for _ in range(20):
        keep_surprise("seconds", "a", cache, 0.05, known=False)
    assert doubt("seconds", "a", cache, known=False) < 0.3 * guess
    # of another method it tells less, and of what is known nothing
    of_other = doubt("seconds", "b", cache, known=False)
    assert doubt("seconds", "a", cache, known=False) < of_other < guess
    for _ in range(20):
        keep_surprise("seconds", "a", cache, -9.0, known=False)
    assert doubt("seconds", "a", cache, known=False) > guess


def test_a_method_that_asks_in_its_own_way_has_its_own_pace(
    cache: ResponseCache, clock: Clock
) -> None:
    """As one that hides patches of a picture again and again."""
    request = Request(method="cci", model="toy-clip", data="scenes")
    plan = Plan(model_calls=300, model_inputs=300, more=0, frames=200)
    cache.add_pace("model 'toy-clip'", 100, 100.0)
    stage = Stage.of_plan("cci", plan, cache, request)
    assert stage.pace == 1.0
    stage.remember(cache, 300, 5, timed=(30.0, 300.0))
    again = Stage.of_plan("cci", plan, cache, request)
    assert again.pace == pytest.approx(0.1)
    other = Stage.of_plan("a", plan, cache, request.model_copy(update={"method": "a"}))
    # where this model is slower by half in one, it is so in the other
    course = Course([other, again], clock)
    course.begin("a")
    ask(course, clock, 300, 1.5)
    expected = 0.1 * (290 * 1.5 + 200 * 0.1) / (290 + 200 * 0.1)
    assert course.pace(again) == pytest.approx(expected)


def test_a_bar_beside_the_model_tells_how_long_it_takes(clock: Clock) -> None:
    course = Course([Stage("a", 0, 5)], clock, opening=3)
    course.begin("a")
    course.seconds_of_bars = lambda: 40.0
    assert course.seconds_left == pytest.approx(40 + 5)
    clock.now += 60
    # a toy is trained once
    course.count_bars(58)
    course.open()
    assert course.opening_again == pytest.approx(2)
    assert course.seconds_left == pytest.approx(40)


def test_the_first_bound_that_a_test_says_is_known_from_the_last_time(
    cache: ResponseCache, clock: Clock
) -> None:
    request = Request(method="confirm", model="toy", data="scenes")
    stage = Stage.of_test("test", 100, cache, request, share=0.7)
    assert stage.inputs == pytest.approx(70)
    stage.remember(cache, 150, 5, said=600)
    again = Stage.of_test("test", 100, cache, request, share=0.7)
    # the most was a guess, and more than that was asked
    assert again.inputs == pytest.approx(150)
    course = Course([replace(again, pace=1.0)], clock)
    course.begin("test")
    course.count_asked(0, 20)
    course.foresee(380)
    assert course.left is not None
    assert course.seconds_left == pytest.approx(20 + 380 / 4 + again.seconds)


def test_a_first_bound_is_a_bound(clock: Clock) -> None:
    """It tells how much is asked at most, and before a first time no more."""
    course = Course([Stage("test", 100, 0, most=140, pace=1.0)], clock)
    course.begin("test")
    course.count_asked(0, 20)
    course.foresee(4000)
    assert course.seconds_left == pytest.approx(100)
    course.count_asked(20, 20)
    course.count_asked(0, 20)
    course.foresee(10)
    assert course.seconds_left == pytest.approx(20 + 9)


@pytest.mark.parametrize(
    ("over", "doubt"), [(0, 0.4), (20, 0.4), (60, 1.1), (200, 0.7)]
)
def test_what_goes_on_is_as_long_as_of_draws_that_took_as_long(
    over: float, doubt: float
) -> None:
    draws = 50 * np.exp(doubt * np.random.default_rng(1).normal(size=1_000_000))
    left = draws[draws > over] - over
    half, far = np.quantile(left, (0.5, 0.8413))
    assert longer_than(over, 50, doubt) == pytest.approx((half, far - half), rel=0.05)


@pytest.mark.parametrize(
    ("over", "half", "far"),
    [
        (20, 1.2059, 1.9810),
        (90, 1.9046, 3.2034),
        (200, 3.1214, 5.2410),
        (1000, 10.1831, 17.0424),
    ],
)
def test_what_takes_many_times_longer_is_soon_over_all_the_same(
    over: float, half: float, far: float
) -> None:
    """As the tail of its law says, by scipy's `isf`: here `cdf` has no digits left."""
    assert longer_than(over, 10, 0.26) == pytest.approx((half, far), rel=1e-3)


def test_what_cues_share_stays_when_their_number_is_known(clock: Clock) -> None:
    stage = Stage("test", 700, 0, most=700, cues=1, pace=1.0, shared=6.0)
    course = Course([stage], clock)
    course.scale("test", 4)
    assert course.seconds_left == pytest.approx(700 * 10 / 7)


def test_guesses_err_each_by_itself(clock: Clock) -> None:
    def doubt(*, has_run: bool) -> float:
        stage = Stage("a", 0, 30, seconds_doubt=1.0, has_run=has_run)
        course = Course([stage, replace(stage, name="b", seconds=40)], clock)
        assert course.left is not None
        return course.left.doubt

    assert doubt(has_run=True) == pytest.approx(70)
    assert doubt(has_run=False) == pytest.approx(50)


def test_a_first_test_may_be_of_no_cue(clock: Clock) -> None:
    test = Stage("test", 100, 0, most=140, cues=2, pace=1.0, cues_are_known=False)
    course = Course([test], clock)
    assert course.left is not None
    assert course.left.doubt == pytest.approx(np.hypot(100, 30))
    course.scale("test", 2)
    assert course.left.doubt == pytest.approx(30)
