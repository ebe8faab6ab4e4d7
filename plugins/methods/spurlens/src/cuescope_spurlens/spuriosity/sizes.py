"""Two other reasons for a gap, neither of them a cue: the object's size, and wrong labels.

A model errs on small objects, and beside a small object there is room for much else: whatever is
there then goes with the errors. And an image that is labelled as a cup, but shows none, seldom has
what stands beside cups: there the model is right, and the label wrong.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float, Int

from cuescope_sdk import Sample
from cuescope_spurlens.spuriosity.detections import CueDetections

LEAST, STRATA = 12, 20  # units of a stratum, and strata at most
KNOWN = 0.8  # share of the images whose object has a size, for a source to be used
MOST_DOUBTED = 0.25  # share of labels: a detector that doubts more does not know the class


@dataclass(frozen=True, eq=False)
class ObjectSizes:
    """The size of the object in each image, 0 where it is unknown; and what tells it."""

    values: Float[np.ndarray, " row"]
    source: str


def object_sizes(
    samples: Sequence[Sample], label: str, detected: CueDetections | None
) -> ObjectSizes | None:
    """By annotated boxes, else by annotated masks, else by the detector's boxes of the class.

    Sizes of boxes are the square root of pixels, those of masks of the share of the image: only
    their order counts. None where no source knows enough of them.
    """
    values = np.array([_annotated_box(sample, label) for sample in samples], dtype=float)
    if _is_known(values):
        return ObjectSizes(values, "annotated boxes")
    if all(label in sample.annotations.get("masks", {}) for sample in samples):
        values = np.array([_annotated_mask(sample, label) for sample in samples], dtype=float)
        if _is_known(values):
            return ObjectSizes(values, "annotated masks")
    if detected is not None:
        x0, y0, x1, y1 = detected.boxes[:, 0].T
        values = np.sqrt(np.maximum((x1 - x0) * (y1 - y0), 0)) * (detected.scores[:, 0] > 0)
        if _is_known(values):
            return ObjectSizes(np.asarray(values, dtype=float), "the detector's boxes")
    return None


def _is_known(sizes: Float[np.ndarray, " row"]) -> bool:
    return bool(len(sizes)) and float((sizes > 0).mean()) >= KNOWN


def _annotated_box(sample: Sample, label: str) -> float:
    """Of the largest box of the class."""
    boxes = [d.box for d in sample.annotations.get("boxes", ()) if d.name == label]
    areas = [float(x1 - x0) * float(y1 - y0) for x0, y0, x1, y1 in boxes]
    return float(np.sqrt(max(areas, default=0.0)))


def _annotated_mask(sample: Sample, label: str) -> float:
    mask = np.asarray(sample.annotations["masks"][label].load().convert("L")) > 0
    return float(np.sqrt(mask.mean()))


def size_strata(sizes: Float[np.ndarray, " unit"]) -> Int[np.ndarray, " unit"]:
    """Strata of about equal numbers of units by size; those of unknown size are one more."""
    known = sizes > 0
    count = int(np.clip(known.sum() // LEAST, 1, STRATA))
    # Equal sizes share a stratum: where all are alike there is one.
    rank = np.searchsorted(np.sort(sizes[known]), sizes[known])
    stratum = np.zeros(len(sizes), dtype=int)
    stratum[known] = 1 + rank * count // max(int(known.sum()), 1)
    return np.asarray(np.unique(stratum, return_inverse=True)[1])


def doubtful_labels(
    with_object: Float[np.ndarray, " row"], without: Float[np.ndarray, " other_row"]
) -> tuple[Bool[np.ndarray, " row"], Bool[np.ndarray, " other_row"]]:
    """Images whose label the detector contradicts, from its scores for the class itself.

    After confident learning (Northcutt et al., 2021): labelled as the class, and no surer of it
    than the mean of those labelled otherwise; or the reverse. The audited model is not asked. None
    where the detector does not tell the class, or nobody is labelled so.
    """
    nobody = np.zeros(len(with_object), dtype=bool), np.zeros(len(without), dtype=bool)
    if not len(with_object) or not with_object.any():
        return nobody
    high, low = float(with_object.mean()), float(without.mean()) if len(without) else 0.0
    if high <= low:
        return nobody
    first, second = with_object <= low, without >= high
    return (
        first if first.mean() <= MOST_DOUBTED else nobody[0],
        second if len(second) and second.mean() <= MOST_DOUBTED else nobody[1],
    )
