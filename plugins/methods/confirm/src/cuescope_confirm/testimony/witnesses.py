"""What is done for a cue, and what was answered: one witness an intervention."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import compress

import numpy as np
from jaxtyping import Bool, Float

from cuescope_confirm.cases import Pair
from cuescope_confirm.locating import Target
from cuescope_confirm.locating.placebos import Placebo
from cuescope_confirm.study import Study
from cuescope_sdk import Trial
from cuescope_sdk.interventions import Intervention, Place

AS_IS, CHANGED, PLACEBO = range(3)  # columns of what is asked about a pair
OfPair = tuple[Trial, Trial, Trial | None]  # in the order of the columns


@dataclass(frozen=True, eq=False)
class Answers:
    """The answers to the pairs of one witness, a row a pair.

    Columns are the sample as it is, after the intervention, and after the placebo (NaN without
    one): the probability of the answer that the cue moves, whether the answer is right, and what
    it is.
    """

    pairs: Sequence[Pair]
    trials: Sequence[OfPair]
    values: Float[np.ndarray, "pair 3"]
    right: Float[np.ndarray, "pair 3"]
    said: dict[tuple[int, int], str]

    @classmethod
    def unknown(
        cls,
        pairs: Sequence[Pair] = (),
        trials: Sequence[OfPair] = (),
    ) -> "Answers":
        """Nothing is answered yet."""
        # NaN, not 0: an answer that is not there must not look like one
        values, right = np.full((2, len(pairs), 3), np.nan)
        return cls(pairs, trials, values, right, {})

    def unanswered(self, kept: Sequence[bool]) -> "Answers":
        """Some of the pairs, before they are asked about."""
        return Answers.unknown(
            list(compress(self.pairs, kept)), list(compress(self.trials, kept))
        )

    def first(self, count: int) -> "Answers":
        """The first pairs of either side, with the cue and without, before they are asked about."""
        shows = self.with_cue
        number = np.where(shows, shows.cumsum(), (~shows).cumsum())
        return self.unanswered((number <= count).tolist())

    @property
    def with_cue(self) -> Bool[np.ndarray, " pair"]:
        """The pairs of samples that show the cue."""
        return np.array([not pair.control for pair in self.pairs], bool)


@dataclass(frozen=True, eq=False)
class Witness:
    """One intervention for one cue; `reason` says why it does not apply.

    `instead` are others of its kind, the best first: the next is asked about where this one does
    damage.
    """

    target: Target
    spec: str
    plugin: Intervention
    reason: str | None = None
    answers: Answers = field(default_factory=Answers.unknown, repr=False)
    instead: tuple["Witness", ...] = field(default=(), repr=False)

    def unasked(self, reason: str) -> "Witness":
        """The same, which is not asked about, with the reason."""
        return replace(self, reason=reason, answers=Answers.unknown(), instead=())

    @property
    def edits_model(self) -> bool:
        """Whether it changes the model, and not the sample."""
        # the first one tells: an intervention edits always or never
        return any(changed.edit for _, changed, _ in self.answers.trials[:1])


@dataclass(frozen=True, eq=False)
class Dossier:
    """All findings, located, and every witness that applies or not, those of placebos too."""

    study: Study
    targets: Sequence[Target]
    witnesses: Sequence[Witness]

    def witnesses_of(self, target: Placebo) -> list[Witness]:
        """What is done for one cue."""
        return [witness for witness in self.witnesses if witness.target is target]


def shown_frames(place: Place) -> Sequence[int]:
    """The frames with a region, else those that are known to show the cue."""
    frames = np.flatnonzero(list(map(np.any, place.masks))).tolist()
    return frames or place.frames
