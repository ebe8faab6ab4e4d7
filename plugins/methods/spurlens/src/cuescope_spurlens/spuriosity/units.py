"""What counts once: an image by itself, or all images of one source (`Sample.group`).

Ten clips of one video are no ten witnesses: the model errs on all of them or on none, and they
show the same things. So they are ranked as one, by the means over them, and go to a top or a
bottom together.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
from jaxtyping import Float

from cuescope_sdk import Audit, Sample
from cuescope_sdk.data import near_duplicate_groups
from cuescope_sdk.statistics import Groups
from cuescope_spurlens.spuriosity.detections import ImageSet
from cuescope_spurlens.spuriosity.shapes import IntSome


def unit_means(
    values: Float[np.ndarray, "row ..."], units: Groups
) -> Float[np.ndarray, "unit ..."]:
    """The mean over the rows of each unit."""
    sizes = np.bincount(units.codes, minlength=units.count)
    sums = units.sums(np.asarray(values, dtype=float))
    # turned, so that sizes divide the first axis, however many follow
    return np.asarray((sums.T / sizes).T)


def unit_rows(units: Groups, chosen: IntSome) -> list[int]:
    """The rows of some units, in the order of the units."""
    # sorted once: a search of all rows for each unit would take long in large sets
    order = np.argsort(units.codes, kind="stable")
    codes = units.codes[order]
    starts = np.searchsorted(codes, chosen).tolist()
    ends = np.searchsorted(codes, chosen, side="right").tolist()
    rows: list[int] = []
    for start, end in zip(starts, ends, strict=True):
        rows += order[start:end].tolist()
    return rows


def group_look_alikes(
    audit: Audit, image_sets: Sequence[ImageSet]
) -> tuple[list[ImageSet], Mapping[str, str]]:
    """The sets with images that look nearly alike as one group, and the groups of such images.

    Where any sample names its group these are all that counts.
    """
    # an image may be in several sets, and is compared once
    by_key: dict[str, Sample] = {}
    for images in image_sets:
        by_key.update((sample.key, sample) for sample in images.samples)
    # look-alikes are sought among neighbours, and keys keep sources together
    samples = [by_key[key] for key in sorted(by_key)]
    if Groups.of(samples).declared:
        return list(image_sets), {}
    labels = [str(sample.label) for sample in samples]
    # by their looks: two cameras at one scene are not found
    groups = near_duplicate_groups(samples, labels, audit.rng("look-alikes"))
    named = []
    for images in image_sets:
        shown = tuple(
            replace(sample, group=groups.get(sample.key)) for sample in images.samples
        )
        named.append(replace(images, samples=shown))
    return named, groups
