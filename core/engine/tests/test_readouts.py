"""Readings: what is read beside the model is cached, batched and resumed like any answer."""

import pickle
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest
from jaxtyping import Float32

from cuescope.runner import Runner
from cuescope_core.errors import PlanStopped, PluginError, UserError
from cuescope_core.request import Request
from cuescope_core.respond import ModelRunner, trial_key
from cuescope_core.store import ResponseCache
from cuescope_core.types import Frame, HideTokens, Readout, Response, Sample, Trial

from .edits import ScaleHeads

HIDDEN = HideTokens.from_mask(np.array([[[True, False]]]))


class Model:
    """Knows a number; answers with it, and counts what it is asked."""

    def __init__(self, number: float = 1.0) -> None:
        self.number = number
        self.batches: list[list[str]] = []

    def respond(self, trials: Sequence[Trial]) -> list[Response]:
        self.batches.append([trial.sample.key for trial in trials])
        return [Response(logits=np.array([self.number])) for _ in trials]


class Brightness(Readout):
    """The mean pixel times the model's number and `times`, half of it where an edit hides."""

    name: ClassVar[str] = "brightness"
    times: float = 1.0

    def read(self, model: Model, trials: Sequence[Trial]) -> list[np.ndarray]:
        model.batches.append(
            [f"{self.times:g} of {trial.sample.key}" for trial in trials]
        )
        factor = model.number * self.times
        return [_mean(t) * factor * np.float32(0.5 if t.edit else 1) for t in trials]


class Pair(Brightness):
    name: ClassVar[str] = "pair"

    def read(self, model: Model, trials: Sequence[Trial]) -> list[np.ndarray]:
        return [np.full(2, mean) for mean in super().read(model, trials)]

    def accepts(self, array: np.ndarray, trial: Trial) -> bool:
        return array.dtype == np.float32 and array.shape == (2,) and array.min() >= 0


class Vector(Pair):
    name: ClassVar[str] = "vector"
    gives: ClassVar[Any] = Float32[np.ndarray, " dim"]

    def accepts(self, array: np.ndarray, trial: Trial) -> bool:
        return Readout.accepts(self, array, trial)


class One(Readout):
    name: ClassVar[str] = "one"

    def read(self, model: Any, trials: Sequence[Trial]) -> list[np.ndarray]:
        return [np.ones(1)] * len(trials)


class OtherCode(Brightness):
    name: ClassVar[str] = "brightness-2"


class Pixels(Readout):
    """The frame as it is, in another dtype and shape."""

    name: ClassVar[str] = "pixels"
    dtype: str
    shape: tuple[int, ...]

    def read(self, model: Model, trials: Sequence[Trial]) -> list[np.ndarray]:
        return [_content(self.dtype, self.shape, _mean(trial)) for trial in trials]


class Broken(Readout):
    name: ClassVar[str] = "broken"
    fault: str

    def read(self, model: Any, trials: Sequence[Trial]) -> list[np.ndarray]:
        match self.fault:
            case "nan":
                return [np.array([1.0, np.nan]) for _ in trials]
            case "infinite":
                return [np.array(np.inf) for _ in trials]
            case "raises":
                raise IndexError("layer 12")
            case _:
                return [np.zeros(1)] * (len(trials) - 1)


def _mean(trial: Trial) -> np.float32:
    return np.float32(
        np.mean([np.asarray(frame.load()).mean() for frame in trial.sample.frames])
    )


def _content(dtype: str, shape: tuple[int, ...], seed: float) -> np.ndarray:
    drawn = np.random.default_rng(int(seed)).normal(scale=50, size=shape)
    return np.asarray(drawn).astype(dtype)


def sample(value: int, **changes: Any) -> Sample:
    frame = Frame.from_array(np.full((2, 2, 3), value, np.uint8))
    plain = {"key": f"s{value}", "frames": (frame,), "choices": ("a",), "label": "a"}
    return Sample(**(plain | changes))


