"""Which images show a class, and which of the others it is looked for in."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from cuescope_sdk import Audit, Sample

Task = Literal["recognition", "hallucination", "drop", "mask"]
Negatives = Literal["auto", "supercategory", "others", "all"]


@dataclass(frozen=True, eq=False)
class Pool:
    """Images that show a class (recognition), or that do not (hallucination), by key."""

    task: Task
    label: str
    samples: tuple[Sample, ...]


def objects_of(sample: Sample) -> tuple[str, ...]:
    """The classes in the image: its annotation "objects", or else its label."""
    if "objects" in sample.annotations:
        return tuple(sample.annotations["objects"])
    return () if sample.label is None else (sample.label,)


def supercategories(samples: Sequence[Sample]) -> dict[str, str]:
    """Of each class, from the annotations "objects" and "supercategories", which go together."""
    return {
        name: kind
        for sample in samples
        for name, kind in zip(
            objects_of(sample), sample.annotations.get("supercategories", ()), strict=False
        )
    }


def positives(samples: Sequence[Sample], label: str) -> Pool:
    """The images that show the class."""
    return Pool("recognition", label, tuple(s for s in samples if label in objects_of(s)))


def negatives(
    samples: Sequence[Sample], label: str, how: Negatives, most: int, rng: np.random.Generator
) -> Pool:
    """The images without the class (section 5.2).

    `supercategory`: with another class of the same supercategory, as for COCO; `others`: at most
    `most` of all, drawn, as for ImageNet; `all`: all. `auto` is `supercategory` where the data
    set has that of the class, else `others`.
    """
    without = [sample for sample in samples if label not in objects_of(sample)]
    kinds = supercategories(samples) if how in ("auto", "supercategory") else {}
    if label in kinds:
        akin = {name for name, kind in kinds.items() if kind == kinds[label]}
        without = [sample for sample in without if akin.intersection(objects_of(sample))]
    elif how == "supercategory":
        without = []
    elif how != "all" and len(without) > most:
        kept = sorted(rng.choice(len(without), most, replace=False).tolist())
        without = [without[place] for place in kept]
    return Pool("hallucination", label, tuple(without))


def by_key(audit: Audit) -> list[Sample]:
    """The samples in an order of their own, so that no draw depends on the data set's."""
    return sorted(audit.samples, key=lambda sample: sample.key)
