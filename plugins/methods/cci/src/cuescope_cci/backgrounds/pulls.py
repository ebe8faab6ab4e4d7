"""Which kinds of backgrounds pull answers to which class: what is tested, and the figures.

What the tests count of an image is how its background *moves* the answer. A mislabelled image or a
look-alike is answered alike with and without its background, so it moves nothing.
"""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain, islice

import numpy as np
from jaxtyping import Bool, Float, Int

from cuescope_sdk.statistics import (
    AssociationTests,
    DetectionLimit,
    Estimate,
    GroupedFeatures,
    Groups,
    mean_interval,
)

FEWEST = 3  # groups with and without a kind, and groups whose answers move: fewer prove nothing
OF_A_SIZE = 6  # groups of a label that are alike in size
MOST_SIZES = 4  # such parts of a label
# draws of what backgrounds add: the fewest, of many images and classes, and all
DEALT = (200, 1000)
MOST_NUMBERS = 200_000_000  # of all these draws
PLANTED = 12, 100  # planted pulls: fewest, most
PLANTED_DEALS = 64  # draws for each
MOST_PLANTED = 40_000_000  # numbers of all these draws
# so small that it decides nothing but ties
TIE = 1e-9

Codes = Int[np.ndarray, " image"]
Mask = Bool[np.ndarray, " image"]
KindMask = Bool[np.ndarray, "image kind"]
PerImage = Float[np.ndarray, " image"]
PerClass = Float[np.ndarray, "image class"]
Strata = Int[np.ndarray, " group"]


@dataclass(frozen=True, eq=False)
class Answers:
    """The logits of whole images and of the objects alone; minus infinity where is no such choice.

    What the background adds is their difference.
    """

    logits: PerClass
    objects: PerClass

    @cached_property
    def whole(self) -> Codes:
        """The class answered."""
        return np.asarray(self.logits.argmax(axis=1))

    @cached_property
    def by_object(self) -> Codes:
        """The class answered without the background."""
        return np.asarray(self.objects.argmax(axis=1))

    def moves(self) -> PerClass:
        """+1 for the class answered, -1 for the class answered without the background."""
        # an answer that the background does not change is +1 - 1 = 0
        unit = np.eye(self.logits.shape[1])
        return np.asarray(unit[self.whole] - unit[self.by_object])

    def turn(self, images: Mask, target: int) -> "Answers":
        """These images answered `target`, as surely as they were answered before."""
        logits = self.logits.copy()
        # an image that does not offer the target cannot be answered so
        images = images & (self.whole != target) & np.isfinite(logits[:, target])
        second, top = np.sort(logits, axis=1)[images, -2:].T
        # one choice alone has no second: its lead is infinite, and 1 logit stands for it
        sureness = np.where(np.isfinite(second), top - second, 1.0)
        # above the old answer, which stays as it was: at least by what breaks a tie
        logits[images, target] = top + np.maximum(sureness, TIE)
        return Answers(logits, self.objects)

    def without(self, images: Mask) -> "Answers":
        """These images answered as without their background, which then moves nothing."""
        return Answers(
            np.where(images[:, None], self.objects, self.logits), self.objects
        )

    def deals(self, groups: Groups, rng: np.random.Generator) -> Iterator[np.ndarray]:
        """The class of each image if what its background adds were dealt anew to the classes.

        Images of a group are dealt alike. What is added to a class in all images stays with it.
        """
        offered = np.isfinite(self.logits)
        nothing = np.zeros(offered.shape)
        added = np.subtract(self.logits, self.objects, where=offered, out=nothing)
        # what any background adds to a class is no pull of one kind
        common = added.sum(axis=0) / np.maximum(offered.sum(axis=0), 1)
        rest = added - np.where(offered, common, 0.0)
        base = self.objects + common
        # to each image its own choices, in their order
        choices = np.argsort(~offered, axis=1, kind="stable")
        dealt = np.empty_like(rest)
        shape = groups.count, rest.shape[1]
        while True:
            # by group: clips of one video share a background, and must be dealt alike
            luck = rng.random(shape)[groups.codes]
            # 2 is above any luck: choices that an image lacks stay behind
            order = np.where(offered, luck, 2.0).argsort(axis=1)
            shuffled = np.take_along_axis(rest, order, axis=1)
            np.put_along_axis(dealt, choices, shuffled, axis=1)
            yield (base + dealt).argmax(axis=1)


