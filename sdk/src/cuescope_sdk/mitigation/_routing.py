"""Which cues a sample shows, told from the model's own embeddings of its frames held still."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from jaxtyping import Bool, Float

from cuescope_core.types import Outcome, Response, Trial
from cuescope_sdk.maths import normalise
from cuescope_sdk.stills import Answers

Ask = Callable[[Sequence[Trial]], Sequence[Response]]
# which clusters each trial's sample shows, and how near each of its frames is to each
Shown = tuple[
    Bool[np.ndarray, "trial cluster"], list[Float[np.ndarray, "frame cluster"]]
]


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
    """A frame belongs to the nearest of the `centroids`; some of these are the cues.

    A sample shows a cue if one of its frames does (TRoVe, section 5.2).
    """

    centroids: Float[np.ndarray, "cluster dim"]
    cues: tuple[int, ...]

    def __post_init__(self) -> None:
        """Raise ValueError for a cue that no centroid is of."""
        if not set(self.cues) <= set(range(len(self.centroids))):
            raise ValueError(f"cues {self.cues} of {len(self.centroids)} centroids")

    @classmethod
    def of(
        cls,
        embedding: Float[np.ndarray, "frame dim"],
        members: Sequence[Sequence[int]],
        cues: tuple[int, ...],
    ) -> "CueRouter":
        """Each centroid is the unit mean of the unit rows of its cluster's members."""
        # only directions are compared: a frame of a long embedding would outweigh others
        unit = normalise(embedding)
        means = np.stack([unit[list(rows)].mean(axis=0) for rows in members])
        return cls(normalise(means), cues)

    def route(self, trials: Sequence[Trial], ask: Ask) -> Bool[np.ndarray, "trial cue"]:
        """Which cues each trial's sample shows, as the model sees it with the trial's edit."""
        shows, _ = self.nearest(trials, ask)
        return shows[:, list(self.cues)]

    def best(self, trials: Sequence[Trial], ask: Ask) -> list[int]:
        """Choose the cue of a sample to whose centroid one of its frames is nearest."""
        shows, cosines = self.nearest(trials, ask)
        cues = list(self.cues)
        chosen = []
        for row, cosine in zip(shows, cosines, strict=True):
            # a cue that the sample does not show is not the best, however near
            reach = np.where(row[cues], cosine.max(axis=0)[cues], -np.inf)
            chosen.append(int(reach.argmax()) if row[cues].any() else -1)
        return chosen

    def nearest(self, trials: Sequence[Trial], ask: Ask) -> Shown:
        """The same as `place`, after asking for the embedding of each frame held still."""
        stills = [still for trial in trials for still in self.stills(trial)]
        # an empty stack has no dimension to compare
        if not stills:
            return np.zeros((len(trials), len(self.centroids)), dtype=bool), []
        answers = map(Outcome, stills, ask(stills))
        return self.place(trials, Answers.stack_embeddings(list(answers)))

    def place(
        self,
        trials: Sequence[Trial],
        embedding: Float[np.ndarray, "still dim"],
    ) -> Shown:
        """Which clusters each sample shows, and the cosine of each of its frames with each.

        `embedding` has the frames held still, in the order of `stills` of each trial.
        """
        cosine = self.cosines(embedding)
        ends = np.cumsum([len(trial.sample.frames) for trial in trials])
        of_trials = np.split(cosine, ends[:-1])
        shows = np.zeros((len(trials), len(self.centroids)), dtype=bool)
        for row, of_trial in enumerate(of_trials):
            # clusters that are no cues take frames as well: the rest is not forced onto a cue
            shows[row, of_trial.argmax(axis=1)] = True
        return shows, of_trials

    def cosines(
        self, embedding: Float[np.ndarray, "still dim"]
    ) -> Float[np.ndarray, "still cluster"]:
        """Cosine of each frame with each centroid."""
        cosines: Float[np.ndarray, "still cluster"] = (
            normalise(embedding) @ self.centroids.T
        )
        return cosines

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
