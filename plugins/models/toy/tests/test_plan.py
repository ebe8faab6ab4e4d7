"""A plan and a built model train nothing and import no torch; the first answer does."""

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import cuescope_toy.clip
from cuescope_sdk import Context, PlanStopped, Trial, UserError
from cuescope_testing import FakeMethod, PluginShelf, Setup
from cuescope_toy import Toy, ToyOptions, training
from cuescope_toy.clip import ToyCLIP
from cuescope_toy.loading import TrainedModel

PROGRAM = """
import sys
from pathlib import Path
from cuescope_sdk import Context
from cuescope_toy import Toy, ToyOptions
from cuescope_toy.clip import ToyCLIP, ToyCLIPOptions
from cuescope_toy.fusion import ToyFusion, ToyFusionOptions

context = Context(cache=Path(sys.argv[1]))
models = [
    Toy(ToyOptions(data="moving-shapes"), context),
    Toy(ToyOptions(data="moving-shapes", encoder="toy-clip:scenes:0.5"), context),
    ToyFusion(ToyFusionOptions(data="moving-shapes:none"), context),
    ToyCLIP(ToyCLIPOptions(data="scenes:0.5"), context),
    ToyCLIP(ToyCLIPOptions(data="scenes:0.98"), context),
]
assert all(model.fingerprint for model in models)
assert [len(model.facts) for model in models[:4]] == [0, 0, 0, 0]
assert models[4].facts["training accuracy"] == "0.979"
assert "torch" not in sys.modules
"""


def test_a_built_model_has_neither_trained_nor_imported_torch(tmp_path: Path) -> None:
    subprocess.run(
        [sys.executable, "-c", PROGRAM, str(tmp_path)], check=True, timeout=120
    )
    assert not list(tmp_path.rglob("*"))


def test_a_plan_counts_the_first_trials_and_trains_nothing(
    dots: Callable[..., Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> Any:
        raise AssertionError("trained for a plan")

    monkeypatch.setattr(training, "train", refuse)
    setup = Setup(FakeMethod, Toy, type(dots()), folder=tmp_path)
    plan = setup.plan(limit=10)
    assert plan.model_calls >= 10
    assert plan.until == "the answers of the model"


def test_the_first_answer_trains_once_and_facts_appear(
    dots: Callable[..., Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    trained = []
    original = training.fit
    monkeypatch.setattr(
        training, "fit", lambda *given: trained.append(1) or original(*given)
    )
    data = dots(samples=20)
    model = Toy(ToyOptions(epochs=2), Context(PluginShelf({}), tmp_path, dataset=data))
    before = model.fingerprint
    assert not model.facts
    model.respond([Trial(sample=data[0])])
    model.respond([Trial(sample=data[1])])
    model.open_weights()
    assert len(trained) == 1
    assert model.fingerprint == before
    assert "validation accuracy" in model.facts


def test_a_plan_stops_before_weights_that_a_tool_asks_for(
    dots: Callable[..., Any], tmp_path: Path
) -> None:
    context = Context(
        PluginShelf({}), tmp_path, dataset=dots(samples=20), planning=True
    )
    model: TrainedModel = Toy(ToyOptions(epochs=2), context)
    with pytest.raises(PlanStopped, match="the weights of toy"):
        model.open_weights()


def test_the_missing_extra_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cuescope_toy.clip, "find_spec", lambda name: None)
    with pytest.raises(UserError) as error:
        ToyCLIP(ToyCLIP.Options(data="scenes"), Context(cache=tmp_path))
    assert "install 'cuescope-toy[clip]'` brings it from" in str(error.value)
    assert "\n" not in str(error.value)
