"""Which kinds of backgrounds pull answers to which class: what is tested, and the figures.

What the tests count of an image is how its background *moves* the answer. A mislabelled image or a
look-alike is answered alike with and without its background, so it moves nothing.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain, islice

import numpy as np
from jaxtyping import Bool, Float, Int

from cuescope_sdk.statistics import (
    AssociationTests,
    Groups,
    association,
    association_tests,
    centre,
    detectable,
    difference_interval,
    even_parts,
    group_means,
    mean_interval,
    smallest_effect,
    tests_of_draws,
)

FEWEST = 3  # groups with and without a kind, and groups whose answers move: fewer prove nothing
OF_A_SIZE, MOST_SIZES = 6, 4  # groups of a label that are alike in size, and how many such parts
DEALT = 200, 1000  # draws of what backgrounds add: the fewest, of many images and classes, and all
MOST_NUMBERS = 200_000_000  # of all these draws
PLANTED, PLANTED_DEALS = (12, 100), 64  # planted pulls (fewest, most), draws for each
MOST_PLANTED = 40_000_000  # numbers of all these draws
TIE = 1e-9


@dataclass(frozen=True, eq=False)
class Answers:
    """The logits of whole images and of the objects alone; minus infinity where is no such choice.

    What the background adds is their difference.
    """

    logits: Float[np.ndarray, "image class"]
    objects: Float[np.ndarray, "image class"]

    @property
    def whole(self) -> Int[np.ndarray, " image"]:
        """The class answered."""
        return np.asarray(self.logits.argmax(axis=1))

    @property
    def by_object(self) -> Int[np.ndarray, " image"]:
        """The class answered without the background."""
        return np.asarray(self.objects.argmax(axis=1))

    def moves(self) -> Float[np.ndarray, "image class"]:
        """+1 for the class answered, -1 for the class answered without the background."""
        unit = np.eye(self.logits.shape[1])
        return np.asarray(unit[self.whole] - unit[self.by_object])

    def turn(self, images: Bool[np.ndarray, " image"], target: int) -> "Answers":
        """These images answered `target`, as surely as they were answered before."""
        logits = self.logits.copy()
        images = images & (self.whole != target) & np.isfinite(logits[:, target])
        top = np.sort(logits, axis=1)[:, -2:]
        sureness = np.where(np.isfinite(top[:, 0]), top[:, 1] - top[:, 0], 1.0)
        logits[images, target] = top[images, 1] + np.maximum(sureness[images], TIE)
        return Answers(logits, self.objects)

    def deals(self, groups: Groups, rng: np.random.Generator) -> Iterator[np.ndarray]:
        """The class of each image if what its background adds were dealt anew to the classes.

        Images of a group are dealt alike. What is added to a class in all images stays with it.
        """
        known, shape = np.isfinite(self.logits), (groups.count, self.logits.shape[1])
        added = np.subtract(self.logits, self.objects, where=known, out=np.zeros(known.shape))
        common = added.sum(axis=0) / np.maximum(known.sum(axis=0), 1)
        rest, base = added - np.where(known, common, 0.0), self.objects + common
        # to each image its own choices, in their order
        places = np.argsort(~known, axis=1, kind="stable")
        dealt = np.empty_like(rest)
        while True:
            order = np.where(known, rng.random(shape)[groups.codes], 2.0).argsort(axis=1)
            np.put_along_axis(dealt, places, np.take_along_axis(rest, order, axis=1), axis=1)
            yield (base + dealt).argmax(axis=1)


def strata_of(
    label: Int[np.ndarray, " image"], area: Float[np.ndarray, " image"], groups: Groups
) -> Int[np.ndarray, " group"]:
    """Groups of the same labels whose objects are about as large: only these are exchanged."""
    profiles: dict[tuple[int, ...], list[int]] = {}
    for group, labels in enumerate(_labels_of_groups(label, groups)):
        profiles.setdefault(labels, []).append(group)
    size = group_means(np.log(np.maximum(area, TIE))[:, None], groups)[:, 0]
    stratum, count = np.empty(groups.count, dtype=np.int64), 0
    for members in map(np.array, profiles.values()):
        parts = int(np.clip(len(members) // OF_A_SIZE, 1, MOST_SIZES))
        stratum[members] = count + even_parts(size[members], parts)
        count += parts
    return stratum


def _labels_of_groups(label: Int[np.ndarray, " image"], groups: Groups) -> list[tuple[int, ...]]:
    labels: list[set[int]] = [set() for _ in range(groups.count)]
    for group, own in zip(groups.codes.tolist(), label.tolist(), strict=True):
        labels[group].add(own)
    return [tuple(sorted(own)) for own in labels]


def groups_of_several_labels(label: Int[np.ndarray, " image"], groups: Groups) -> int:
    """How many groups have images of more than one label."""
    return sum(len(labels) > 1 for labels in _labels_of_groups(label, groups))


# ------------------------------------------------------------------------------------------ tests


def pull_tests(
    answers: Answers,
    present: Bool[np.ndarray, "image kind"],
    stratum: Int[np.ndarray, " group"],
    groups: Groups,
    rng: np.random.Generator,
    *,
    level: float = 0.05,
) -> AssociationTests:
    """Whether answers are moved to a class where the background is of a kind, more than elsewhere.

    Two nulls, and both must be refused, so the larger p-value counts (Berger, 1982). The first:
    within a stratum (label and size of the object), a group's background could have been any other
    group's. The second: what a group's backgrounds add to the logits could as well be added to any
    other classes. Backgrounds may then disturb as they like, some kinds more than others. Where
    the first is not refused at `level`, the second is not tried.
    """
    moves = answers.moves()
    first = association_tests(moves, present, stratum, groups, rng, level=level, fewest=FEWEST)
    if first.overall_q is None or min(first.overall_q, np.nanmin(first.q_value)) > level:
        return first
    tested = np.isfinite(first.p_value)
    second = _favour_tests(answers, present, stratum, groups, tested, rng, level)
    return replace(
        first,
        p_value=np.maximum(first.p_value, second.p_value),
        q_value=np.maximum(first.q_value, second.q_value),
        overall_p=max(first.overall_p or 0.0, second.overall_p or 0.0),
        overall_q=max(first.overall_q, second.overall_q or 0.0),
    )


def _favour_tests(
    answers: Answers,
    present: Bool[np.ndarray, "image kind"],
    stratum: Int[np.ndarray, " group"],
    groups: Groups,
    tested: Bool[np.ndarray, "kind class"],
    rng: np.random.Generator,
    level: float,
) -> AssociationTests:
    """Whether what backgrounds of a kind add favours a class: the second null of `pull_tests`."""
    kinds, classes = tested.any(axis=1), tested.any(axis=0)
    of_image = _kind_weights(present[:, kinds], stratum, groups)
    unit = np.eye(tested.shape[1])[:, classes]
    draws = int(np.clip(MOST_NUMBERS // answers.logits.size, *DEALT))
    # What is answered without the background is the same in all draws, and needs no sum.
    every = chain([answers.whole], islice(answers.deals(groups, rng), draws))
    cells = tested[kinds][:, classes]
    found = np.array([(of_image @ unit[whole])[cells] for whole in every])
    found = (found - found.mean(axis=0)) / np.maximum(found.std(axis=0), TIE)
    return tests_of_draws(found, tested, level=level)


def _kind_weights(
    present: Bool[np.ndarray, "image kind"], stratum: Int[np.ndarray, " group"], groups: Groups
) -> Float[np.ndarray, "kind image"]:
    """How much an image's answer counts for a kind: its group's share of it, less the stratum's."""
    sizes = np.bincount(groups.codes, minlength=groups.count)
    kind = centre(group_means(present, groups), stratum) / sizes[:, None]
    return np.asarray(kind[groups.codes].T)


