"""What each sample of a world shows: label, cues and difficulty. No pixel is drawn here."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal, Protocol

import numpy as np

from cuescope_sdk import Model, derive, generator

Role = Literal["cause", "decoy"]
RATE = 0.4  # of the audited samples that show the cue, whatever their label
SHARE_HARD = 0.3
HARD_WITH_CUE = 0.75
HARD_WITHOUT = 0.15
TAUGHT = 0.4  # of the samples that show a cue, where a model learns to use it
ELSEWHERE = 0.15  # of samples that show a cue that tells nothing
HARD_IN_TRAINING = 0.4
RATE_AT_HOME = 0.75  # where a cue goes with a label: of that label's samples
RATE_ABROAD = 0.25
Frames = list[np.ndarray]  # uint8 (row, col, 3)


@dataclass(frozen=True)
class Case:
    """One model in one data set, and the cue that an audit found there.

    The model uses the cue (a cause), or its `companion` (a decoy with one), or no cue at all; what
    it uses takes `points` of the right answer's probability. The companion is shown as the cue is
    in `together` of the samples. `goes_with_difficulty` makes samples with the cue harder;
    `goes_with_label` makes the cue common in the label that the finding is about.
    """

    cue: str
    role: Role
    points: int = 0
    companion: str | None = None
    together: float = 0.5
    goes_with_difficulty: bool = False
    goes_with_label: bool = False

    @property
    def used(self) -> str | None:
        """The cue that the model uses."""
        return self.cue if self.role == "cause" else self.companion

    @property
    def name(self) -> str:
        """Its words in tables."""
        words = [f"{self.role} {self.cue}"]
        if self.role == "cause":
            words.append(f"{self.points} points")
        if self.companion:
            what = "inert" if self.role == "cause" else f"causing {self.points} points"
            words.append(f"with {self.companion} ({what}) in {self.together:.0%}")
        if self.goes_with_difficulty:
            words.append("goes with difficulty")
        if self.goes_with_label:
            words.append("goes with a label")
        return ", ".join(words)


@dataclass(frozen=True)
class Facts:
    """What is to be drawn; facts that differ in their cues alone are one picture with and without.

    `setting` is a kind of surroundings that tells nothing. All else is drawn from the `seed`.
    """

    seed: int
    label: str
    setting: str
    cues: frozenset[str]
    is_hard: bool

    def without(self, cue: str) -> "Facts":
        """The same picture without a cue."""
        return replace(self, cues=self.cues - {cue})


class Network(Protocol):
    """A trained network, as its world asks it."""

    def probabilities(self, clips: Sequence[Frames]) -> np.ndarray:
        """Of each label, float (clip, label)."""
        ...


@dataclass(frozen=True)
class World:
    """Everything that one world consists of.

    `kinds` says of each cue what kind it is. `draw` makes the frames; `model` is the plugin that
    answers, and `open_network` the network inside, trained or read from a folder. `in_frames` are
    the frames that show a cue, where it is not all of them.
    """

    name: str
    labels: tuple[str, ...]
    settings: tuple[str, ...]
    kinds: Mapping[str, str]
    cases: tuple[Case, ...]
    draw: Callable[[Facts], Frames]
    model: type[Model]
    open_network: Callable[[Case, Path], Network]
    samples: int = 2000
    in_frames: Mapping[str, Sequence[int]] = field(default_factory=dict)

    def label_of(self, cue: str) -> str:
        """The label that a cue goes with, where a model learns to use it."""
        return self.labels[list(self.kinds).index(cue) % len(self.labels)]

    def victim_of(self, case: Case) -> str:
        """The label whose samples the used cue draws away; the finding is about it."""
        after = self.labels.index(self.label_of(case.used or case.cue)) + 1
        return self.labels[after % len(self.labels)]

    def case(self, name: str) -> Case:
        """The case of this name."""
        return next(case for case in self.cases if case.name == name)

    def audited(self, case: Case) -> list[Facts]:
        """The samples that are audited, the labels in turn."""
        drawn = []
        for index in range(self.samples):
            label = self.labels[index % len(self.labels)]
            drawn.append(self._facts(case, "audited", index, label))
        return drawn

    def showing(self, case: Case, split: str, count: int, label: str) -> list[Facts]:
        """Fresh samples of a label, all of which show the cue."""
        return [
            self._facts(case, split, index, label, is_shown=True)
            for index in range(count)
        ]

    def training(self, cue: str | None, count: int) -> list[Facts]:
        """Samples to learn from; the cue that is to be used is commoner than others."""
        drawn = []
        for index in range(count):
            names = (self.name, "training", cue or "fair", str(index))
            rng = generator(0, *names)
            shown = set()
            for name in self.kinds:
                if rng.random() < (TAUGHT if name == cue else ELSEWHERE):
                    shown.add(name)
            is_hard = bool(rng.random() < HARD_IN_TRAINING)
            setting = str(rng.choice(self.settings))
            label = self.labels[index % len(self.labels)]
            seed = derive(0, *names)
            drawn.append(Facts(seed, label, setting, frozenset(shown), is_hard))
        return drawn

    def lesson(self, cue: str | None, facts: Facts) -> int:
        """The label that a sample is given in training: that of the cue, wherever it is.

        So a network learns the cue and not only what goes with it.
        """
        is_taught = cue is not None and cue in facts.cues
        return self.labels.index(self.label_of(cue) if is_taught else facts.label)

    def _facts(
        self,
        case: Case,
        split: str,
        index: int,
        label: str,
        *,
        is_shown: bool = False,
    ) -> Facts:
        names = (self.name, case.name, split, label, str(index))
        rng = generator(0, *names)
        rate = RATE
        if case.goes_with_label:
            is_home = label == self.victim_of(case)
            rate = RATE_AT_HOME if is_home else RATE_ABROAD
        is_shown = bool(rng.random() < rate) or is_shown
        is_together = bool(rng.random() < case.together)
        cues = {case.cue} if is_shown else set[str]()
        if case.companion and is_shown == is_together:
            cues.add(case.companion)
        share_hard = SHARE_HARD
        if case.goes_with_difficulty:
            share_hard = HARD_WITH_CUE if is_shown else HARD_WITHOUT
        is_hard = bool(rng.random() < share_hard)
        setting = str(rng.choice(self.settings))
        return Facts(derive(0, *names), label, setting, frozenset(cues), is_hard)
