"""`respond`: what is asked of the model, and what is not asked twice."""

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from cuescope_core import respond
from cuescope_core.errors import PlanStopped, PluginError, UserError
from cuescope_core.respond import ModelRunner, batches_of, inputs_of, trial_key
from cuescope_core.store import ResponseCache
from cuescope_core.types import Frame, HideTokens, Output, Response, Sample, Trial

from .edits import DropTokens, ScaleHeads


class Recorder:
    """Answers with the mean pixel of each frame, and remembers the batches."""

    def __init__(self, break_at: int | None = None) -> None:
        self.batches: list[list[str]] = []
        self.break_at = break_at

    def respond(self, trials: Sequence[Trial]) -> list[Response]:
        self.batches.append([trial.sample.key for trial in trials])
        if len(self.batches) == self.break_at:
            raise RuntimeError("layer 12 broke")
        return [self.answer(trial) for trial in trials]

    def answer(self, trial: Trial) -> Response:
        mean = np.mean(
            [np.asarray(frame.load()).mean() for frame in trial.sample.frames]
        )
        return Response(
            logits=np.array([mean, 0.0], np.float32), text="t", embedding=np.ones(3)
        )


def pixels(value: int) -> np.ndarray:
    return np.full((2, 2, 3), value, np.uint8)


def trial(value: int, **changes: object) -> Trial:
    sample = Sample(
        key=f"s{value}",
        frames=(Frame.from_array(pixels(value)),),
        choices=("a", "b"),
        label="a",
    )
    return Trial(sample=sample, **changes)


def means(runner: ModelRunner, trials: Sequence[Trial]) -> list[float]:
    outcomes = runner(trials)
    for asked, outcome in zip(trials, outcomes, strict=True):
        assert outcome.trial is asked
    return [
        float(o.response.logits[0]) for o in outcomes if o.response.logits is not None
    ]


@pytest.fixture
def cache() -> Iterator[ResponseCache]:
    cache = ResponseCache(None)
    yield cache
    cache.close()


@pytest.fixture
def ask(cache: ResponseCache) -> Callable[..., ModelRunner]:
    def make(
        model: object, batch_size: int = 4, identity: str = "m", **more: object
    ) -> ModelRunner:
        return ModelRunner(
            identity, lambda: model, cache, batch_size=batch_size, **more
        )

    return make


# ------------------------------------------------------------------------------ order and dedupe


def test_each_is_asked_once_and_answers_keep_their_order(
    ask: Callable[..., ModelRunner],
) -> None:
    model = Recorder()
    values = [5, 3, 5, 9, 3, 1, 0, 5]
    runner = ask(model, batch_size=2)
    assert means(runner, [trial(v) for v in values]) == values
    assert model.batches == [["s5", "s3"], ["s9", "s1"], ["s0"]]
    assert (runner.trials, runner.model_calls, runner.cache_hits) == (5, 5, 0)


def test_what_was_asked_before_is_not_asked_again(
    ask: Callable[..., ModelRunner],
) -> None:
    model = Recorder()
    first = ask(model)
    means(first, [trial(1), trial(2)])
    assert means(first, [trial(2), trial(3), trial(1)]) == [2, 3, 1]
    assert (first.trials, first.model_calls, first.cache_hits) == (3, 3, 0)
    second = ask(model, batch_size=1)
    assert means(second, [trial(v) for v in (3, 2, 1, 4)]) == [3, 2, 1, 4]
    assert (second.trials, second.model_calls, second.cache_hits) == (4, 1, 3)
    assert [key for batch in model.batches for key in batch] == ["s1", "s2", "s3", "s4"]


def test_nothing_asked_is_nothing_done(ask: Callable[..., ModelRunner]) -> None:
    model = Recorder()
    assert not ask(model)([])
    assert model.batches == []


def test_a_generator_of_trials_may_ask_on_its_way(
    ask: Callable[..., ModelRunner],
) -> None:
    runner = ask(Recorder())

    def dependent() -> Iterator[Trial]:
        yield trial(int(means(runner, [trial(7)])[0]) + 1)

    assert [o.response.logits[0] for o in runner(dependent())] == [8]


# ---------------------------------------------------------------------------------------- the key

BASE = trial(1)


def changed_pixel() -> Trial:
    changed = pixels(1)
    changed[1, 0, 2] += 1
    return with_sample(frames=(Frame.from_array(changed),))


