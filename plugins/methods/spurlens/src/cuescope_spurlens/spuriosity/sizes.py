"""A reason for a gap that is no cue: the object's size.

A model errs on small objects, and beside a small object there is room for much else: whatever is
there then goes with the errors.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from cuescope_sdk import Sample
from cuescope_spurlens.spuriosity.detections import CueDetections
from cuescope_spurlens.spuriosity.shapes import BoolPerRow, IntPerUnit, PerRow, PerUnit

# answers are dealt within a stratum: few units allow few deals
LEAST = 12  # units of a stratum
STRATA = 20  # at most
KNOWN = 0.8  # share of the images whose object has a size, for a source to be used


@dataclass(frozen=True, eq=False)
class ObjectSizes:
    """The size of the object in each image, 0 where it is unknown; and what tells it."""

    values: PerRow
    source: str


def object_sizes(
    samples: Sequence[Sample],
    label: str,
    detected: CueDetections,
    counted: BoolPerRow,
) -> ObjectSizes | None:
    """By annotated boxes, else by annotated masks, else by the detector's boxes of the class.

    Sizes of boxes are the square root of pixels, those of masks of the share of the image: only
    their order counts. None where no source knows enough of those that are `counted`.
    """
    for sizes in _sizes_by_source(samples, label, detected):
        values = sizes.values[counted]
        if len(values) and (values > 0).mean() >= KNOWN:
            return sizes
    return None


def _sizes_by_source(
    samples: Sequence[Sample],
    label: str,
    detected: CueDetections,
) -> Iterator[ObjectSizes]:
    """The best source first; masks are loaded only where no boxes are annotated."""
    boxes = [_annotated_box(sample, label) for sample in samples]
    yield ObjectSizes(np.array(boxes, dtype=float), "annotated boxes")
    if all(label in sample.annotations.get("masks", {}) for sample in samples):
        masks = [_annotated_mask(sample, label) for sample in samples]
        yield ObjectSizes(np.array(masks, dtype=float), "annotated masks")
    x0, y0, x1, y1 = detected.boxes[:, 0].T
    sides = np.sqrt(np.maximum((x1 - x0) * (y1 - y0), 0))
    seen = detected.scores[:, 0] > 0
    yield ObjectSizes((sides * seen).astype(float), "the detector's boxes")


def _annotated_box(sample: Sample, label: str) -> float:
    """Of the largest box of the class."""
    largest = 0.0
    for detection in sample.annotations.get("boxes", ()):
        if detection.name == label:
            x0, y0, x1, y1 = map(float, detection.box)
            largest = max(largest, (x1 - x0) * (y1 - y0))
    return float(np.sqrt(largest))


def _annotated_mask(sample: Sample, label: str) -> float:
    mask = np.asarray(sample.annotations["masks"][label].load().convert("L")) > 0
    return float(np.sqrt(mask.mean()))


def size_strata(sizes: PerUnit) -> IntPerUnit:
    """Strata of about equal numbers of units by size; those of unknown size are one more."""
    # one deal over all sizes found a cue in 59% of classes without any
    known = sizes > 0
    count = int(np.clip(known.sum() // LEAST, 1, STRATA))
    # Equal sizes share a stratum: where all are alike there is one.
    rank = np.searchsorted(np.sort(sizes[known]), sizes[known])
    # 0 stays the stratum of unknown sizes
    stratum = np.zeros(len(sizes), dtype=int)
    stratum[known] = 1 + rank * count // max(len(rank), 1)
    return np.asarray(np.unique(stratum, return_inverse=True)[1])
