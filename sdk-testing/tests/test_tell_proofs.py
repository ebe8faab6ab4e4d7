"""Bad tells fail the contract, each at the check that is about it; a good one passes."""

from collections import Counter
from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
import pytest

from cuescope_sdk import Options, Sample, UserError
from cuescope_sdk.tells import Tell
from cuescope_testing import TellContract

from .contract_proofs import failed

LEAKS = "test_does_not_read_the_labels_that_it_is_asked_for"


class NoOptions(Options):
    """None."""


class Oftenest(Tell):
    """The text that is oftenest right."""

    title = "the text that is oftenest right"
    Options = NoOptions

    def strengths(
        self, samples: Sequence[Sample], training: np.ndarray
    ) -> Sequence[Sequence[float]]:
        counts = Counter(
            s.label for s, learned in zip(samples, training, strict=True) if learned
        )
        return [[float(counts[text]) for text in sample.choices] for sample in samples]


class ReadsAll(Oftenest):
    def strengths(self, samples: Sequence[Sample], training: np.ndarray) -> Any:
        return super().strengths(samples, np.ones(len(samples), dtype=bool))


class Remembers(Oftenest):
    def strengths(self, samples: Sequence[Sample], training: np.ndarray) -> Any:
        known = self.__dict__.setdefault("known", {})
        for sample, learned in zip(samples, training, strict=True):
            if learned:
                known[sample.question, sample.choices] = sample.label
        return [
            [float(known.get((s.question, s.choices)) == text) for text in s.choices]
            for s in samples
        ]


class KeepsTheFirst(Oftenest):
    known: ClassVar[dict[Any, Any]] = {}  # of all that are built

    def strengths(self, samples: Sequence[Sample], training: np.ndarray) -> Any:
        for sample, learned in zip(samples, training, strict=True):
            if learned:
                self.known.setdefault((sample.question, sample.choices), sample.label)
        return [
            [float(self.known.get((s.question, s.choices)) == t) for t in s.choices]
            for s in samples
        ]


class ReadsOne(Oftenest):
    def strengths(self, samples: Sequence[Sample], training: np.ndarray) -> Any:
        answer = super().strengths(samples, training)
        read = [float(text == samples[0].label) for text in samples[0].choices]
        return [read, *answer[1:]]


class Draws(Oftenest):
    rng = np.random.default_rng(0)

    def strengths(self, samples: Sequence[Sample], training: np.ndarray) -> Any:
        return [self.rng.random(len(sample.choices)).tolist() for sample in samples]


class Forgets(Oftenest):
    def strengths(self, samples: Sequence[Sample], training: np.ndarray) -> Any:
        return super().strengths(samples, training)[1:]


class NotFinite(Oftenest):
    def strengths(self, samples: Sequence[Sample], training: np.ndarray) -> Any:
        return [[float("nan") for _ in sample.choices] for sample in samples]


class Shouts(Oftenest):
    title = "It takes the text."


def contract(tell: type[Tell]) -> type[TellContract]:
    return type("Checked", (TellContract,), {"plugin": tell})


def test_a_good_tell_passes() -> None:
    assert failed(contract(Oftenest)) == set()


@pytest.mark.parametrize(
    ("tell", "check"),
    [
        (ReadsAll, LEAKS),
        (Remembers, LEAKS),
        (KeepsTheFirst, LEAKS),
        (ReadsOne, LEAKS),
        (Draws, LEAKS),
        (Forgets, LEAKS),
        (NotFinite, LEAKS),
        (Shouts, "test_has_a_title_that_ends_the_sentence"),
    ],
)
def test_a_bad_tell_is_caught(tell: type[Tell], check: str) -> None:
    assert check in failed(contract(tell))


def test_a_leak_is_refused_by_its_name() -> None:
    suite = contract(ReadsAll)()
    fold = np.arange(60) % 3
    with pytest.raises(UserError, match="tell 'mine' is refused: it reads the labels"):
        Tell.held_out_strengths(
            "mine", suite._build, suite.questions, fold, np.random.default_rng(0)
        )
