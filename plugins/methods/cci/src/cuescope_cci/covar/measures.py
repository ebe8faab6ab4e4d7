"""Shares and paired changes with intervals that draw whole sources: the benchmark's arithmetic."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Float

from cuescope_cci import scores
from cuescope_cci.covar.images import NONE, ORIGINAL, PLAIN, Codes, Images, Mask
from cuescope_cci.scores import MISSING, Figure
from cuescope_sdk.statistics import (
    Groups,
    change_interval,
    change_p_value,
    holm,
    mean_interval,
)

PerImage = Float[np.ndarray, " image"]
Figures = dict[str, Figure]


def share(holds: Mask, among: Mask, source: Groups) -> Figure:
    """The share of some images for which something holds."""
    return scores.share(holds[among], source.take(among))


def change(
    before: PerImage,
    after: PerImage,
    groups: Groups,
    rng: np.random.Generator | None = None,
) -> Figure:
    """The mean of after minus before, image by image, of figures from 0 to 1.

    It is tested against 0 where there is an `rng`.
    """
    if not len(before):
        return MISSING
    moved = after - before
    low, high = change_interval(moved, groups)
    # an interval alone where nothing is claimed: each test more costs the others power
    p_value = None if rng is None else change_p_value(moved, groups, rng)
    return Figure(float(moved.mean()), low, high, len(moved), groups.few, p_value)


def correct(rows: Mapping[str, Figures]) -> dict[str, Figures]:
    """The figures of all rows with q-values: any false star at all is rare (Holm, 1979)."""
    # all rows and columns at once: a reader looks for the stars of the whole table
    corrected = {}
    p_values = {}
    for row, figures in rows.items():
        corrected[row] = dict(figures)
        for column, figure in figures.items():
            if figure.p_value is not None:
                p_values[row, column] = figure.p_value
    q_values = holm(list(p_values.values()))
    for (row, column), q_value in zip(p_values, q_values, strict=True):
        corrected[row][column] = replace(rows[row][column], q_value=q_value)
    return corrected


# -------------------------------------------------------------------------- means over subsets


def by_source(
    values: PerImage,
    images: Images,
    subsets: Sequence[str],
    among: Mask,
) -> Float[np.ndarray, " source"]:
    """One number a source, whose mean is the mean over the subsets of the subsets' means.

    Of the images that are `among` some. A source with more images of a subset than others have
    counts for more there, as its images do.
    """
    codes = images.source.codes
    total = np.zeros(images.source.count)
    for name in subsets:
        member = among & images.of(name)
        sums = np.bincount(codes[member], weights=values[member], minlength=len(total))
        # subsets count alike, however many images a filter left of each
        total += sums / member.sum() / len(subsets)
    present = np.unique(codes[among])
    # scaled, so that the plain mean over sources is the mean over subsets
    return np.asarray(total[present] * len(present))


def average(right: Mask, images: Images) -> Figure:
    """The mean accuracy of the eight subsets (the last column of Table 3)."""
    subsets = images.subsets
    # without the photos: they are what the subsets are compared with
    values = by_source(right.astype(float), images, subsets, images.of(*subsets))
    groups = Groups.single(len(values))
    # a source with more images than others may count for more than 1
    bounds = (0.0, max(1.0, float(values.max())))
    low, high = mean_interval(values, groups, bounds=bounds)
    return Figure(float(values.mean()), low, high, len(images.samples), groups.few)


def average_change(
    before: Mask,
    after: Mask,
    images: Images,
    subsets: Sequence[str],
    rng: np.random.Generator,
) -> Figure:
    """The change of the mean accuracy of some subsets, source by source."""
    among = images.of(*subsets)
    first = by_source(before.astype(float), images, subsets, among)
    second = by_source(after.astype(float), images, subsets, among)
    return change(first, second, Groups.single(len(first)), rng)


# ------------------------------------------------------------------------------------- drops


def drop_from(
    right: Mask,
    among: Mask,
    beside: Codes,
    images: Images,
    rng: np.random.Generator | None = None,
) -> Figure:
    """What accuracy loses against the image `beside` each: positive is worse."""
    # where the image beside was flagged or never made there is nothing to subtract
    paired = among & (beside != NONE)
    values = right.astype(float)
    groups = images.source.take(paired)
    # from the variant to what it was made of: what is lost is positive
    return change(
        values[paired],
        values[beside[paired]],
        groups,
        rng,
    )


def subset_drops(right: Mask, images: Images, rng: np.random.Generator) -> Figures:
    """What other backgrounds cost against the photo, and each variant against its own background.

    Figure 7, paired by source and background.
    """
    drops = {}
    for name in images.subsets:
        # each variant changes one thing more than the same object before the same background
        beside = images.original if name == PLAIN else images.plain
        drops[name] = drop_from(right, images.of(name), beside, images, rng)
    return drops


@dataclass(frozen=True)
class ClassDrops:
    """One class, or all: accuracy on the photos, and what each subset costs against them.

    `mean` is over the subsets.
    """

    name: str
    photos: Figure
    drops: Figures
    mean: Figure


def class_drops(
    right: Mask,
    images: Images,
    label: str | None,
    rng: np.random.Generator,
) -> ClassDrops:
    """Figures 6, 8 and 20: a class on every subset against its photos (None: all classes)."""
    of_class = np.ones(len(right), dtype=bool)
    if label is not None:
        of_class = images.label == images.labels.index(label)
    drops = {}
    for name in images.subsets:
        drops[name] = drop_from(
            right, of_class & images.of(name), images.original, images, rng
        )
    measured = [name for name, drop in drops.items() if drop.value is not None]
    return ClassDrops(
        name=label or "all classes",
        photos=share(right, of_class & images.of(ORIGINAL), images.source),
        drops=drops,
        mean=_mean_drop(right, of_class, measured, images),
    )


def _mean_drop(
    right: Mask,
    of_class: Mask,
    subsets: Sequence[str],
    images: Images,
) -> Figure:
    """The mean drop over subsets: each source's own, weighted so that the mean is that of all."""
    paired = of_class & (images.original != NONE)
    if not subsets:
        return MISSING
    values = right.astype(float)
    lost = by_source(values[images.original] - values, images, subsets, paired)
    # before: nothing lost, so the mean change is the mean loss
    return change(np.zeros(len(lost)), lost, Groups.single(len(lost)))


def correct_classes(classes: Sequence[ClassDrops]) -> list[ClassDrops]:
    """The same with q-values, over all classes and subsets."""
    corrected = correct({of_class.name: of_class.drops for of_class in classes})
    return [replace(of_class, drops=corrected[of_class.name]) for of_class in classes]
