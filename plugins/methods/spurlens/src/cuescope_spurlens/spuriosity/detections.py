"""Which images show a class, which of the others it is looked for in, and where the cues are."""

from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from typing import Literal

import numpy as np
from jaxtyping import Float, Int

from cuescope_sdk import Audit, Detection, Detector, Sample
from cuescope_sdk.tools import cached_detector

Task = Literal["recognition", "hallucination", "drop", "mask"]
Negatives = Literal["auto", "supercategory", "others", "all"]
Position = tuple[int, int]  # image set, row


@dataclass(frozen=True, eq=False)
class ImageSet:
    """Images that show a class (recognition), or that do not (hallucination), by key."""

    task: Task
    label: str
    samples: tuple[Sample, ...]


def samples_by_key(audit: Audit) -> list[Sample]:
    """The samples in an order of their own, so that no draw depends on the data set's."""
    return sorted(audit.samples, key=lambda sample: sample.key)


def objects_of(sample: Sample) -> tuple[str, ...]:
    """The classes in the image: its annotation "objects", or else its label."""
    if "objects" in sample.annotations:
        return tuple(sample.annotations["objects"])
    return () if sample.label is None else (sample.label,)


def supercategories(samples: Sequence[Sample]) -> dict[str, str]:
    """Of each class, from the annotations "objects" and "supercategories", which go together."""
    return {
        name: supercategory
        for sample in samples
        for name, supercategory in zip(
            objects_of(sample), sample.annotations.get("supercategories", ()), strict=False
        )
    }


def images_with(samples: Sequence[Sample], label: str) -> ImageSet:
    """The images that show the class."""
    return ImageSet("recognition", label, tuple(s for s in samples if label in objects_of(s)))


def images_without(
    samples: Sequence[Sample], label: str, how: Negatives, most: int, rng: np.random.Generator
) -> ImageSet:
    """The images without the class (section 5.2).

    `supercategory`: with another class of the same supercategory, as for COCO; `others`: at most
    `most` of all, drawn, as for ImageNet; `all`: all. `auto` is `supercategory` where the data
    set has that of the class, else `others`.
    """
    without = [sample for sample in samples if label not in objects_of(sample)]
    known = supercategories(samples) if how in ("auto", "supercategory") else {}
    if label in known:
        related = {name for name, supercategory in known.items() if supercategory == known[label]}
        without = [sample for sample in without if related.intersection(objects_of(sample))]
    elif how == "supercategory":
        without = []
    elif how != "all" and len(without) > most:
        rows = sorted(rng.choice(len(without), most, replace=False).tolist())
        without = [without[row] for row in rows]
    return ImageSet("hallucination", label, tuple(without))


@dataclass(frozen=True, eq=False)
class CueDetections:
    """Of each cue in each sample: the K-score (eq. 4), its frame, and its box in pixels."""

    scores: Float[np.ndarray, "sample cue"]
    frames: Int[np.ndarray, "sample cue"]
    boxes: Float[np.ndarray, "sample cue 4"]

    @classmethod
    def empty(cls, samples: int, cues: int) -> "CueDetections":
        """No cue in any sample: K-score 0."""
        shape = samples, cues
        return cls(np.zeros(shape), np.zeros(shape, int), np.zeros((*shape, 4), np.float32))

    def select(self, rows: Sequence[int] | slice, cues: Sequence[int] | slice) -> "CueDetections":
        """Some samples and cues."""
        return CueDetections(*(x[rows][:, cues] for x in (self.scores, self.frames, self.boxes)))

    def add(self, row: int, cue: int, frame: int, detection: Detection) -> None:
        """Keep a detection if it is the best so far."""
        if detection.score > self.scores[row, cue]:
            self.scores[row, cue], self.frames[row, cue] = detection.score, frame
            self.boxes[row, cue] = detection.box


def detect_cues(
    audit: Audit,
    detector: Detector,
    image_sets: Sequence[ImageSet],
    cues: Mapping[str, Sequence[str]],
) -> list[CueDetections]:
    """Detections in each image set, of the cues of its class.

    An image is shown once, for the cues of all classes that it is needed for. A detector whose
    answers depend on the names beside (`joint`) is asked for each class by itself.
    """
    detections = [
        CueDetections.empty(len(images.samples), len(cues[images.label])) for images in image_sets
    ]
    columns = [{name: n for n, name in enumerate(cues[images.label])} for images in image_sets]
    groups = _group_by_classes(image_sets, is_joint(detector))
    requests = [
        (
            [frame for sample, _ in group for frame in sample.frames],
            list(dict.fromkeys(name for label in labels for name in cues[label])),
        )
        for labels, group in groups.items()
    ]
    with closing(cached_detector(detector, audit.context)) as memory:
        # All groups in one call, so that a plan counts every pass before the detector stops it.
        answers = memory.detect_all(requests)
    for group, of_frames in zip(groups.values(), answers, strict=True):
        remaining = iter(of_frames)
        for sample, positions in group:
            per_frame = [next(remaining) for _ in sample.frames]
            for image_set, row in positions:
                for frame, of_frame in enumerate(per_frame):
                    for detection in of_frame:
                        # The image was shown for the cues of other classes too.
                        if (column := columns[image_set].get(detection.name)) is not None:
                            detections[image_set].add(row, column, frame, detection)
    return detections


def _group_by_classes(
    image_sets: Sequence[ImageSet], joint: bool
) -> dict[tuple[str, ...], list[tuple[Sample, list[Position]]]]:
    """Samples that are needed for the same classes, with their positions in the image sets."""
    positions: dict[tuple[str, str], list[Position]] = {}
    samples: dict[str, Sample] = {}
    for index, images in enumerate(image_sets):
        for row, sample in enumerate(images.samples):
            samples[sample.key] = sample
            shown_for = (sample.key, images.label if joint else "")
            positions.setdefault(shown_for, []).append((index, row))
    groups: dict[tuple[str, ...], list[tuple[Sample, list[Position]]]] = {}
    for (key, _), of_sample in positions.items():
        labels = tuple(sorted({image_sets[index].label for index, _ in of_sample}))
        groups.setdefault(labels, []).append((samples[key], of_sample))
    return groups


def max_passes(image_sets: Sequence[ImageSet], detector: Detector) -> int:
    """Images that the detector is shown where it remembers none."""
    groups = _group_by_classes(image_sets, is_joint(detector)).values()
    return sum(len({f.key for sample, _ in group for f in sample.frames}) for group in groups)


def is_joint(detector: Detector) -> bool:
    """Whether its answer for a name depends on the names beside it."""
    return bool(getattr(detector, "joint", False))


def rank_images(
    scores: Float[np.ndarray, "sample cue"], k: int, rng: np.random.Generator
) -> tuple[Int[np.ndarray, "cue k"], Int[np.ndarray, "cue k"]]:
    """Rows of the k highest (best first) and k lowest K-scores of each cue.

    Ties are broken by `rng`. No sample is in both where 2 k is no more than there are.
    """
    # Most K-scores are exactly 0. Without the noise, the lowest k would be the last by key.
    noise = rng.random(scores.shape)
    order = np.lexsort((noise, -scores), axis=0).T
    return order[:, :k], order[:, order.shape[1] - k :]
