"""Shares and paired changes with intervals that draw whole sources: the benchmark's arithmetic."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Bool, Float, Int

from cuescope_cci.covar.images import NONE, ORIGINAL, PLAIN, Images
from cuescope_sdk.statistics import (
    FEW,
    Groups,
    bca_interval,
    change_interval,
    change_p_value,
    holm,
    mean_interval,
)

LEVEL = 0.05  # of what gets a star, corrected


@dataclass(frozen=True)
class Figure:
    """A share or a change between two, with its interval and its p-value; None where unknown.

    `few` says that fewer than 20 sources stand behind it. `q_value` is corrected for all that is
    tried together.
    """

    value: float | None = None
    low: float | None = None
    high: float | None = None
    images: int = 0
    few: bool = False
    p_value: float | None = None
    q_value: float | None = None

    @property
    def star(self) -> bool:
        """Whether it differs from 0 after correction; never where its interval holds 0."""
        if self.q_value is None or self.low is None or self.high is None:
            return False
        return self.q_value <= LEVEL and not self.low <= 0 <= self.high


MISSING = Figure()


def share(
    holds: Bool[np.ndarray, " image"], among: Bool[np.ndarray, " image"], source: Groups
) -> Figure:
    """The share of some images for which something holds."""
    values = holds[among].astype(np.float64)
    if not len(values):
        return MISSING
    groups = source.take(among)
    low, high = mean_interval(values, groups)
    return Figure(float(values.mean()), low, high, len(values), groups.few)


def change(
    before: Float[np.ndarray, " image"],
    after: Float[np.ndarray, " image"],
    groups: Groups,
    rng: np.random.Generator | None = None,
    *,
    confidence: float = 0.95,
) -> Figure:
    """The mean of after minus before, image by image, of figures from 0 to 1.

    It is tested against 0 where there is an `rng`.
    """
    if not len(before):
        return MISSING
    moved = after - before
    low, high = change_interval(moved, groups, confidence=confidence)
    p_value = None if rng is None else change_p_value(moved, groups, rng)
    return Figure(float(moved.mean()), low, high, len(moved), groups.few, p_value)


def correct(figures: Mapping[tuple[str, ...], Figure]) -> dict[tuple[str, ...], Figure]:
    """The figures with q-values: any false star at all is rare (Holm, 1979)."""
    tried = [key for key, figure in figures.items() if figure.p_value is not None]
    q_values = holm([p for key in tried if (p := figures[key].p_value) is not None])
    known = dict(zip(tried, q_values, strict=True))
    return {
        key: replace(figure, q_value=known[key]) if key in known else figure
        for key, figure in figures.items()
    }


# -------------------------------------------------------------------------- means over subsets


def by_source(
    values: Float[np.ndarray, " image"], images: Images, subsets: Sequence[str]
) -> Float[np.ndarray, " source"]:
    """One number a source, whose mean is the mean over the subsets of the subsets' means.

    A source with more images of a subset than others have counts for more there, as its images do.
    NaN for a source that has none.
    """
    count = images.source.count
    total = np.zeros(count)
    present = np.zeros(count, dtype=bool)
    for name in subsets:
        member = images.of(name)
        codes = images.source.codes[member]
        sums = np.bincount(codes, weights=values[member], minlength=count)
        total += sums / member.sum() / len(subsets)
        present[codes] = True
    return np.where(present, total * present.sum(), np.nan)


def average(right: Bool[np.ndarray, " image"], images: Images) -> Figure:
    """The mean accuracy of the eight subsets (the last column of Table 3)."""
    values = by_source(right.astype(np.float64), images, images.subsets)
    values = values[~np.isnan(values)]
    groups = Groups.single(len(values))
    # a source with more images than others may count for more than 1
    bounds = (0.0, max(1.0, float(values.max())))
    low, high = mean_interval(values, groups, bounds=bounds)
    return Figure(float(values.mean()), low, high, len(images.samples), groups.count < FEW)


def average_change(
    before: Bool[np.ndarray, " image"],
    after: Bool[np.ndarray, " image"],
    images: Images,
    subsets: Sequence[str],
    rng: np.random.Generator,
) -> Figure:
    """The change of the mean accuracy of some subsets, source by source."""
    pair = [by_source(side.astype(np.float64), images, subsets) for side in (before, after)]
    known = ~np.isnan(pair[0])
    first, second = (side[known] for side in pair)
    return change(first, second, Groups.single(int(known.sum())), rng)


# ------------------------------------------------------------------------------------- drops


def drop_from(
    right: Bool[np.ndarray, " image"],
    among: Bool[np.ndarray, " image"],
    beside: Int[np.ndarray, " image"],
    images: Images,
    rng: np.random.Generator | None = None,
    *,
    confidence: float = 0.95,
) -> Figure:
    """What accuracy loses against the image `beside` each: positive is worse."""
    paired = among & (beside != NONE)
    values = right.astype(np.float64)
    groups = images.source.take(paired)
    # from the variant to what it was made of: what is lost is positive
    return change(values[paired], values[beside[paired]], groups, rng, confidence=confidence)


def subset_drops(
    right: Bool[np.ndarray, " image"], images: Images, rng: np.random.Generator
) -> dict[str, Figure]:
    """What other backgrounds cost against the photo, and each variant against its own background.

    Figure 7, paired by source and background.
    """
    drops = {}
    for name in images.subsets:
        beside = images.original if name == PLAIN else images.plain
        drops[name] = drop_from(right, images.of(name), beside, images, rng)
    return drops


@dataclass(frozen=True)
class ClassDrops:
    """One class, or all: accuracy on the photos, and what each subset costs against them.

    `mean` is over the subsets; `worst` names the subset of the largest drop, whose interval is wide
    enough for the largest of so many.
    """

    name: str
    photos: Figure
    drops: dict[str, Figure]
    mean: Figure
    worst: tuple[str, Figure] | None


def class_drops(
    right: Bool[np.ndarray, " image"], images: Images, label: str | None, rng: np.random.Generator
) -> ClassDrops:
    """Figures 6, 8 and 20: a class on every subset against its photos (None: all classes)."""
    of_class = np.ones(len(right), dtype=bool)
    if label is not None:
        of_class = images.label == images.labels.index(label)
    against = images.original
    drops = {
        name: drop_from(right, of_class & images.of(name), against, images, rng)
        for name in images.subsets
    }
    known = {name: drop for name, drop in drops.items() if drop.value is not None}
    worst = None
    if known:
        name = max(known, key=lambda name: known[name].value or 0.0)
        level = 1 - 0.05 / len(known)
        among = of_class & images.of(name)
        worst = name, drop_from(right, among, against, images, confidence=level)
    return ClassDrops(
        name=label or "all classes",
        photos=share(right, of_class & images.of(ORIGINAL), images.source),
        drops=drops,
        mean=_mean_drop(right, of_class, list(known), images),
        worst=worst,
    )


def _mean_drop(
    right: Bool[np.ndarray, " image"],
    of_class: Bool[np.ndarray, " image"],
    subsets: Sequence[str],
    images: Images,
) -> Figure:
    """The mean drop over subsets: each source's own, weighted so that the mean is that of all."""
    paired = of_class & (images.original != NONE)
    if not subsets or not paired.any():
        return MISSING
    count = images.source.count
    lost = np.zeros(count)
    values = right.astype(np.float64)
    loss = np.where(paired, values[images.original] - values, 0.0)
    for name in subsets:
        member = paired & images.of(name)
        sums = np.bincount(images.source.codes[member], weights=loss[member], minlength=count)
        lost += sums / member.sum() / len(subsets)
    own = np.unique(images.source.codes[paired])
    per_source = lost[own] * len(own)
    nothing = np.zeros(len(own))
    return change(nothing, per_source, Groups.single(len(own)))


