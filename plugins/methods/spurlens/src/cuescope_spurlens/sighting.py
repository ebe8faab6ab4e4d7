"""Where the cues are: K-scores of each image, in as few passes of the detector as can be."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int

from cuescope_sdk import Audit, Detection, Detector, Sample
from cuescope_sdk.tools import CachedDetector, cached_detector
from cuescope_spurlens.pools import Pool

Place = tuple[int, int]  # pool, row


@dataclass(frozen=True, eq=False)
class Sightings:
    """Of each cue in each sample: the K-score (eq. 4), its frame, and its box in pixels."""

    scores: Float[np.ndarray, "sample cue"]
    frames: Int[np.ndarray, "sample cue"]
    boxes: Float[np.ndarray, "sample cue 4"]

    @classmethod
    def none(cls, samples: int, cues: int) -> "Sightings":
        """Nothing seen anywhere."""
        shape = samples, cues
        return cls(np.zeros(shape), np.zeros(shape, int), np.zeros((*shape, 4), np.float32))

    def at(self, rows: Sequence[int] | slice, cues: Sequence[int] | slice) -> "Sightings":
        """Some samples and cues."""
        return Sightings(*(x[rows][:, cues] for x in (self.scores, self.frames, self.boxes)))

    def add(self, row: int, cue: int, frame: int, detection: Detection) -> None:
        """Keep it if it is the best so far."""
        if detection.score > self.scores[row, cue]:
            self.scores[row, cue], self.frames[row, cue] = detection.score, frame
            self.boxes[row, cue] = detection.box


def look(
    audit: Audit, detector: Detector, pools: Sequence[Pool], cues: Mapping[str, Sequence[str]]
) -> list[Sightings]:
    """Sightings of each pool, for the cues of its class.

    An image is shown once, for the cues of all classes that it is needed for. A detector whose
    answers depend on the names beside (`joint`) is asked for each class by itself.
    """
    finder = cached_detector(detector, audit.context)
    try:
        return _looked(finder, is_joint(detector), pools, cues)
    finally:
        finder.close()


def _looked(
    finder: CachedDetector, joint: bool, pools: Sequence[Pool], cues: Mapping[str, Sequence[str]]
) -> list[Sightings]:
    seen = [Sightings.none(len(pool.samples), len(cues[pool.label])) for pool in pools]
    groups = _groups(pools, joint)
    asked = [
        (
            [frame for sample, _ in samples for frame in sample.frames],
            list(dict.fromkeys(name for label in labels for name in cues[label])),
        )
        for labels, samples in groups.items()
    ]
    for samples, found in zip(groups.values(), finder.detect_all(asked), strict=True):
        said = iter(found)
        for sample, places in samples:
            per_frame = [next(said) for _ in sample.frames]
            for pool, row in places:
                _write(seen[pool], row, cues[pools[pool].label], per_frame)
    return seen


def _groups(
    pools: Sequence[Pool], joint: bool
) -> dict[tuple[str, ...], list[tuple[Sample, list[Place]]]]:
    """Samples that are needed for the same classes, with their places in the pools."""
    places: dict[tuple[str, str], list[Place]] = {}
    samples: dict[str, Sample] = {}
    for number, pool in enumerate(pools):
        for row, sample in enumerate(pool.samples):
            samples[sample.key] = sample
            places.setdefault((sample.key, pool.label if joint else ""), []).append((number, row))
    groups: dict[tuple[str, ...], list[tuple[Sample, list[Place]]]] = {}
    for (key, _), of_sample in places.items():
        labels = tuple(sorted({pools[pool].label for pool, _ in of_sample}))
        groups.setdefault(labels, []).append((samples[key], of_sample))
    return groups


def _write(
    seen: Sightings, row: int, cues: Sequence[str], per_frame: Sequence[Sequence[Detection]]
) -> None:
    column = {name: place for place, name in enumerate(cues)}
    for frame, found in enumerate(per_frame):
        for detection in found:
            if detection.name in column:
                seen.add(row, column[detection.name], frame, detection)


def passes_at_most(pools: Sequence[Pool], detector: Detector) -> int:
    """Images that the detector is shown where it remembers none."""
    groups = _groups(pools, is_joint(detector)).values()
    return sum(len({f.key for sample, _ in group for f in sample.frames}) for group in groups)


def is_joint(detector: Detector) -> bool:
    """Whether its answer for a name depends on the names beside it."""
    return bool(getattr(detector, "joint", False))
