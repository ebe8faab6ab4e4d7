"""The sdk's contract suites: the method on a fake that no edit moves, its readouts on a reader."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, ClassVar

import pytest

from cuescope_quag import QUAG
from cuescope_quag.trials import AttentionWeights, FusionSize, TokenModalities
from cuescope_quag.verify import TheoryFigures
from cuescope_sdk import Capabilities, Response, Sample, Trial
from cuescope_sdk.fusion import AverageAttention
from cuescope_testing import FakeDataset, FakeModel, MethodContract, ReadoutContract


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


class _Reading(ReadoutContract):
    """On attention that is drawn sample by sample."""

    edit = AverageAttention(quadrants=frozenset({"VV", "TV"}))

    @pytest.fixture(autouse=True, scope="class")
    @classmethod
    def _reader(cls, reader: type[Any], quiz: type[Any]) -> None:
        cls.model = reader
        cls.data = quiz


class TestWeights(_Reading):
    readouts = (AttentionWeights(layer=0), AttentionWeights(layer=1))
    beyond = AttentionWeights(layer=2)


class TestSizes(_Reading):
    sees = False
    readouts = (
        FusionSize(),
        TokenModalities(layer=1),
        TheoryFigures(layer=0, longest=99, first=True),
        TheoryFigures(layer=1, longest=99, first=False),
    )
    beyond = TheoryFigures(layer=2, longest=99, first=False)