def with_sample(**changes: object) -> Trial:
    return replace(BASE, sample=replace(BASE.sample, **changes))


OTHER = {
    "one pixel": changed_pixel(),
    "two frames": with_sample(frames=BASE.sample.frames * 2),
    "question": with_sample(question="what?"),
    "choices": with_sample(choices=("a", "c")),
    "order of choices": with_sample(choices=("b", "a")),
    "outputs": trial(1, outputs=frozenset({"embedding"})),
    "more outputs": trial(1, outputs=frozenset({"embedding", "logits"})),
    "hidden": trial(1, edit=HideTokens.from_mask(np.array([[[True, False]]]))),
    "hidden elsewhere": trial(
        1, edit=HideTokens.from_mask(np.array([[[False, True]]]))
    ),
    "hidden, other grid": trial(
        1, edit=HideTokens.from_mask(np.array([[[True], [False]]]))
    ),
    "attention": trial(1, edit=ScaleHeads(heads=frozenset({"VV"}))),
    "other layers": trial(1, edit=ScaleHeads(heads=frozenset({"VV"}), layers=(0,))),
    "tokens": trial(1, edit=DropTokens(names=frozenset({"video"}))),
}
SAME = {
    "label": with_sample(label="b"),
    "no label": with_sample(label=None),
    "key": with_sample(key="other"),
    "annotations": with_sample(annotations={"cues": {"red": (True,)}}),
    "condition": trial(1, condition="static"),
    "feature": trial(1, feature="red"),
}


def test_everything_that_enters_the_answer_is_in_the_key() -> None:
    keys = {name: trial_key("m", other) for name, other in OTHER.items()}
    keys |= {"base": trial_key("m", BASE), "other model": trial_key("n", BASE)}
    assert len(set(keys.values())) == len(keys)


def test_the_order_of_frames_is_in_the_key() -> None:
    one, two = (Frame.from_array(pixels(value)) for value in (1, 2))
    forward, backward = with_sample(frames=(one, two)), with_sample(frames=(two, one))
    assert trial_key("m", forward) != trial_key("m", backward)


@pytest.mark.parametrize("name", SAME)
def test_what_the_model_may_not_read_is_not_in_the_key(name: str) -> None:
    assert trial_key("m", SAME[name]) == trial_key("m", BASE)


# ------------------------------------------------------------------------------- kills and faults


def test_a_batch_is_kept_as_soon_as_it_is_answered(tmp_path: Path) -> None:
    trials = [trial(value) for value in range(10)]
    path = tmp_path / "cache.sqlite"
    cache = ResponseCache(path)
    runner = ModelRunner("m", lambda: Recorder(break_at=3), cache, batch_size=3)
    with pytest.raises(RuntimeError, match="layer 12 broke"):
        runner(trials)
    cache.close()
    cache, model = ResponseCache(path), Recorder()
    again = ModelRunner("m", lambda: model, cache, batch_size=4)
    assert means(again, trials) == list(range(10))
    assert model.batches == [["s6", "s7", "s8", "s9"]]
    assert (again.model_calls, again.cache_hits) == (4, 6)
    cache.close()


def wrong_number(trials: Sequence[Trial]) -> list[Response]:
    return [Response(logits=np.zeros(2))] * (len(trials) + 1)


def wrong_length(trials: Sequence[Trial]) -> list[Response]:
    return [Response(logits=np.zeros(3))] * len(trials)


def no_list(trials: Sequence[Trial]) -> None:
    """A forgotten `return`."""


def vectors(trials: Sequence[Trial]) -> list[Any]:
    return [np.zeros(2) for _ in trials]


def uneven(trials: Sequence[Trial]) -> list[Response]:
    return [
        Response(logits=np.zeros(2), embedding=np.zeros(2 + place))
        for place in range(len(trials))
    ]


def missing_output(trials: Sequence[Trial]) -> list[Response]:
    return [Response(text="a")] * len(trials)


def not_finite(trials: Sequence[Trial]) -> list[Response]:
    last = [Response(logits=np.array([0, np.nan]))]
    return [Response(logits=np.zeros(2))] * (len(trials) - 1) + last


