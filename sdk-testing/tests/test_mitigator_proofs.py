"""Bad mitigators fail the contract, each at the check that is about it; a good one passes."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from cuescope_sdk import Response, Trial
from cuescope_sdk.mitigation import Ask, Mitigation, Mitigator, Task
from cuescope_testing import MitigatorContract


@dataclass(frozen=True)
class Shift(Mitigation):
    """A constant on each choice's logit."""

    labels: tuple[str, ...]
    shift: np.ndarray

    def answer(self, trials: Sequence[Trial], ask: Ask) -> list[Response]:
        def logits(place: int, answer: Response) -> np.ndarray:
            choices = trials[place].sample.choices
            known = dict(zip(self.labels, self.shift, strict=True))
            return np.asarray(answer.logits) + [
                known.get(choice, 0.0) for choice in choices
            ]

        return self.rescore(trials, ask, logits)


class Shifting(Mitigator):
    title = "A shift"
    learned: Any = Shift
    made = 0

    def fit(self, task: Task) -> Mitigation:
        return Shift(task.labels, np.linspace(0, 1, len(task.labels)))


class OtherEachTime(Shifting):
    def fit(self, task: Task) -> Mitigation:
        type(self).made += 1
        return Shift(task.labels, np.full(len(task.labels), float(self.made)))


@dataclass(frozen=True)
class ShiftByPlace(Shift):
    def answer(self, trials: Sequence[Trial], ask: Ask) -> list[Response]:
        return self.rescore(
            trials, ask, lambda place, a: np.asarray(a.logits) + place * self.shift
        )


@dataclass(frozen=True)
class Cheat(Shift):
    def answer(self, trials: Sequence[Trial], ask: Ask) -> list[Response]:
        def logits(place: int, answer: Response) -> np.ndarray:
            sample = trials[place].sample
            return np.array(
                [9.0 * (choice == sample.label) for choice in sample.choices]
            )

        return self.rescore(trials, ask, logits)


@dataclass(frozen=True)
class WithoutTheLast(Shift):
    def answer(self, trials: Sequence[Trial], ask: Ask) -> list[Response]:
        return super().answer(trials, ask)[:-1]


def of_kind(kind: type[Shift]) -> type[Mitigator]:
    def fit(self: Any, task: Task) -> Mitigation:
        return kind(task.labels, np.linspace(0, 1, len(task.labels)))

    return type(kind.__name__, (Shifting,), {"learned": kind, "fit": fit})


@pytest.mark.parametrize(
    ("mitigator", "check"),
    [
        (OtherEachTime, "learned_and_kept"),
        (of_kind(ShiftByPlace), "by_the_trial_alone"),
        (of_kind(Cheat), "by_the_trial_alone"),
        (of_kind(WithoutTheLast), "answers_each_trial"),
    ],
)
def test_a_bad_one_fails(mitigator: type[Mitigator], check: str) -> None:
    contract: Any = type("Check", (MitigatorContract,), {"plugin": mitigator})
    [result] = contract.run_checks(check)
    assert result.status == "failed", result


class TestAGoodOne(MitigatorContract):
    plugin = Shifting
