"""The sdk's contract suite, on a fake that takes every edit and lets none of them matter."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, ClassVar

from cuescope_quag import QUAG
from cuescope_sdk import Capabilities, Response, Sample, Trial
from cuescope_sdk.testing import FakeDataset, FakeModel, MethodContract


class Asking(FakeDataset):
    """The fake data set with a question."""

    def __getitem__(self, index: int) -> Sample:
        return replace(super().__getitem__(index), question="Where is the patch?")


class Unmoved(FakeModel):
    """Averaging changes nothing."""

    capabilities: ClassVar[Capabilities] = FakeModel.capabilities.model_copy(
        update={
            "edits": frozenset({"average-attention", "average-tokens"}),
            "exposes": frozenset(),
        }
    )

    def respond(self, trials: Sequence[Trial]) -> list[Response]:
        return super().respond([replace(trial, edit=None) for trial in trials])


class TestContract(MethodContract):
    plugin = QUAG
    model = Unmoved
    data = Asking
    # more would show that it answers from video alone, which a model of images does
    data_options: ClassVar[Mapping[str, Any]] = {"samples": 30}
    finds_planted_cue = False