@pytest.fixture
def cache() -> Iterator[ResponseCache]:
    cache = ResponseCache(None)
    yield cache
    cache.close()


@pytest.fixture
def ask(cache: ResponseCache) -> Callable[..., ModelRunner]:
    def make(model: object, batch_size: int = 4, **more: Any) -> ModelRunner:
        return ModelRunner("m", lambda: model, cache, batch_size=batch_size, **more)

    return make


def read(runner: ModelRunner, trials: Sequence[Trial]) -> list[float]:
    return [float(np.asarray(outcome.response.readout)) for outcome in runner(trials)]


# ------------------------------------------------------------------------------------- answers


def test_a_reading_is_answered_beside_the_model(
    ask: Callable[..., ModelRunner],
) -> None:
    trial = Brightness(times=3.0).of(sample(5))
    assert (trial.outputs, trial.edit) == (frozenset(), None)
    [outcome] = ask(Model(2.0))([trial])
    assert outcome.trial is trial
    assert outcome.response.readout == np.float32(30)
    said = outcome.response
    assert (said.logits, said.text, said.embedding, said.prediction) == (
        None,
        None,
        None,
        None,
    )


def test_an_edit_reaches_the_reading(ask: Callable[..., ModelRunner]) -> None:
    trials = [Brightness().of(sample(8)), Brightness().of(sample(8), edit=HIDDEN)]
    assert read(ask(Model()), trials) == [8, 4]


@pytest.mark.parametrize(
    ("dtype", "shape"),
    [
        ("uint8", (7, 5, 3)),
        ("int16", (14, 14)),
        ("float32", ()),
        ("float32", (0,)),
        ("float16", (2, 3)),
        ("float64", (4,)),
        ("int64", (1, 0, 2)),
        ("bool", (3, 3)),
    ],
)
def test_any_array_is_replayed_bit_by_bit(
    tmp_path: Path, dtype: str, shape: tuple[int, ...]
) -> None:
    trial = Pixels(dtype=dtype, shape=shape).of(sample(9))
    expected = _content(dtype, shape, 9)
    for model_calls in (1, 0):
        cache = ResponseCache(tmp_path / "cache.sqlite")
        runner = ModelRunner("m", Model, cache, batch_size=1)
        [outcome] = runner([trial])
        got = outcome.response.readout
        assert got is not None
        assert (got.dtype, got.shape) == (expected.dtype, expected.shape)
        assert got.tobytes() == expected.tobytes()
        assert runner.model_calls == model_calls
        cache.close()


def test_readings_and_plain_trials_keep_their_places(
    ask: Callable[..., ModelRunner],
) -> None:
    one, two = Brightness(), Brightness(times=2.0)
    trials = [
        one.of(sample(1)),
        Trial(sample=sample(1)),
        two.of(sample(1)),
        one.of(sample(2)),
        Trial(sample=sample(2)),
        one.of(sample(1)),
        two.of(sample(3)),
        one.of(sample(3)),
    ]
    model = Model(10.0)
    runner = ask(model, batch_size=2)
    said = [outcome.response for outcome in runner(trials)]
    readouts = [said[i].readout for i in (0, 2, 3, 5, 6, 7)]
    assert [float(np.asarray(r)) for r in readouts] == [10, 20, 20, 10, 60, 30]
    for index in (1, 4):
        assert said[index].readout is None
        assert said[index].logits == np.float32(10)
    # a batch asks one thing, and a trial asked twice is answered once
    assert model.batches == [
        ["1 of s1", "1 of s2"],
        ["1 of s3"],
        ["s1", "s2"],
        ["2 of s1", "2 of s3"],
    ]
    assert (runner.trials, runner.model_calls, runner.cache_hits) == (7, 7, 0)


# ---------------------------------------------------------------------------------------- keys

