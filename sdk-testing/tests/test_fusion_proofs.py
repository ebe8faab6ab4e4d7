"""Every check of fusion layers catches a model that is bad in just that way."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest

from cuescope_sdk import Response, Trial
from cuescope_sdk.fusion import TEXT, AverageAttention
from cuescope_testing import ModelContract

from .fusion_model import FakeFusionModel


class AllText(FakeFusionModel):
    """Takes frames for words."""

    def modalities(self, trials: Sequence[Trial], layer: int) -> list[np.ndarray]:
        return [kinds.clip(TEXT) for kinds in super().modalities(trials, layer)]


class OneHead(FakeFusionModel):
    """Shows each head's part of a mean over heads."""

    def attention(self, trials: Sequence[Trial], layer: int) -> list[np.ndarray]:
        return [weights / len(weights) for weights in super().attention(trials, layer)]


class Columns(FakeFusionModel):
    """Averages down the columns."""

    def attention(self, trials: Sequence[Trial], layer: int) -> list[np.ndarray]:
        maps = super().attention([replace(trial, edit=None) for trial in trials], layer)
        for trial, weights in zip(trials, maps, strict=True):
            if isinstance(trial.edit, AverageAttention):
                weights[:] = weights.mean(axis=1, keepdims=True)
        return maps


class OneEdit(FakeFusionModel):
    """Takes the edit of the first trial for that of all."""

    def respond(self, trials: Sequence[Trial]) -> list[Response]:
        return super().respond(
            [replace(trial, edit=trials[0].edit) for trial in trials]
        )


class AnyLayer(FakeFusionModel):
    """Does what it can of the layers that it is told."""

    def answer(self, trial: Trial) -> Response:
        if isinstance(trial.edit, AverageAttention) and trial.edit.layers:
            layers = tuple(
                layer for layer in trial.edit.layers if layer < self.fusion.layers
            )
            return super().answer(
                replace(trial, edit=replace(trial.edit, layers=layers))
            )
        return super().answer(trial)


class NeedsFrames(FakeFusionModel):
    """Takes the mean of no frames."""

    def answer(self, trial: Trial) -> Response:
        if not trial.sample.frames:
            raise ZeroDivisionError("float division by zero")
        return super().answer(trial)


PROOFS = [
    ("test_shows_attention_over_video_and_text", AllText),
    ("test_shows_attention_over_video_and_text", OneHead),
    ("test_averages_the_quadrants_it_is_told", Columns),
    ("test_averages_trial_by_trial", OneEdit),
    ("test_averages_the_quadrants_it_is_told", AnyLayer),
    ("test_answers_without_a_video", NeedsFrames),
]


class TestHealthy(ModelContract):
    plugin = FakeFusionModel


@pytest.mark.parametrize(("check", "model"), PROOFS)
def test_check_catches_its_bad_model(check: str, model: type) -> None:
    contract = type("Contract", (ModelContract,), {"plugin": model})
    names = dict(PROOFS)
    failed = {name for name in names if contract.run_check(name).status == "failed"}
    allowed = {AllText: {"test_averages_the_quadrants_it_is_told"}}
    assert check in failed <= {check} | allowed.get(model, set())
