"""Interventions for a cue, and what was answered: one arm an intervention."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import compress

import numpy as np
from jaxtyping import Bool, Float

from cuescope_confirm.cases import Pair
from cuescope_confirm.locating import Target
from cuescope_confirm.study import Study
from cuescope_sdk import Trial
from cuescope_sdk.interventions import Intervention, Place

AS_IS, CHANGED, CONTROL = range(3)  # columns of what is asked about a pair
EXACT = ("words", "name", "modality", "question", "pair")  # what nobody has to locate
OfPair = tuple[Trial, Trial, Trial | None]  # in the order of the columns


@dataclass(frozen=True, eq=False)
class Answers:
    """The answers to the pairs of one arm, a row a pair.

    Columns are the sample as it is, after the intervention, and after its control (NaN without
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

    @property
    def with_cue(self) -> Bool[np.ndarray, " pair"]:
        """The pairs of samples that show the cue, or get it."""
        return np.array([not pair.control for pair in self.pairs], bool)


@dataclass(frozen=True, eq=False)
class Arm:
    """One intervention for one cue; `reason` says why it is not asked about."""

    target: Target
    spec: str
    plugin: Intervention
    reason: str | None = None
    answers: Answers = field(default_factory=Answers.unknown, repr=False)

    def unasked(self, reason: str) -> "Arm":
        """The same, which is not asked about, with the reason."""
        return replace(self, reason=reason, answers=Answers.unknown())

    def part(self, share: float) -> "Arm":
        """With a share of its pairs with the cue, and of those without: their order is random."""
        shows = self.answers.with_cue
        # the place of each pair among those of its side
        rank = np.where(shows, shows.cumsum(), (~shows).cumsum()) - 1
        count = np.where(shows, shows.sum(), (~shows).sum())
        kept = rank < np.ceil(share * count)
        return replace(self, answers=self.answers.unanswered(kept.tolist()))

    @property
    def removes(self) -> bool:
        """Whether the cue is taken out."""
        return self.plugin.effect == "removes"

    @property
    def is_exact(self) -> bool:
        """Whether it changes what nobody has to locate."""
        return self.plugin.needs in EXACT

    @property
    def edits_model(self) -> bool:
        """Whether it changes the model, and not the sample."""
        # the first one tells: an intervention edits always or never
        return any(changed.edit for _, changed, _ in self.answers.trials[:1])

    @property
    def kind(self) -> tuple[str, str | None]:
        """What it changes: interventions of one kind may take the same company of a cue along."""
        return self.plugin.needs, self.plugin.changes

    @property
    def accuracy(self) -> Float[np.ndarray, "3"]:
        """Share of right answers as the samples are, changed, and with the control."""
        return np.asarray(self.answers.right[self.answers.with_cue].mean(axis=0))

    def beyond(self, column: int) -> Float[np.ndarray, " pair"]:
        """What it does to the answers beyond a column, positive where it is what a cause does."""
        return self.turned(
            self.answers.values[:, CHANGED] - self.answers.values[:, column]
        )

    def turned(self, change: Float[np.ndarray, " pair"]) -> Float[np.ndarray, " pair"]:
        """A change of answers, positive where it is what a cause would do."""
        sign = self.target.direction.sign
        # putting a cue in does the reverse of taking it out
        return np.asarray(sign * change if self.removes else -sign * change)


@dataclass(frozen=True, eq=False)
class Experiment:
    """All findings, located, and every arm, those that are not asked about too."""

    study: Study
    targets: Sequence[Target]
    arms: Sequence[Arm]

    def arms_of(self, target: Target) -> list[Arm]:
        """What is done for one cue."""
        return [arm for arm in self.arms if arm.target is target]


def shown_frames(place: Place) -> Sequence[int]:
    """The frames with a region, else those that are known to show the cue."""
    frames = np.flatnonzero(list(map(np.any, place.masks))).tolist()
    return frames or place.frames


def part_of(spec: str) -> str:
    """What a failure of an intervention is told under."""
    return f"intervention {spec}"


def failed(study: Study, arm: Arm) -> Arm:
    """The arm with the reason of its failure."""
    return arm.unasked(f"it failed: {study.audit.failures[part_of(arm.spec)]}")
