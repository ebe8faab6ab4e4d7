"""Which cues a sample shows, recognised in the model's embeddings of its frames held still."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from jaxtyping import Bool, Float

from cuescope_core.types import Outcome, Response, Trial
from cuescope_sdk.cues import LinearLogOdds
from cuescope_sdk.maths import normalise
from cuescope_sdk.stills import Answers

Ask = Callable[[Sequence[Trial]], Sequence[Response]]


# placebos have routers of chance, in place of one that knows the cues (docs/mitigation.md)
class Router(Protocol):
    """Tells which cues the samples of trials show."""

    def route(self, trials: Sequence[Trial], ask: Ask) -> Bool[np.ndarray, "trial cue"]:
        """Which cues each sample shows."""
        ...

    def best(self, trials: Sequence[Trial], ask: Ask) -> list[int]:
        """The cue that counts for each sample, -1 where it shows none."""
        ...


@dataclass(frozen=True)
class CueRouter:
    """Log odds of each cue in a frame, linear in its unit embedding.

    A sample shows a cue if one of its frames does (TRoVe, section 5.2).
    """

    weights: Float[np.ndarray, "cue dim"]
    bias: Float[np.ndarray, " cue"]

    @classmethod
    def of(cls, recognisers: Sequence[LinearLogOdds]) -> "CueRouter":
        """A router by what recognises each cue."""
        weights = np.stack([each.weights for each in recognisers])
        return cls(weights, np.array([each.bias for each in recognisers]))

    def route(self, trials: Sequence[Trial], ask: Ask) -> Bool[np.ndarray, "trial cue"]:
        """Which cues each trial's sample shows, as the model sees it with the trial's edit."""
        return np.asarray(self._strongest(trials, ask) > 0)

    def best(self, trials: Sequence[Trial], ask: Ask) -> list[int]:
        """Choose the likeliest of the cues that a sample shows."""
        return [
            int(row.argmax()) if (row > 0).any() else -1
            for row in self._strongest(trials, ask)
        ]

    def _strongest(
        self, trials: Sequence[Trial], ask: Ask
    ) -> Float[np.ndarray, "trial cue"]:
        """Log odds of each cue in the frame that shows it most."""
        stills = [still for trial in trials for still in self.stills(trial)]
        # an empty stack has no dimension to compare
        if not stills:
            return np.zeros((len(trials), len(self.bias)))
        answers = map(Outcome, stills, ask(stills))
        log_odds = self.log_odds(trials, Answers.stack_embeddings(list(answers)))
        return np.stack([of_trial.max(axis=0) for of_trial in log_odds])

    def log_odds(
        self,
        trials: Sequence[Trial],
        embedding: Float[np.ndarray, "still dim"],
    ) -> list[Float[np.ndarray, "frame cue"]]:
        """Those of each cue in each frame of each trial's sample.

        `embedding` has the frames held still, in the order of `stills` of each trial.
        """
        unit = normalise(embedding).astype(np.float64)
        ends = np.cumsum([len(trial.sample.frames) for trial in trials])
        return np.split(unit @ self.weights.T + self.bias, ends[:-1])

    @staticmethod
    def stills(trial: Trial) -> list[Trial]:
        """Each frame of a trial's sample held still, asked for its embedding and any logits."""
        sample = trial.sample
        # a single frame is a still already, and shares its answer in the cache
        single = len(sample.frames) == 1
        return [
            Trial(
                sample=sample if single else sample.static(frame),
                edit=trial.edit,
                condition=trial.condition if single else "static",
                outputs=Answers.outputs if sample.choices else frozenset({"embedding"}),
            )
            for frame in range(len(sample.frames))
        ]