@pytest.mark.parametrize(
    "raised", [MemoryError(), RuntimeError("CUDA out of memory. Tried to")]
)
def test_a_batch_that_does_not_fit_into_memory_is_asked_in_parts(
    ask: Callable[..., ModelRunner], raised: Exception
) -> None:
    model, sizes = Recorder(), list[int]()
    answer = model.respond

    def small_only(trials: Sequence[Trial]) -> list[Response]:
        sizes.append(len(trials))
        if len(trials) > 3:
            raise raised
        return answer(trials)

    model.respond = small_only  # type: ignore[method-assign]
    trials = [trial(value) for value in range(12)]
    with pytest.warns(UserWarning, match="--batch-size"):
        assert means(ask(model, batch_size=8), trials) == list(range(12))
    assert sizes == [8, 4, 2, 2, 2, 2, 2, 2]
    model.respond = lambda trials: (_ for _ in ()).throw(raised)  # type: ignore[method-assign]
    with (
        pytest.warns(UserWarning, match="--batch-size"),
        pytest.raises(UserError, match=r"out of memory with a single trial \(s20\)"),
    ):
        ask(model, batch_size=8)([trial(value) for value in range(20, 24)])


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (wrong_number, "expected 2 responses, got 3"),
        (no_list, "expected a list of responses, got None"),
        (vectors, "expected a Response for each trial, got a ndarray"),
        (uneven, "expected embeddings of one length, got 2 and 3"),
        (wrong_length, "s1: expected 2 logits, one a choice, got 3"),
        (missing_output, "s1: expected logits, got no logits"),
        (not_finite, "s2: expected finite numbers as its logits, got nan"),
    ],
)
def test_a_broken_contract_is_told_and_never_kept(
    ask: Callable[..., ModelRunner], cache: ResponseCache, answer: object, said: str
) -> None:
    model = Recorder()
    model.respond = answer  # type: ignore[assignment, method-assign]
    with pytest.raises(PluginError, match=said):
        ask(model)([trial(1), trial(2)])
    assert not cache.get([trial_key("m", trial(1)), trial_key("m", trial(2))])


@pytest.mark.filterwarnings("default")
@pytest.mark.parametrize(
    "kept",
    [
        Response(logits=np.zeros(3)),
        Response(logits=np.array([np.nan, 1.0])),
        Response(text="yes"),
    ],
)
def test_a_kept_answer_of_another_shape_is_asked_again(
    ask: Callable[..., ModelRunner], cache: ResponseCache, kept: Response
) -> None:
    """Its seal fits: whoever mails a cache can compute it."""
    cache.put({trial_key("m", trial(1)): kept})
    model = Recorder()
    with pytest.warns(UserWarning, match="in the cache are damaged, and asked again"):
        assert means(ask(model), [trial(1)]) == [1]
    assert means(ask(Recorder()), [trial(1)]) == [1]


def test_all_wanted_outputs_are_needed(ask: Callable[..., ModelRunner]) -> None:
    wanted: frozenset[Output] = frozenset({"logits", "embedding"})
    model = Recorder()
    model.respond = lambda trials: [Response(logits=np.zeros(2)) for _ in trials]  # type: ignore
    with pytest.raises(
        PluginError, match="expected embedding and logits, got no embedding"
    ):
        ask(model)([trial(1, outputs=wanted)])


def test_an_answer_with_an_embedding_is_one_without_it_too(
    ask: Callable[..., ModelRunner],
) -> None:
    both: frozenset[Output] = frozenset({"logits", "embedding"})
    model = Recorder()
    runner = ask(model)
    model.respond = lambda trials: [  # type: ignore[assignment, method-assign]
        Response(logits=np.full(2, 7.0), embedding=np.ones(3)) for _ in trials
    ]
    runner([trial(1, outputs=both)])
    [outcome] = runner([trial(1)])
    assert outcome.response.embedding is None
    assert outcome.response.logits.tolist() == [7, 7]
    assert (runner.model_calls, runner.cache_hits) == (1, 1)
    # text is another question, and an embedding is not known from less
    runner([trial(2), trial(2, outputs=both)])
    assert runner.model_calls == 3


# ---------------------------------------------------------------------- planning and other places


def test_planning_counts_and_asks_nothing(ask: Callable[..., ModelRunner]) -> None:
    model = Recorder()
    means(ask(model), [trial(1), trial(2)])
    planned = ask(model, planning=True)
    assert means(planned, [trial(2), trial(1)]) == [2, 1]
    with pytest.raises(PlanStopped):
        planned([trial(1), trial(5), trial(6), trial(5)])
    assert (planned.trials, planned.model_calls, planned.cache_hits) == (4, 2, 2)
    assert len(model.batches) == 1