# ---------------------------------------------------------------------------------------- figures


@dataclass(frozen=True)
class Pull:
    """How much more often a class is answered before a kind of background than elsewhere.

    `value` is `here`, the share of the images that show it, less `elsewhere`, that of other images
    of the same labels. `few` says that there are too few groups for the interval to be trusted.
    """

    value: float
    low: float
    high: float
    here: float
    elsewhere: float
    images: int
    few: bool


def pull(
    answered: Bool[np.ndarray, " image"],
    present: Bool[np.ndarray, " image"],
    label: Int[np.ndarray, " image"],
    groups: Groups,
    *,
    confidence: float = 0.95,
) -> Pull | None:
    """The pull to one class, with its interval; None where no label has images with and without.

    Both shares have an interval that holds for groups; they are joined as Zou and Donner (2008)
    do. Elsewhere is weighted to the labels that the kind of background has.
    """
    weights = label_weights(present, label)
    there = weights > 0
    here = present & np.isin(label, label[there])
    if not here.any():
        return None
    values = answered.astype(np.float64)
    low, high = _bounds(values[here], 1.0, groups.take(here), confidence)
    # A weighted share is the mean of answers that count for more or less than one.
    counted = values * weights * there.sum()
    most = float(weights.max() * there.sum())
    other_low, other_high = _bounds(counted[there], most, groups.take(there), confidence)
    mean, other = float(values[here].mean()), float(values @ weights)
    least, largest = difference_interval((mean, low, high), (other, other_low, other_high))
    return Pull(
        value=mean - other,
        low=max(-1.0, least),
        high=min(1.0, largest),
        here=mean,
        elsewhere=other,
        images=int(here.sum()),
        few=groups.take(here).few or groups.take(there).few,
    )


