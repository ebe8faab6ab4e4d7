"""What is compared: cues of a class in a task, with the images that show each most and least."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from jaxtyping import Int

from cuescope_sdk import Feature, Occurrence, Output, Sample, Trial
from cuescope_spurlens.asking import questions, trial
from cuescope_spurlens.pools import Task
from cuescope_spurlens.removing import Shown
from cuescope_spurlens.sighting import Sightings

LeftOut = tuple[str, str, str]  # class, cue, reason


@dataclass(frozen=True, eq=False)
class Case:
    """A class in a task: its cues, what is seen of them, and the k images that show each most.

    `instead` has the samples that are shown changed, by place.
    """

    task: Task
    label: str
    samples: tuple[Sample, ...]
    cues: tuple[str, ...]
    seen: Sightings
    top: Int[np.ndarray, "cue k"]
    bottom: Int[np.ndarray, "cue k"]
    instead: Mapping[int, Shown] = field(default_factory=dict)

    @property
    def k(self) -> int:
        """Images with the cue, and as many without."""
        return int(self.top.shape[1])

    @property
    def is_changed(self) -> bool:
        """Whether the images are shown without their object."""
        return self.task in ("drop", "mask")

    @cached_property
    def asked(self) -> Int[np.ndarray, " asked"]:
        """Places of the samples that are in any top or bottom."""
        return np.unique(np.concatenate([self.top.ravel(), self.bottom.ravel()]))

    def local(self, places: Int[np.ndarray, "..."]) -> Int[np.ndarray, "..."]:
        """Places among `asked`."""
        return np.searchsorted(self.asked, places)

    def shown(self, place: int) -> Shown:
        """The sample as the model sees it, with the edit inside the model."""
        return self.instead.get(place, (self.samples[place], None))

    def key(self, cue: str) -> str:
        """Of the cue's feature."""
        return f"{self.task}/{self.label}/{cue}"

    def is_pure(self, cue: int) -> bool:
        """Whether all images of the top show the cue, and none of the bottom."""
        scores = self.seen.scores[:, cue]
        return bool((scores[self.top[cue]] > 0).all() and not scores[self.bottom[cue]].any())


@dataclass(frozen=True, eq=False)
class Study:
    """All of them, how they are asked, and which cues are not tried."""

    cases: tuple[Case, ...]
    cues: Mapping[str, tuple[str, ...]]
    left_out: tuple[LeftOut, ...]
    wordings: tuple[str, ...]
    output: Output
    blank: Sample | None = None

    def rows(self, case: Case) -> list[list[Trial]]:
        """For each asked sample its questions."""
        asks = questions(self.wordings, case.label)
        return [self._row(case, place, asks) for place in case.asked.tolist()]

    def _row(self, case: Case, place: int, asks: Sequence[str]) -> list[Trial]:
        sample, edit = case.shown(place)
        return [trial(sample, ask, self.output, edit=edit, condition=case.task) for ask in asks]

    def trials(self) -> Iterator[Trial]:
        """Every question that any cue needs, perhaps more than once."""
        for case in self.cases:
            for row in self.rows(case):
                yield from row
        for row in self.blank_rows.values():
            yield from row

    @cached_property
    def blank_rows(self) -> dict[str, list[Trial]]:
        """The questions about a black image, by class."""
        if self.blank is None:
            return {}
        labels = dict.fromkeys(case.label for case in self.cases)
        return {
            label: [
                trial(self.blank, ask, self.output, condition="blank")
                for ask in questions(self.wordings, label)
            ]
            for label in labels
        }


def features(study: Study) -> Iterator[Feature]:
    """A cue of a class in a task, and the images that show it most."""
    for case in study.cases:
        for place, cue in enumerate(case.cues):
            yield Feature(
                key=case.key(cue), kind=case.task, name=cue,
                occurrences=tuple(_occurrences(case, place)),
            )  # fmt: skip


def _occurrences(case: Case, cue: int) -> Iterator[Occurrence]:
    seen = case.seen
    for row in case.top[cue].tolist():
        if seen.scores[row, cue] > 0:
            x0, y0, x1, y1 = seen.boxes[row, cue].tolist()
            yield Occurrence(
                sample=case.samples[row].key, frame=int(seen.frames[row, cue]),
                region=(x0, y0, x1, y1), strength=float(seen.scores[row, cue]),
            )  # fmt: skip