BASE = Brightness().of(sample(1))
OTHER = {
    "field": Brightness(times=2.0).of(sample(1)),
    "name": OtherCode().of(sample(1)),
    "frame": Brightness().of(sample(2)),
    "two frames": Brightness().of(sample(1, frames=sample(1).frames * 2)),
    "edit": Brightness().of(sample(1), edit=HIDDEN),
    "other edit": Brightness().of(sample(1), edit=ScaleHeads(heads=frozenset({"VV"}))),
    "none": Trial(sample=sample(1), outputs=frozenset()),
}
SAME = {
    "label": Brightness().of(sample(1, label=None)),
    "annotations": Brightness().of(sample(1, annotations={"cues": {"red": (True,)}})),
    "key": Brightness().of(sample(1, key="other")),
    "condition": replace(BASE, condition="hidden", feature="red"),
}


def test_what_decides_a_reading_is_in_its_key() -> None:
    keys = {trial_key("m", trial) for trial in (BASE, *OTHER.values())}
    assert len(keys | {trial_key("n", BASE)}) == len(OTHER) + 2


@pytest.mark.parametrize("name", SAME)
def test_what_must_not_decide_it_is_not(name: str) -> None:
    assert trial_key("m", SAME[name]) == trial_key("m", BASE)


# -------------------------------------------------------------------------------------- faults


@pytest.mark.parametrize(
    ("fault", "error", "said"),
    [
        ("nan", PluginError, "expected finite numbers as its readout, got nan"),
        ("infinite", PluginError, "expected finite numbers as its readout, got -?inf"),
        ("raises", IndexError, "layer 12"),
        ("too few", PluginError, "expected 2 responses, got 1"),
    ],
)
def test_a_faulty_reading_is_told_and_never_kept(
    ask: Callable[..., ModelRunner],
    cache: ResponseCache,
    fault: str,
    error: type,
    said: str,
) -> None:
    trials = [Broken(fault=fault).of(sample(value)) for value in (1, 2)]
    with pytest.raises(error, match=said):
        ask(Model())(trials)
    assert not cache.get([trial_key("m", trial) for trial in trials])


def test_a_reading_that_is_no_number_is_refused_with_the_plugin_named(
    runner: Runner, request_for: Callable[..., Request]
) -> None:
    session = runner.session(request_for())
    trial = Broken(fault="nan").of(session.audit.samples[0])
    with pytest.raises(UserError) as caught:
        session.audit.respond([trial])
    line = str(caught.value)
    assert "model 'colour'" in line
    assert "expected finite numbers as its readout, got nan" in line
    assert len(line.splitlines()) == 1


def test_a_damaged_row_is_a_miss(tmp_path: Path) -> None:
    path = tmp_path / "cache.sqlite"
    trials = [
        Pixels(dtype="int16", shape=(4, 4)).of(sample(value)) for value in range(3)
    ]
    cache = ResponseCache(path)
    ModelRunner("m", Model, cache, batch_size=3)(trials)
    cache.close()
    keys = [trial_key("m", trial) for trial in trials]
    with sqlite3.connect(path) as connection:
        query = "SELECT value FROM rows WHERE key = ?"
        [(value,)] = connection.execute(query, (keys[0],))
        believable = value[:-1] + bytes([value[-1] ^ 1])
        query = "UPDATE rows SET value = ? WHERE key = ?"
        connection.executemany(query, [(believable, keys[0]), (b"[]", keys[1])])
    connection.close()
    cache = ResponseCache(path)
    again = ModelRunner("m", Model, cache, batch_size=3)
    found = [outcome.response.readout for outcome in again(trials)]
    assert (again.model_calls, again.cache_hits) == (2, 1)
    for value, got in enumerate(found):
        np.testing.assert_array_equal(got, _content("int16", (4, 4), value))
    cache.close()


