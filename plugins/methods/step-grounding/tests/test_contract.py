"""The sdk's contract suite, on a model that tells a trace of what it sees in the fake data.

Nothing is annotated there, so nothing can be found; `test_audit.py` has what is planted.
"""

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from cuescope_sdk import Response, Trial
from cuescope_step_grounding import StepGrounding
from cuescope_testing import FakeModel, MethodContract


class Telling(FakeModel):
    """The fake model, which writes a trace."""

    def respond(self, trials: Sequence[Trial]) -> list[Response]:
        return [Response(text=self.told(trial)) for trial in trials]

    def told(self, trial: Trial) -> str:
        green, *_, red, _ = self.see(trial)[:5].tolist()
        corner = "a" if red * self.options.lean > 0.2 else "no"
        answer = "top" if green > 0.5 else "bottom"
        return f"1. At frame 1, there is {corner} red corner.\nAnswer: {answer}"


class TestContract(MethodContract):
    plugin = StepGrounding
    model = Telling
    data_options: ClassVar[Mapping[str, Any]] = {"samples": 70}
    options: ClassVar[Mapping[str, Any]] = {"shown": 1}
    finds_planted_cue = False
