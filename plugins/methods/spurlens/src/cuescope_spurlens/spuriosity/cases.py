"""A class in a task: its images, ranked by each cue."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

import numpy as np
from jaxtyping import Int
from numpy.random import Generator

from cuescope_sdk import Audit, Edit, Occurrence, Sample
from cuescope_sdk.statistics import Groups
from cuescope_spurlens.spuriosity.detections import (
    CueDetections,
    ImageSet,
    Task,
    rank_images,
)
from cuescope_spurlens.spuriosity.labels import LabelDoubts
from cuescope_spurlens.spuriosity.shapes import (
    BoolPerUnit,
    IntCueByK,
    IntPerK,
    IntPerUnit,
    IntSome,
)
from cuescope_spurlens.spuriosity.sizes import ObjectSizes, object_sizes
from cuescope_spurlens.spuriosity.units import unit_means, unit_rows

ShownSample = tuple[Sample, Edit | None]
LEAST_APART = 10  # units on a side, to measure a finding in


class Exclusion(NamedTuple):
    """What is not compared, and why."""

    label: str
    cue: str
    reason: str


@dataclass(frozen=True, eq=False)
class Case:
    """A class in a task: its cues, their detections, and the k units that show each most, least.

    A unit is a sample, or all samples of one group. `top` and `bottom` number the units; `apart`
    are the units in which no cue was looked for, kept to measure what is found. `objects` has the
    detections of the class itself, `doubts` what these say against the labels, and `changed` the
    samples that are shown changed, by row.
    """

    task: Task
    label: str
    samples: tuple[Sample, ...]
    cues: tuple[str, ...]
    detections: CueDetections
    objects: CueDetections
    doubts: LabelDoubts
    units: Groups
    top: IntCueByK
    bottom: IntCueByK
    apart: IntPerUnit
    changed: Mapping[int, ShownSample] = field(default_factory=dict)

    @property
    def k(self) -> int:
        """Units with the cue, and as many without."""
        return int(self.top.shape[1])

    @property
    def name(self) -> str:
        """What a report calls it: a class has it in several tasks."""
        return f"{self.label} ({self.task})"

    @property
    def is_changed(self) -> bool:
        """Whether the images are shown without their object."""
        return self.task in ("drop", "mask")

    @property
    def shows_object(self) -> bool:
        """Whether the class is in the images, be it hidden from the model."""
        return self.task != "hallucination"

    @property
    def can_measure_apart(self) -> bool:
        """Whether enough units are kept to measure a finding in."""
        return len(self.apart) >= 2 * LEAST_APART

    @cached_property
    def asked_units(self) -> Int[np.ndarray, " asked_unit"]:
        """The units that are in any top or bottom."""
        return np.unique((self.top, self.bottom))

    @cached_property
    def asked_rows(self) -> Int[np.ndarray, " asked"]:
        """Rows of their samples."""
        return np.sort(np.array(self.rows(self.asked_units), dtype=int))

    @cached_property
    def asked_sides(self) -> tuple[IntCueByK, IntCueByK]:
        """`top` and `bottom`, numbered as in `asked_units`."""
        top = np.searchsorted(self.asked_units, self.top)
        return top, np.searchsorted(self.asked_units, self.bottom)

    def rows(self, units: IntSome) -> list[int]:
        """Rows of the samples of some units, in their order."""
        return unit_rows(self.units, units)

    def side_rows(self, cue: int) -> tuple[list[int], list[int]]:
        """Rows of the images that show a cue most, and of those that show it least."""
        return self.rows(self.top[cue]), self.rows(self.bottom[cue])

    def sides_of(self, cue: int) -> tuple[list[Sample], list[Sample]]:
        """The samples of these rows."""
        top, bottom = self.side_rows(cue)
        return self.samples_at(top), self.samples_at(bottom)

    def samples_at(self, rows: Sequence[int]) -> list[Sample]:
        """The samples of some rows."""
        return [self.samples[row] for row in rows]

    def object_sizes(self, rows: IntSome) -> ObjectSizes | None:
        """The size of the object in some rows, None where nothing tells it."""
        shown = self.samples_at(rows.tolist())
        # what counts in no test needs no size, and often has none: the detector sees no object
        counted = ~self.doubts.rows[rows]
        return object_sizes(shown, self.label, self.objects.select(rows), counted)

    def kept_units(self, rows: IntSome) -> BoolPerUnit | None:
        """Which units of some rows have no contradicted label; None where all have none."""
        doubted = self.doubts.rows[rows].astype(float)
        if not doubted.any():
            return None
        # a unit's rate is a mean: one image with a wrong label spoils it
        return np.asarray(unit_means(doubted, self.units.take(rows)) == 0)

    def units_in_side(self, cue: int, *, top: bool) -> float:
        """How many of all units that cues were looked for in would be in a side of K by chance.

        Were they all to show the cue as the units of this side do: ties are drawn by lot.
        """
        searched = np.delete(np.arange(self.units.count), self.apart)
        scores = unit_means(self.detections.scores[:, [cue]], self.units)[:, 0]
        if top:
            like_side = scores[searched] >= scores[self.top[cue]].min()
        else:
            like_side = scores[searched] <= scores[self.bottom[cue]].max()
        return float(len(searched) * self.k / like_side.sum())

    def feature_key(self, cue: str) -> str:
        """The key of the cue's feature."""
        return f"{self.task}/{self.label}/{cue}"

    def sides_apart(self, cue: int, rng: Generator) -> tuple[IntPerK, IntPerK]:
        """The units apart that show a cue most, and as many that show it least; at most k."""
        # a gap changes with K, so K is that of the search where there are enough
        k = min(self.k, len(self.apart) // 2)
        scores = unit_means(self.detections.scores[:, [cue]], self.units)
        top, bottom = rank_images(scores[self.apart], k, rng)
        return self.apart[top[0]], self.apart[bottom[0]]


def rank_case(
    audit: Audit,
    images: ImageSet,
    cues: Sequence[str],
    detections: CueDetections,
    objects: CueDetections,
    doubts: LabelDoubts,
    most: int,
) -> tuple[Case, list[Exclusion]]:
    """The cues that rank the units, which are not those of one K-score in all of them."""
    units = Groups.of(images.samples)
    # Ties fall alike with and without the object: drop and mask share recognition's generator, so
    # that a changed image is compared with itself.
    ties = "hallucination" if images.task == "hallucination" else "recognition"
    searched = np.ones(units.count, dtype=bool)
    if images.task == ties:
        rng = audit.rng("apart", ties, images.label)
        searched = searched_units(units.count, audit.options.discover, rng)
    scores = unit_means(detections.scores, units)[searched]
    # A cue that all units show alike ranks none of them, nor does any where there is no unit.
    ranks = (scores != scores[:1]).any(axis=0)
    exclusions = []
    for cue in np.flatnonzero(~ranks).tolist():
        where = "in every image alike" if scores[:, cue].any() else "never detected"
        reason = f"{where} ({images.task})"
        exclusions.append(Exclusion(images.label, cues[cue], reason))
    ranking = np.flatnonzero(ranks).tolist()
    # With half of the units at most, no unit is in the top and the bottom of a cue.
    k = min(most, len(scores) // 2)
    rng = audit.rng("ties", ties, images.label)
    top, bottom = rank_images(scores[:, ranking], k, rng)
    # ranked are the searched units alone, but a case numbers all
    members = np.flatnonzero(searched)
    case = Case(
        task=images.task,
        label=images.label,
        samples=images.samples,
        cues=tuple(cues[cue] for cue in ranking),
        detections=detections.select(cues=ranking),
        objects=objects,
        doubts=doubts,
        units=units,
        top=members[top],
        bottom=members[bottom],
        apart=np.flatnonzero(~searched),
    )
    return case, exclusions


def searched_units(
    count: int,
    share: float,
    rng: Generator,
) -> np.ndarray:
    """In which units cues are looked for; the others are apart."""
    if share >= 1:
        return np.ones(count, dtype=bool)
    return Groups.single(count).split(rng, share=share)


def occurrences(case: Case, cue: int, rows: Sequence[int]) -> Iterator[Occurrence]:
    """Where a cue is in some images, by its box; an image without a box has none."""
    detections = case.detections
    for row in rows:
        strength = float(detections.scores[row, cue])
        # Where fewer than k images show the cue, the rest of the top has no box to point at.
        if strength > 0:
            x0, y0, x1, y1 = detections.boxes[row, cue].tolist()
            yield Occurrence(
                sample=case.samples[row].key,
                frame=int(detections.frames[row, cue]),
                region=(x0, y0, x1, y1),
                strength=strength,
            )
