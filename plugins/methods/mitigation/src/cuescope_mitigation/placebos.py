"""Cues that were drawn at random, beside which a remedy is judged."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool

from cuescope_sdk import Trial
from cuescope_sdk.mitigation import Ask


@dataclass(frozen=True)
class FixedRouter:
    """Which cues a sample shows is set, by its key: for cues that were drawn at random."""

    shown: Mapping[str, Sequence[bool]]

    def route(self, trials: Sequence[Trial], ask: Ask) -> Bool[np.ndarray, "trial cue"]:
        """What is set for each trial's sample."""
        return np.array([self.shown[trial.sample.key] for trial in trials], dtype=bool)

    def best(self, trials: Sequence[Trial], ask: Ask) -> list[int]:
        """The first of them."""
        return [
            int(row.argmax()) if row.any() else -1 for row in self.route(trials, ask)
        ]
