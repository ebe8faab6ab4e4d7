"""How long a test is foreseen to take, before the first one on a computer."""

from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from cuescope.course import Course, Stage
from cuescope.planning import Plan
from cuescope.store import ResponseCache
from cuescope_confirm.command import foresight
from cuescope_confirm.command.foresight import Held, cues_of, stage_of_test
from cuescope_sdk import Capabilities, Request
from cuescope_sdk.stills import Answers

TEST = Request(method="confirm", model="toy", data="scenes")
SAMPLES = 30  # that an intervention changes


@pytest.fixture
def runner(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """Of a model that gives embeddings, and can be asked for five kinds of change."""
    monkeypatch.setattr(foresight, "most_of_test", lambda *given: (10, 5, SAMPLES))
    embeds = Capabilities(outputs=Answers.outputs)
    monkeypatch.setattr(foresight, "_declared", lambda *given: embeds)
    cache = ResponseCache(tmp_path / "cache.sqlite")
    yield SimpleNamespace(cache=cache, context=None)
    cache.close()


def test_few_samples_show_few_cues(runner: Any) -> None:
    cues = [stage_of_test(runner, TEST, Held(n)).cues for n in (20, 200, 400, 5000)]
    assert cues == [1, 4, 8, 8]
    assert stage_of_test(runner, TEST, Held(5000), 20).cues == 10


def test_what_locates_cues_is_asked_once_for_all_of_them(runner: Any) -> None:
    held = Held(60, frames_each=6.0)
    one = stage_of_test(runner, TEST, held, 1)
    three = stage_of_test(runner, TEST, held, 3)
    # two kinds of change, each beside its placebo
    of_cue = 2 * 2 * SAMPLES * 6
    assert three.most - one.most == pytest.approx(2 * of_cue)
    # each frame of both halves, still
    assert one.most - of_cue == pytest.approx(2 * 60 * 6)
    course = Course([one])
    course.scale("confirm", 3)
    assert course.stages["confirm"].most == pytest.approx(three.most)
    # of many samples not all are looked at
    many = stage_of_test(runner, TEST, Held(9000), 1)
    assert many.most == pytest.approx(2 * 2 * SAMPLES + 2 * 12 * SAMPLES)


def test_a_model_without_embeddings_is_not_asked_to_locate(
    runner: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    talks = Capabilities(outputs=frozenset({"text"}))
    monkeypatch.setattr(foresight, "_declared", lambda *given: talks)
    stage = stage_of_test(runner, TEST, Held(60), 1)
    assert stage.most == pytest.approx(2 * 2 * SAMPLES)


def test_where_no_kind_of_change_applies_nothing_is_asked(
    runner: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(foresight, "most_of_test", lambda *given: (10, 0, SAMPLES))
    assert stage_of_test(runner, TEST, Held(60), 1).most == 0


def test_large_pictures_take_longer_to_change(runner: Any) -> None:
    def seconds(held: Held) -> float:
        stage: Stage = stage_of_test(runner, TEST, held)
        return stage.seconds

    small = seconds(Held(400, pixels=32 * 32))
    large = seconds(Held(400, pixels=256 * 256))
    assert large > 10 * small
    # what is found in questions has no picture to change
    asking = [Held(400, pixels=side**2, asks_questions=True) for side in (32, 256)]
    assert len(set(map(seconds, asking))) == 1


def test_a_plan_tells_of_what_is_held_out() -> None:
    plan = Plan(samples=50, frames=250, pixels=3600, questions=12)
    assert Held.of_plan(plan) == Held(50, 5.0, 3600, True)
    assert Held.of_plan(Plan()) == Held()


def test_what_needs_no_test_is_no_cue() -> None:
    kinds = ("slice", "preference", "tell", "word")
    report: Any = SimpleNamespace(
        features=[SimpleNamespace(key=kind, kind=kind) for kind in kinds],
        findings=[SimpleNamespace(feature=kind) for kind in (*kinds, "word")],
    )
    assert cues_of(report) == {"slice", "word"}
