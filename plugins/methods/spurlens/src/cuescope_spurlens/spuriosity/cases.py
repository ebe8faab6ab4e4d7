"""A class in a task: its images, ranked by each cue."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

import numpy as np
from jaxtyping import Bool, Float, Int

from cuescope_sdk import Audit, Edit, Occurrence, Sample
from cuescope_sdk.statistics import Groups, split_groups
from cuescope_spurlens.options import SpurLensOptions
from cuescope_spurlens.spuriosity.detections import CueDetections, ImageSet, Task, rank_images
from cuescope_spurlens.spuriosity.units import unit_means, unit_rows

ShownSample = tuple[Sample, Edit | None]
SHARE, ENOUGH = 0.5, 4  # the part in which cues are looked for, and what it must have, in K


class Exclusion(NamedTuple):
    """What is not compared, and why."""

    label: str
    cue: str
    reason: str


@dataclass(frozen=True, eq=False)
class Case:
    """A class in a task: its cues, their detections, and the k units that show each most, least.

    A unit is a sample, or all samples of one group. `top` and `bottom` number the units; `apart`
    are the units in which no cue was looked for, kept to measure what is found. `changed` has the
    samples that are shown changed, by row; `objects` the detections of the class itself, and
    `doubtful` the rows whose label these contradict.
    """

    task: Task
    label: str
    samples: tuple[Sample, ...]
    cues: tuple[str, ...]
    detections: CueDetections
    units: Groups
    top: Int[np.ndarray, "cue k"]
    bottom: Int[np.ndarray, "cue k"]
    apart: Int[np.ndarray, " unit"]
    changed: Mapping[int, ShownSample] = field(default_factory=dict)
    objects: CueDetections | None = None
    doubtful: Bool[np.ndarray, " row"] | None = None

    @property
    def k(self) -> int:
        """Units with the cue, and as many without."""
        return int(self.top.shape[1])

    @property
    def is_changed(self) -> bool:
        """Whether the images are shown without their object."""
        return self.task in ("drop", "mask")

    @cached_property
    def asked_units(self) -> Int[np.ndarray, " asked_unit"]:
        """The units that are in any top or bottom."""
        return np.unique(np.concatenate([self.top.ravel(), self.bottom.ravel()]))

    @cached_property
    def asked_rows(self) -> Int[np.ndarray, " asked"]:
        """Rows of their samples."""
        return np.sort(np.array(self.rows(self.asked_units), dtype=int))

    @cached_property
    def asked_groups(self) -> Groups:
        """The unit of each asked row, numbered as in `asked_units`."""
        return self.units.take(self.asked_rows)

    @cached_property
    def unit_scores(self) -> Float[np.ndarray, "unit cue"]:
        """Mean K-score of each unit."""
        return unit_means(self.detections.scores, self.units)

    def asked_index(self, units: Int[np.ndarray, "..."]) -> Int[np.ndarray, "..."]:
        """Where units are among `asked_units`."""
        return np.searchsorted(self.asked_units, units)

    def rows(self, units: Int[np.ndarray, " chosen"]) -> list[int]:
        """Rows of the samples of some units, in their order."""
        return unit_rows(self.units, units)

    def objects_of(self, rows: Int[np.ndarray, " some"]) -> CueDetections | None:
        """The detections of the class in some rows."""
        return None if self.objects is None else self.objects.select(rows.tolist(), slice(None))

    def kept_units(self, rows: Int[np.ndarray, " some"]) -> Bool[np.ndarray, " unit"] | None:
        """Which units of some rows have no doubtful label; None where all have none."""
        if self.doubtful is None or not self.doubtful[rows].any():
            return None
        doubted = unit_means(self.doubtful[rows].astype(float), self.units.take(rows))
        return np.asarray(doubted == 0)

    def feature_key(self, cue: str) -> str:
        """The key of the cue's feature."""
        return f"{self.task}/{self.label}/{cue}"

    def splits_by_presence(self, cue: int) -> bool:
        """Whether all images of the top show the cue, and none of the bottom."""
        scores = self.detections.scores[:, cue]
        top, bottom = self.rows(self.top[cue]), self.rows(self.bottom[cue])
        return bool((scores[top] > 0).all() and not scores[bottom].any())

    def sides_apart(self, cue: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        """The units apart that show a cue most, and as many that show it least; at most k."""
        k = min(self.k, len(self.apart) // 2)
        top, bottom = rank_images(self.unit_scores[self.apart][:, [cue]], k, rng)
        return self.apart[top[0]], self.apart[bottom[0]]


def rank_case(
    audit: Audit, images: ImageSet, detections: CueDetections, cues: Sequence[str], most: int
) -> tuple[Case, list[Exclusion]]:
    """The cues that rank the units, which are not those of one K-score in all of them."""
    options: SpurLensOptions = audit.options
    units = Groups.of(images.samples)
    unit_scores = unit_means(detections.scores, units)
    # Ties fall alike with and without the object: drop and mask share recognition's generator, so
    # that a changed image is compared with itself.
    ties = "hallucination" if images.task == "hallucination" else "recognition"
    searched = np.ones(units.count, dtype=bool)
    if images.task in ("recognition", "hallucination"):
        rng = audit.rng("apart", ties, images.label)
        searched = searched_units(units.count, most, options.discover, rng)
    scores = unit_scores[searched]
    # Of no image there is no range: numpy's ptp would raise.
    ranks = np.ptp(scores, axis=0) > 0 if len(scores) else np.zeros(len(cues), bool)
    exclusions = []
    for cue in np.flatnonzero(~ranks).tolist():
        where = "in every image alike" if scores[:, cue].any() else "never detected"
        exclusions.append(Exclusion(images.label, cues[cue], f"{where} ({images.task})"))
    ranking = np.flatnonzero(ranks).tolist()
    detections = detections.select(slice(None), ranking)
    # With half of the units at most, no unit is in the top and the bottom of a cue.
    k = min(most, len(scores) // 2)
    top, bottom = rank_images(scores[:, ranking], k, audit.rng("ties", ties, images.label))
    names, members = tuple(cues[cue] for cue in ranking), np.flatnonzero(searched)
    case = Case(
        images.task,
        images.label,
        images.samples,
        names,
        detections,
        units,
        members[top],
        members[bottom],
        np.flatnonzero(~searched),
    )
    return case, exclusions


def searched_units(count: int, k: int, share: float | None, rng: np.random.Generator) -> np.ndarray:
    """In which units cues are looked for; the others are apart.

    Where no share is given, all; but half of them where that leaves 4 k: a cue of every fourth
    image then still fills its top, the gap of k and k units is as sure as in all, and nothing is
    lost.
    """
    if share is None:
        share = SHARE if SHARE * count >= ENOUGH * k else 1.0
    if share >= 1:
        return np.ones(count, dtype=bool)
    return np.asarray(split_groups(Groups.single(count), rng, share=share))


def occurrences(case: Case, cue: int, rows: Sequence[int]) -> Iterator[Occurrence]:
    """Where a cue is in some images, by its box; an image without a box has none."""
    detections = case.detections
    for row in rows:
        # Where fewer than k images show the cue, the rest of the top has no box to point at.
        if detections.scores[row, cue] > 0:
            x0, y0, x1, y1 = detections.boxes[row, cue].tolist()
            yield Occurrence(
                sample=case.samples[row].key,
                frame=int(detections.frames[row, cue]),
                region=(x0, y0, x1, y1),
                strength=float(detections.scores[row, cue]),
            )
