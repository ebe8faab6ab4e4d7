"""Which images show a class, which of the others it is looked for in, and where the cues are."""

from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from itertools import chain, islice
from typing import Literal

import numpy as np
from jaxtyping import Float, Int
from numpy.random import Generator

from cuescope_sdk import Audit, Detection, Detector, Sample
from cuescope_sdk.tools import CachedDetector
from cuescope_spurlens.spuriosity.shapes import IntCueByK, IntSome, SampleByCue

Task = Literal["recognition", "hallucination", "drop", "mask"]
Negatives = Literal["auto", "supercategory", "others", "all"]


@dataclass(frozen=True, eq=False)
class ImageSet:
    """Images that show a class (recognition), or that do not (hallucination), by key."""

    task: Task
    label: str
    samples: tuple[Sample, ...]


def draw_samples(samples: Sequence[Sample], count: int, rng: Generator) -> list[Sample]:
    """So many of the samples, in their order."""
    rows = np.sort(rng.choice(len(samples), count, replace=False))
    return [samples[row] for row in rows.tolist()]


def objects_of(sample: Sample) -> tuple[str, ...]:
    """The classes in the image: its annotation "objects", or else its label."""
    if "objects" in sample.annotations:
        return tuple(sample.annotations["objects"])
    return () if sample.label is None else (sample.label,)


def supercategories(samples: Sequence[Sample]) -> dict[str, str]:
    """Of each class, from the annotations "objects" and "supercategories", which go together."""
    by_class: dict[str, str] = {}
    for sample in samples:
        names = sample.annotations.get("supercategories", ())
        # not strict: a sample may name no supercategories
        by_class.update(zip(objects_of(sample), names, strict=False))
    return by_class


def images_with(samples: Sequence[Sample], label: str) -> ImageSet:
    """The images that show the class."""
    shown = [sample for sample in samples if label in objects_of(sample)]
    return ImageSet("recognition", label, tuple(shown))


def images_without(
    samples: Sequence[Sample],
    label: str,
    how: Negatives,
    most: int,
    rng: Generator,
) -> ImageSet:
    """The images without the class (section 5.2).

    `supercategory`: with another class of the same supercategory, as for COCO; `others`: at most
    `most` of all, drawn, as for ImageNet; `all`: all. `auto` is `supercategory` where the data
    set has that of the class, else `others`.
    """
    without = [sample for sample in samples if label not in objects_of(sample)]
    by_class = supercategories(samples) if how in ("auto", "supercategory") else {}
    if label in by_class:
        category = by_class[label]
        without = [
            sample
            for sample in without
            if category in map(by_class.get, objects_of(sample))
        ]
    # it was asked for by name, so no other images stand in
    elif how == "supercategory":
        without = []
    elif how != "all" and len(without) > most:
        without = draw_samples(without, most, rng)
    return ImageSet("hallucination", label, tuple(without))


@dataclass(frozen=True, eq=False)
class CueDetections:
    """Of each cue in each sample: the K-score (eq. 4), its frame, and its box in pixels."""

    scores: SampleByCue
    frames: Int[np.ndarray, "sample cue"]
    boxes: Float[np.ndarray, "sample cue 4"]

    def select(
        self,
        rows: Sequence[int] | IntSome | slice = slice(None),
        cues: Sequence[int] | slice = slice(None),
    ) -> "CueDetections":
        """Some samples and cues, or all of them."""
        scores = self.scores[rows][:, cues]
        frames = self.frames[rows][:, cues]
        return CueDetections(scores, frames, self.boxes[rows][:, cues])

    def add(
        self,
        row: int,
        of_frames: Sequence[Sequence[Detection]],
        columns: Mapping[str, int],
    ) -> None:
        """Keep the best detection of each cue in the frames of a sample."""
        for frame, detections in enumerate(of_frames):
            for detection in detections:
                # The image was shown for the cues of other classes too.
                cue = columns.get(detection.name)
                if cue is not None and detection.score > self.scores[row, cue]:
                    self.scores[row, cue] = detection.score
                    self.frames[row, cue] = frame
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
    groups = _group_by_classes(image_sets, is_joint(detector))
    requests = []
    for labels, samples in groups.items():
        frames = [frame for sample in samples for frame in sample.frames]
        # classes may share a cue, which is looked for once
        names = dict.fromkeys(chain.from_iterable(map(cues.__getitem__, labels)))
        requests.append((frames, list(names)))
    with closing(CachedDetector(detector, audit.context)) as memory:
        # All groups in one call, so that a plan counts every pass before the detector stops it.
        answers = memory.detect_all(requests)
    by_sample = {}
    for (labels, samples), of_frames in zip(groups.items(), answers, strict=True):
        remaining = iter(of_frames)
        for sample in samples:
            of_sample = list(islice(remaining, len(sample.frames)))
            for label in labels:
                by_sample[label, sample.key] = of_sample
    detections = []
    for images in image_sets:
        of_class = cues[images.label]
        # by name: the published cache goes by line numbers, which a new list of cues shifts
        columns = {name: column for column, name in enumerate(of_class)}
        shape = (len(images.samples), len(of_class))
        boxes = np.zeros((*shape, 4), np.float32)
        # no cue in any sample: K-score 0
        best = CueDetections(np.zeros(shape), np.zeros(shape, int), boxes)
        for row, sample in enumerate(images.samples):
            best.add(row, by_sample[images.label, sample.key], columns)
        detections.append(best)
    return detections


def _group_by_classes(
    image_sets: Sequence[ImageSet], joint: bool
) -> dict[tuple[str, ...], list[Sample]]:
    """Samples that are shown for the same classes: a joint detector is asked for one at a time."""
    samples = {}
    labels: dict[tuple[str, str], set[str]] = {}
    for images in image_sets:
        for sample in images.samples:
            samples[sample.key] = sample
            request = (sample.key, images.label if joint else "")
            labels.setdefault(request, set()).add(images.label)
    groups: dict[tuple[str, ...], list[Sample]] = {}
    for (key, _), of_sample in labels.items():
        # sorted, for a set has no order that could be a key
        groups.setdefault(tuple(sorted(of_sample)), []).append(samples[key])
    return groups


def max_passes(image_sets: Sequence[ImageSet], detector: Detector) -> int:
    """Images that the detector is shown where it remembers none."""
    passes = 0
    for samples in _group_by_classes(image_sets, is_joint(detector)).values():
        # a detector's memory goes by frame, whichever sample shows it
        passes += len({frame.key for sample in samples for frame in sample.frames})
    return passes


def is_joint(detector: Detector) -> bool:
    """Whether its answer for a name depends on the names beside it."""
    return bool(getattr(detector, "joint", False))


def rank_images(
    scores: SampleByCue,
    k: int,
    rng: Generator,
) -> tuple[IntCueByK, IntCueByK]:
    """Rows of the k highest (best first) and k lowest K-scores of each cue.

    Ties are broken by `rng`. No sample is in both where 2 k is no more than there are.
    """
    # Most K-scores are exactly 0. Without the noise, the lowest k would be the last by key.
    noise = rng.random(scores.shape)
    order = np.lexsort((noise, -scores), axis=0).T
    return order[:, :k], order[:, order.shape[1] - k :]