def test_a_plan_knows_that_an_embedding_beside_an_answer_costs_nothing(
    ask: Callable[..., ModelRunner],
) -> None:
    """Plans that share what they count: the second audit finds the answers of the first."""
    both: frozenset[Output] = frozenset({"logits", "embedding"})
    first, second = ask(Recorder(), planning=True), ask(Recorder(), planning=True)
    second.seen = first.seen
    with pytest.raises(PlanStopped):
        first([trial(1, outputs=both), trial(2), trial(2, outputs=both)])
    # in one call both are asked
    assert first.model_calls == 3
    with pytest.raises(PlanStopped):
        second([trial(1), trial(3), trial(3, outputs=both)])
    assert second.model_calls == 2


@pytest.mark.parametrize("planning", [True, False])
def test_what_a_model_would_refuse_is_told_before_anything_is_asked(
    ask: Callable[..., ModelRunner], planning: bool
) -> None:
    model = Recorder()

    def require(trials: Sequence[Trial]) -> None:
        for asked in trials:
            if asked.sample.key == "s6":
                raise UserError("s6 has no question")

    runner = ask(model, batch_size=1, require=require, planning=planning)
    with pytest.raises(UserError, match="s6 has no question"):
        runner([trial(1), trial(5), trial(6)])
    assert model.batches == []


