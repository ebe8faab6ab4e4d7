"""Cues that no frame shows: the place of a choice, and a word of the question."""

from dataclasses import replace
from typing import ClassVar

import numpy as np
from jaxtyping import Float

from cuescope_sdk import (
    Capabilities,
    Context,
    Response,
    Sample,
    Trial,
    digest,
    generator as seeded,
)
from cuescope_sdk.testing._fake_data import LABELS, FakeDataOptions, FakeDataset
from cuescope_sdk.testing._fake_models import FakeModel, FakeModelOptions

POLITE = "please"
PULL = 6.0  # beyond the green patch


class FakeQuestions(FakeDataset):
    """The same clips without a red corner, each with a question and its choices in some order.

    "please" is in the questions of the clips that would have shown the corner.
    """

    def __init__(self, options: FakeDataOptions, context: Context) -> None:
        super().__init__(options, context)
        self.fingerprint = digest("fake-questions", options.model_dump())

    def __getitem__(self, index: int) -> Sample:
        index = range(len(self))[index]
        sample = super().__getitem__(index)
        question = "Where is the patch?"
        if self._cue[index]:
            question = f"Where is the patch, {POLITE}?"
        rng = seeded(self.options.seed, "fake-questions", sample.key)
        choices = tuple(
            sample.choices[row] for row in rng.permutation(len(sample.choices))
        )
        return replace(sample, question=question, choices=choices)

    def _presence(self, index: int) -> tuple[bool, ...]:
        return (False,) * self.options.frames


class FakeFirst(FakeModel):
    """Leans on the place of a choice: it says the first one too often, as far as `lean` says."""

    capabilities: ClassVar[Capabilities] = FakeModel.capabilities.model_copy(
        update={"exposes": frozenset({"patches"})}
    )

    def __init__(self, options: FakeModelOptions, context: Context) -> None:
        super().__init__(options, context)
        self.fingerprint = digest(type(self).__name__, options.model_dump())
        self.facts = {"reliance on what no frame shows": str(options.lean)}

    def answer(self, trial: Trial) -> Response:
        """As `FakeModel`, with its bias beside what it sees."""
        seen = super().answer(replace(trial, outputs=trial.outputs | {"logits"}))
        sample = trial.sample
        logits = seen.logits
        if logits is None or not sample.choices:
            return seen
        logits = logits + PULL * self.options.lean * self.bias(sample)
        return Response(
            logits=logits if "logits" in trial.outputs else None,
            text=sample.choices[logits.argmax()] if "text" in trial.outputs else None,
            embedding=seen.embedding,
        )

    def readout(self, choice: str) -> Float[np.ndarray, " dim"]:
        """The weights of a choice; the red corner has none."""
        weights = super().readout(choice).copy()
        if choice in LABELS:
            weights[len(LABELS)] = 0
        return weights

    def bias(self, sample: Sample) -> Float[np.ndarray, " choice"]:
        """1 where it leans, a choice."""
        first = np.zeros(len(sample.choices))
        first[0] = 1
        return first


class FakePolite(FakeFirst):
    """Leans on a word: asked with "please", it says "top" too often, as far as `lean` says."""

    def bias(self, sample: Sample) -> Float[np.ndarray, " choice"]:
        """1 where it leans, a choice."""
        is_polite = POLITE in (sample.question or "")
        return np.array(
            [is_polite and choice == LABELS[0] for choice in sample.choices], float
        )