def label_weights(
    present: Bool[np.ndarray, " image"], label: Int[np.ndarray, " image"]
) -> Float[np.ndarray, " image"]:
    """Weights of the images without a kind that give them the labels of those with it; sum 1."""
    count = int(label.max(initial=-1)) + 1
    here, there = (np.bincount(label[side], minlength=count) for side in (present, ~present))
    both = (here > 0) & (there > 0)
    total = here[both].sum()
    share = np.where(both, here / max(total, 1), 0.0) / np.maximum(there, 1)
    return np.where(present, 0.0, share[label])


def _bounds(
    values: Float[np.ndarray, " image"], most: float, groups: Groups, confidence: float
) -> tuple[float, float]:
    low, high = mean_interval(values, groups, bounds=(0.0, most), confidence=confidence)
    if low is None or high is None:
        raise ValueError("expected at least one image, got none")
    return low, high


# --------------------------------------------------------------------------- what could be missed


def smallest_pull(
    answers: Answers,
    present: Bool[np.ndarray, "image kind"],
    kind: int,
    stratum: Int[np.ndarray, " group"],
    groups: Groups,
    classes: Sequence[int],
    tests: AssociationTests,
    rng: np.random.Generator,
    *,
    level: float = 0.05,
    power: float = 0.8,
) -> float | None:
    """The share of answers that a kind of background must turn into one class to be found.

    Planted in the audit's own answers: in a random share of the groups that show the kind, a random
    one of `classes` is answered, as surely as the answer that it replaces. Found is a pull for
    which both nulls of `pull_tests` are refused; `tests` are those of the audit. Of many draws
    `power` find it; None where even turning all answers does not suffice.
    """
    if tests.critical is None:
        return None
    tested = np.isfinite(tests.p_value)
    second = _favour_tests(answers, present, stratum, groups, tested, rng, level)
    weight = _kind_weights(present[:, [kind]], stratum, groups)[0]
    bars = tests.critical, second.critical or 0.0
    field = _Field(answers, present[:, kind], weight, stratum, groups, bars)
    count = MOST_PLANTED // (answers.logits.size * PLANTED_DEALS)
    targets = rng.choice(classes, int(np.clip(count, *PLANTED)))
    return detectable([field.smallest_pull(target, rng) for target in targets.tolist()], power)


@dataclass(frozen=True, eq=False)
class _Field:
    """Where pulls are planted: the images of a kind, and what the two nulls ask (`bars`)."""

    answers: Answers
    shown: Bool[np.ndarray, " image"]
    weight: Float[np.ndarray, " image"]
    stratum: Int[np.ndarray, " group"]
    groups: Groups
    bars: tuple[float, float]

    def smallest_pull(self, target: int, rng: np.random.Generator) -> float:
        """The smallest share that one draw of a pull needs; infinite where none suffices."""
        luck, seed = rng.random(self.groups.count)[self.groups.codes], int(rng.integers(2**32))

        def planted(share: float) -> Answers:
            return self.answers.turn(self.shown & (luck < share), target)

        def favours(share: float) -> bool:
            return self._favours(planted(share), target, np.random.default_rng(seed))

        limit = smallest_effect(lambda share: self._goes_together(planted(share), target))
        # The second null costs much more, and is refused nearly always where the first one is.
        if np.isinf(limit) or favours(limit):
            return limit
        return smallest_effect(lambda share: share >= limit and favours(share))

    def _goes_together(self, planted: Answers, target: int) -> bool:
        moves = 1.0 * (planted.whole == target) - (planted.by_object == target)
        found = association(moves[:, None], self.shown[:, None], self.stratum, self.groups)
        return bool(found[0, 0] >= self.bars[0])

    def _favours(self, planted: Answers, target: int, rng: np.random.Generator) -> bool:
        deals = islice(planted.deals(self.groups, rng), PLANTED_DEALS)
        null = np.array([(dealt == target) @ self.weight for dealt in deals])
        found = (planted.whole == target) @ self.weight - null.mean()
        return bool(found >= self.bars[1] * max(float(null.std()), TIE))
