"""How probable a model finds each word of an answer that it writes."""

from collections.abc import Sequence
from typing import Any, ClassVar, Protocol, runtime_checkable

import numpy as np
from jaxtyping import Float32

from cuescope_core.types import Readout, Trial


@runtime_checkable
class ScoresWords(Protocol):
    """A model that tells how probable it finds words, "answer-words" in `Capabilities.exposes`."""

    def word_log_probabilities(
        self, trials: Sequence[Trial], words: Sequence[str]
    ) -> list[Float32[np.ndarray, " word"]]:
        """Log-probability of each word after those before it, as the answer to each trial."""


class AnswerWords(Readout):
    """Log-probability of each word of an answer, given the words before it."""

    name: ClassVar[str] = "answer-words"
    gives: ClassVar[Any] = Float32[np.ndarray, " word"]
    words: tuple[str, ...]

    def read(
        self, model: ScoresWords, trials: Sequence[Trial]
    ) -> list[Float32[np.ndarray, " word"]]:
        """By the model itself."""
        return model.word_log_probabilities(trials, self.words)

    def accepts(self, array: np.ndarray, trial: Trial) -> bool:
        """A log-probability a word."""
        is_one = super().accepts(array, trial) and array.shape == (len(self.words),)
        return is_one and bool((array <= 0).all())
