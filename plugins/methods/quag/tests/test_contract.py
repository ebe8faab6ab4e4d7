"""The sdk's contract suite, on a fake that takes every edit and lets none of them matter."""

from collections.abc import Sequence
from typing import ClassVar

from cuescope_quag import QUAG
from cuescope_sdk import Capabilities, Response, Trial
from cuescope_sdk.testing import FakeModel, MethodContract


class Unmoved(FakeModel):
    """Averaging changes nothing."""

    capabilities: ClassVar[Capabilities] = FakeModel.capabilities.model_copy(
        update={"edits": frozenset({"average-attention", "average-tokens"}), "exposes": frozenset()}
    )

    def respond(self, trials: Sequence[Trial]) -> list[Response]:
        return super().respond([trial.model_copy(update={"edit": None}) for trial in trials])


class TestContract(MethodContract):
    plugin = QUAG
    model = Unmoved
    finds_planted_cue = False