def test_long_lists_are_answered_in_windows(
    ask: Callable[..., ModelRunner], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(respond, "WINDOW", 3)
    values, progress = (
        [1, 2, 1, 3, 2, 4, 5, 1, 5, 6, 1, 5],
        list[tuple[int, int, int]](),
    )
    planned, model = ask(Recorder(), planning=True), Recorder()
    with pytest.raises(PlanStopped):
        planned([trial(value) for value in values])
    assert (planned.trials, planned.model_calls) == (6, 6)
    parts: list[int] = []
    runner = ask(
        model,
        on_progress=lambda *numbers: progress.append(numbers),
        on_answers=lambda outcomes: parts.append(len(outcomes)),
    )
    assert means(runner, [trial(value) for value in values]) == values
    assert (runner.trials, runner.model_calls, runner.cache_hits) == (6, 6, 0)
    assert parts == [3, 3, 3, 3]
    assert [step[0] for step in progress] == sorted(step[0] for step in progress)
    assert [step[3] for step in progress] == sorted(step[3] for step in progress)
    # a trial twice in a window waits twice; each is looked at once
    assert progress[-1] == (12, 12, 4, 6, 6)


class Undecided:
    """Chooses b the first time, and a ever after."""

    def respond(self, trials: Sequence[Trial]) -> list[Response]:
        return [
            Response(
                logits=np.array([0.0, -np.log(3 if trial.repeat else 1 / 3)]), text=text
            )
            for trial in trials
            for text in ["a" if trial.repeat else "b"]
        ]


def test_a_model_that_loads_ahead_is_told_what_comes_next(
    ask: Callable[..., ModelRunner],
) -> None:
    told: list[list[str]] = []

    class Ahead(Recorder):
        def prefetch(self, trials: Sequence[Trial]) -> None:
            told.append([trial.sample.key for trial in trials])

    ask(Ahead(), batch_size=2)([trial(value) for value in range(5)])
    assert told == [["s0", "s1", "s2", "s3"], ["s2", "s3", "s4"], ["s4"]]


def test_repeated_answers_are_one_response(ask: Callable[..., ModelRunner]) -> None:
    runner = ask(Undecided(), repeats=3)
    asked = [trial(1), trial(2)]
    outcomes = runner(asked)
    assert [outcome.trial for outcome in outcomes] == asked
    assert (runner.trials, runner.combined, runner.agreeing) == (6, 6, 4)
    for outcome in outcomes:
        assert (outcome.prediction, outcome.response.text) == ("a", "a")
        mean = (0.25 + 0.75 + 0.75) / 3
        np.testing.assert_allclose(
            outcome.response.logits, np.log([mean, 1 - mean]), rtol=1e-6
        )
    assert ask(Undecided())([trial(1)])[0].prediction == "b"


class Backwards:
    """An executor that answers the last batch first."""

    def map(
        self, build: Callable[[], Recorder], batches: Sequence[Sequence[Trial]]
    ) -> Iterator[tuple[int, list[Response]]]:
        for index in reversed(range(len(batches))):
            yield index, build()(batches[index])


def test_batches_may_come_in_any_order(ask: Callable[..., ModelRunner]) -> None:
    runner = ask(Recorder(), batch_size=2, executor=Backwards())
    assert means(runner, [trial(v) for v in range(7)]) == list(range(7))


def test_progress_ends_at_the_total(ask: Callable[..., ModelRunner]) -> None:
    seen: list[tuple[int, int, int]] = []
    means(ask(Recorder()), [trial(0)])
    runner = ask(
        Recorder(), batch_size=2, on_progress=lambda *numbers: seen.append(numbers)
    )
    means(runner, [trial(v) for v in range(4)])
    assert seen == [(1, 4, 1, 0, 3), (3, 4, 1, 2, 3), (4, 4, 1, 3, 3)]


def test_a_batch_is_as_large_as_what_the_model_looks_at() -> None:
    """Eight clips of eight frames are as much as 64 stills; a frozen clip is one picture."""
    clip = {f"clip{number}": 8 for number in range(9)}
    assert [len(batch) for batch in batches_of(clip, 64)] == [8, 1]
    still = {f"still{number}": 1 for number in range(130)}
    assert [len(batch) for batch in batches_of(still, 64)] == [64, 64, 2]
    assert list(batches_of({"a": 100, "b": 1, "c": 100}, 64)) == [["a"], ["b"], ["c"]]
    assert list(batches_of({}, 64)) == []
    frames = tuple(
        Frame.from_array(np.full((2, 2, 3), value, np.uint8)) for value in (1, 2, 1)
    )
    assert inputs_of(Trial(sample=Sample(key="s", frames=frames))) == 2
    assert inputs_of(Trial(sample=Sample(key="q", frames=(), question="Why?"))) == 1


def test_the_pace_is_of_the_calls_that_were_made(
    ask: Callable[..., ModelRunner], cache: ResponseCache
) -> None:
    assert cache.pace("m") is None
    runner = ask(Recorder())
    means(runner, [trial(1)])
    means(runner, [trial(2)])
    pace = cache.pace("m")
    assert pace is not None
    assert pace > 0
    assert cache.pace("other weights") is None


def test_batches_do_not_go_by_the_clock(
    ask: Callable[..., ModelRunner], cache: ResponseCache
) -> None:
    """In batches of another size a model rounds otherwise, and the report has another hash."""
    model = Recorder()
    means(ask(model, batch_size=20), [trial(value) for value in range(30)])
    # two seconds an input, on a computer like this one
    cache.add_pace("m", 10_000, 20_000.0)
    slow = Recorder()
    means(ask(slow, batch_size=20), [trial(value) for value in range(30, 60)])
    assert [len(batch) for batch in model.batches + slow.batches] == [20, 10, 20, 10]


def test_opening_a_model_is_no_part_of_its_pace(
    ask: Callable[..., ModelRunner], cache: ResponseCache
) -> None:
    class Opening(Recorder):
        def respond(self, trials: Sequence[Trial]) -> list[Response]:
            if not self.batches:
                time.sleep(0.4)
            return super().respond(trials)

    ask(Opening())([trial(0)])
    assert cache.pace("m") is None
    ask(Opening())([trial(value) for value in range(1, 40)])
    pace = cache.pace("m")
    assert pace is not None
    assert pace < 0.1


@pytest.mark.parametrize(("recorded", "shown"), [(False, (3, 2)), (True, (0, 0))])
def test_pictures_are_counted_as_the_model_is_shown_them(
    cache: ResponseCache, *, recorded: bool, shown: tuple[int, int]
) -> None:
    """A question without one has none, and a recording is shown nothing."""
    frames = [Frame.from_array(np.full((2, 2, 3), value, np.uint8)) for value in (1, 2)]
    samples = [
        Sample(key="a", frames=(frames[0],), choices=("a", "b")),
        Sample(key="b", frames=tuple(frames), choices=("a", "b")),
        Sample(key="c", frames=(), question="Why?", choices=("a", "b")),
    ]
    logits = np.zeros(2, np.float32)
    model: Any = SimpleNamespace(
        respond=lambda trials: [Response(logits=logits) for _ in trials]
    )
    runner = ModelRunner("m", lambda: model, cache, batch_size=2, recorded=recorded)
    runner([Trial(sample=sample) for sample in samples])
    assert (runner.shown, len(runner.pictures)) == shown
    assert (runner.model_seconds > 0) is not recorded