def correct_classes(classes: Sequence[ClassDrops]) -> list[ClassDrops]:
    """The same with q-values, over all classes and subsets."""
    known = correct({(own.name, s): drop for own in classes for s, drop in own.drops.items()})
    return [
        replace(own, drops={subset: known[own.name, subset] for subset in own.drops})
        for own in classes
    ]


# ------------------------------------------------------------------------------ between models


def ratio_difference(
    first: tuple[Bool[np.ndarray, " image"], Bool[np.ndarray, " image"]],
    second: tuple[Bool[np.ndarray, " image"], Bool[np.ndarray, " image"]],
    source: Groups,
    rng: np.random.Generator,
) -> Figure:
    """The second share less the first, each (holds, among) of its own images; sources are drawn."""
    sums = [source.sums(side.astype(np.float64)) for pair in (first, second) for side in pair]

    def difference(drawn: Int[np.ndarray, " source"]) -> float | None:
        a, of_a, b, of_b = (float(each[drawn].sum()) for each in sums)
        return b / of_b - a / of_a if of_a and of_b else None

    everyone = Groups.single(source.count)
    value = difference(np.arange(source.count))
    ends = bca_interval(difference, everyone, rng) if value is not None else None
    if value is None or ends is None:
        return MISSING
    images = int((first[1] | second[1]).sum())
    return Figure(value, *ends, images, everyone.count < FEW)