@dataclass(frozen=True, eq=False)
class Observed(GroupedFeatures):
    """What the tests are made of: the kinds of background of the images, and their answers.

    Only groups of one stratum are exchanged.
    """

    answers: Answers

    def weights(self) -> Float[np.ndarray, "image kind"]:
        """How much an answer counts for a kind: its group's share of it, less the stratum's."""
        sizes = np.bincount(self.groups.codes, minlength=self.groups.count)
        # centred within strata: a kind that is only more frequent with a label counts nothing
        return np.asarray((self.shares() / sizes[:, None])[self.groups.codes])


def strata_of(label: Codes, area: PerImage, groups: Groups) -> Strata:
    """Groups of the same labels whose objects are about as large: only these are exchanged."""
    profiles: dict[frozenset[int], list[int]] = defaultdict(list)
    for group, labels in enumerate(_labels_of_groups(label, groups)):
        profiles[labels].append(group)
    # TIE: an empty mask has no logarithm
    size = groups.means(np.log(np.maximum(area, TIE)))
    stratum = np.empty(groups.count, dtype=np.int64)
    count = 0
    for members in profiles.values():
        # parts of fewer than six groups would leave too little to exchange
        parts = int(np.clip(len(members) // OF_A_SIZE, 1, MOST_SIZES))
        stratum[members] = count + _size_parts(size[members], parts)
        count += parts
    return stratum


def _size_parts(
    size: Float[np.ndarray, " group"], parts: int
) -> Int[np.ndarray, " group"]:
    """Which of so many parts, about equally large, each is in: 0 has the smallest."""
    ordered = np.sort(size)
    # equals stay together, or the order of the data would make parts of them
    below = np.searchsorted(ordered, size, side="left")
    upto = np.searchsorted(ordered, size, side="right")
    return (below + upto) * parts // (2 * len(size))


def _labels_of_groups(label: Codes, groups: Groups) -> list[frozenset[int]]:
    labels: dict[int, set[int]] = defaultdict(set)
    for group, code in zip(groups.codes.tolist(), label.tolist(), strict=True):
        labels[group].add(code)
    return [frozenset(labels[group]) for group in range(groups.count)]


# ------------------------------------------------------------------------------------------ tests


def pull_tests(
    observed: Observed,
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
    first = observed.tests(observed.answers.moves(), rng, level=level, fewest=FEWEST)
    if (
        first.overall_q is None
        or min(first.overall_q, np.nanmin(first.q_value)) > level
    ):
        return first
    second = _favour_tests(observed, np.isfinite(first.p_value), rng, level)
    return replace(
        first,
        p_value=np.maximum(first.p_value, second.p_value),
        q_value=np.maximum(first.q_value, second.q_value),
        overall_p=max(first.overall_p or 0.0, second.overall_p or 0.0),
        overall_q=max(first.overall_q, second.overall_q or 0.0),
    )


def _favour_tests(
    observed: Observed,
    tested: Bool[np.ndarray, "kind class"],
    rng: np.random.Generator,
    level: float,
) -> AssociationTests:
    """Whether what backgrounds of a kind add favours a class: the second null of `pull_tests`."""
    answers = observed.answers
    kinds = tested.any(axis=1)
    classes = tested.any(axis=0)
    # pairs that the first null could not test are left out here as well
    cells = tested[kinds][:, classes]
    weights = observed.weights()[:, kinds].T
    unit = np.eye(tested.shape[1])[:, classes]
    # large data gets fewer draws: time and memory grow with all their numbers
    draws = int(np.clip(MOST_NUMBERS // answers.logits.size, *DEALT))
    dealt = islice(answers.deals(observed.groups, rng), draws)
    # What is answered without the background is the same in all draws, and needs no sum.
    sums = np.array(
        [(weights @ unit[whole])[cells] for whole in chain([answers.whole], dealt)]
    )
    return AssociationTests.of_sums(sums, tested, level=level)


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
    answered: Mask,
    present: Mask,
    label: Codes,
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
    # only labels with images on both sides: others have nothing to be held against
    here = present & np.isin(label, label[there])
    if not here.any():
        return None
    values = answered.astype(np.float64)
    # each side has its own groups: a clip may lie on one of them only
    groups_here = groups.take(here)
    groups_there = groups.take(there)
    share_here = Estimate.of_mean(values[here], groups_here, confidence=confidence)
    share_there = float(values @ weights)
    # A weighted share is the mean of answers that count for more or less than one.
    count = there.sum()
    counted = values * weights * count
    largest = float(weights.max() * count)
    ends_there = _ends(counted[there], largest, groups_there, confidence)
    difference = share_here.minus(Estimate(share_there, *ends_there))
    return Pull(
        value=difference.value,
        # two intervals joined may reach beyond what shares can differ by
        low=max(-1.0, float(difference.low)),
        high=min(1.0, float(difference.high)),
        here=share_here.value,
        elsewhere=share_there,
        images=int(here.sum()),
        few=groups_here.few or groups_there.few,
    )


def label_weights(present: Mask, label: Codes) -> PerImage:
    """Weights of the images without a kind that give them the labels of those with it; sum 1."""
    count = int(label.max(initial=-1)) + 1
    here = np.bincount(label[present], minlength=count)
    there = np.bincount(label[~present], minlength=count)
    # a label that always has this kind has no images to be weighted
    here[there == 0] = 0
    share = here / max(here.sum(), 1) / np.maximum(there, 1)
    return np.where(present, 0.0, share[label])


def _ends(
    values: PerImage,
    most: float,
    groups: Groups,
    confidence: float,
) -> tuple[float, float]:
    low, high = mean_interval(values, groups, bounds=(0.0, most), confidence=confidence)
    if low is None or high is None:
        raise ValueError("expected at least one image, got none")
    return low, high


# --------------------------------------------------------------------------- what could be missed


def smallest_pull(
    observed: Observed,
    kind: int,
    classes: Sequence[int],
    tests: AssociationTests,
    rng: np.random.Generator,
    *,
    level: float = 0.05,
) -> float | None:
    """The share of answers that a kind of background must turn into one class to be found.

    Planted in the audit's own answers: in a random share of the groups that show the kind, a random
    one of `classes` is answered, as surely as the answer that it replaces. Found is a pull for
    which both nulls of `pull_tests` are refused; `tests` are those of the audit. Of many draws
    8 of 10 find it; None where even turning all answers does not suffice.
    """
    # nothing was tested, so no limit can be told
    if tests.critical is None:
        return None
    second = _favour_tests(observed, np.isfinite(tests.p_value), rng, level)
    # the bars are those of this audit: they pay for all pairs that it tests
    field = _Field(observed, kind, tests.critical, second.critical or 0.0)
    count = MOST_PLANTED // (observed.answers.logits.size * PLANTED_DEALS)
    targets = rng.choice(classes, int(np.clip(count, *PLANTED)))
    return DetectionLimit.of_draws(
        [field.smallest_pull(target, rng) for target in targets.tolist()]
    )


class _Field:
    """Where pulls are planted: the images of a kind, and what each of the two nulls asks."""

    def __init__(
        self,
        observed: Observed,
        kind: int,
        association_bar: float,
        favour_bar: float,
    ) -> None:
        self.answers = observed.answers
        self.groups = observed.groups
        self.observed = replace(observed, present=observed.present[:, [kind]])
        self.shown = observed.present[:, kind]
        self.weight = self.observed.weights()[:, 0]
        self.association_bar = association_bar
        self.favour_bar = favour_bar

    def smallest_pull(self, target: int, rng: np.random.Generator) -> float:
        """The smallest share that one draw of a pull needs; infinite where none suffices."""
        luck = rng.random(self.groups.count)[self.groups.codes]
        # one seed for all shares: else the search would see noise as the share's effect
        seed = int(rng.integers(2**32))

        def plant(share: float) -> Answers:
            return self.answers.turn(self.shown & (luck < share), target)

        def favours(share: float) -> bool:
            return self._favours(plant(share), target, np.random.default_rng(seed))

        limit = DetectionLimit.bisect(
            lambda share: self._goes_together(plant(share), target)
        )
        # The second null costs much more, and is refused nearly always where the first one is.
        if np.isinf(limit) or favours(limit):
            return limit
        return DetectionLimit.bisect(lambda share: share >= limit and favours(share))

    def _goes_together(self, planted: Answers, target: int) -> bool:
        moves = planted.moves()[:, [target]]
        return bool(self.observed.strengths(moves) >= self.association_bar)

    def _favours(self, planted: Answers, target: int, rng: np.random.Generator) -> bool:
        deals = islice(planted.deals(self.groups, rng), PLANTED_DEALS)
        null = np.array([(dealt == target) @ self.weight for dealt in deals])
        gain = (planted.whole == target) @ self.weight - null.mean()
        # in units of its own spread, as the tests count it
        return bool(gain >= self.favour_bar * max(float(null.std()), TIE))