FORGED = {
    "dtype": np.zeros(2),
    "shape": np.zeros((2, 1), np.float32),
    "size": np.zeros(3, np.float32),
    "range": np.full(2, -1, np.float32),
    "overflow": np.full(2, 1e38, np.float32),
    "text": np.array(["a", "b"]),
    "bytes": np.array([b"a", b"b"]),
    "dates": np.zeros(2, "M8[s]"),
    "complex": np.zeros(2, np.complex64),
    "records": np.zeros(2, "f4,f4"),
    "none": None,
}


@pytest.mark.filterwarnings("ignore:answers in the cache are damaged")
@pytest.mark.parametrize("forged", FORGED)
def test_kept_numbers_that_no_readout_gives_are_asked_again(
    ask: Callable[..., ModelRunner], cache: ResponseCache, forged: str
) -> None:
    """Their seal fits: whoever mails a cache can compute it."""
    trial = Pair().of(sample(1))
    kept = Response(text="1", readout=FORGED[forged])
    cache.put({trial_key("m", trial): kept})
    for model_calls in (1, 0):
        runner = ask(Model(2.0))
        [outcome] = runner([trial])
        np.testing.assert_array_equal(outcome.response.readout, [2, 2])
        assert runner.model_calls == model_calls


def test_a_reading_that_it_does_not_accept_is_told(
    ask: Callable[..., ModelRunner],
) -> None:
    with pytest.raises(PluginError, match="expected what pair reads, got other num"):
        ask(Model(-2.0))([Pair().of(sample(1))])


# --------------------------------------------------------------------- planning, workers, resume


def test_a_plan_counts_readings_and_runs_none(ask: Callable[..., ModelRunner]) -> None:
    model = Model()
    ask(model)([BASE])
    planned = ask(model, planning=True)
    assert read(planned, [BASE]) == [1]
    with pytest.raises(PlanStopped):
        planned(
            [BASE, Brightness().of(sample(2)), Trial(sample=sample(2)), OTHER["field"]]
        )
    assert (planned.trials, planned.model_calls, planned.cache_hits) == (4, 3, 1)
    assert len(model.batches) == 1


class Away:
    """An executor whose worker is a pickle away."""

    def map(
        self, build: Callable[[], Any], batches: Sequence[Sequence[Trial]]
    ) -> Iterator[tuple[int, list[Response]]]:
        respond = pickle.loads(pickle.dumps(build))()
        for index, batch in reversed(list(enumerate(batches))):
            yield index, respond(pickle.loads(pickle.dumps(batch)))


def test_a_worker_reads_as_this_process_does(cache: ResponseCache) -> None:
    away = ModelRunner("m", partial(Model, 3.0), cache, batch_size=2, executor=Away())
    trials = [Brightness().of(sample(value)) for value in range(5)] + [
        Trial(sample=sample(1))
    ]
    outcomes = away(trials)
    assert [float(np.asarray(o.response.readout)) for o in outcomes[:5]] == [
        0,
        3,
        6,
        9,
        12,
    ]
    assert outcomes[5].response.logits == np.float32(3)


class Dying(Brightness):
    """Ends the process at the second batch, as far as this one can tell."""

    def read(self, model: Model, trials: Sequence[Trial]) -> list[np.ndarray]:
        if len(model.batches) == 1:
            raise KeyboardInterrupt
        return super().read(model, trials)


def test_batches_that_were_read_are_kept(tmp_path: Path) -> None:
    path = tmp_path / "cache.sqlite"
    trials = [Dying().of(sample(value)) for value in range(5)]
    cache, model = ResponseCache(path), Model()
    with pytest.raises(KeyboardInterrupt):
        ModelRunner("m", lambda: model, cache, batch_size=2)(trials)
    cache.close()
    cache, model = ResponseCache(path), Model()
    again = ModelRunner("m", lambda: model, cache, batch_size=3)
    assert read(again, trials) == list(range(5))
    assert model.batches == [["1 of s2", "1 of s3", "1 of s4"]]
    cache.close()
