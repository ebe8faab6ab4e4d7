"""What an audit knows of its backgrounds: kinds, pulls to a class, size, and chance."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from cuescope_cci.backgrounds.kinds import follows_size
from cuescope_cci.backgrounds.pulls import (
    Answers,
    Codes,
    KindMask,
    Mask,
    Observed,
    PerImage,
    Pull,
    groups_of_several_labels,
    pull,
    pull_tests,
    smallest_pull,
    strata_of,
)
from cuescope_cci.backgrounds.things import ThingsBeside, things_beside
from cuescope_cci.error_source import (
    BACKGROUND,
    Factor,
    Sources,
    areas,
    distinct,
    groups_of,
    tested_sources,
    varying_factors,
)
from cuescope_cci.options import CCIOptions
from cuescope_sdk import Audit
from cuescope_sdk.statistics import (
    AssociationTests,
    Groups,
    Permutation,
    excluded_by_test,
    gap_p_values,
)

CHANCE_P = 0.05


@dataclass(frozen=True, eq=False)
class PullRow:
    """A kind of background (a feature) and a class: how far it pulls answers there.

    Of `images` that show it `answered` are answered so, `moved` of them only with the background;
    `turned` is the share of answers that the background turns to the class on balance.
    `alone` is how much more often the background alone is answered so; `alone_p` its p-value, which
    is known for models that are no better than chance. In `beside` of the moved ones a thing of the
    class is on screen, and `apart_q` is the q-value without these.
    """

    feature: str
    label: str
    images: int
    answered: int
    moved: int
    turned: float
    pull: Pull
    p_value: float
    q_value: float
    alone: Pull
    alone_p: float | None
    beside: int = 0
    apart_q: float = 0.0


@dataclass(frozen=True, eq=False)
class Backgrounds:
    """Everything that is tested of the backgrounds of an audit; None where nothing could be.

    `tests` are of all kinds and classes, `apart_tests` the same where answers that are read from a
    thing beside the object count as not moved, `overall_alone_p` of the backgrounds alone.
    `size_p` is of wrong answers that go with small objects, `size_factors` are annotations of that
    size. `classes` are codes of true labels.
    """

    sources: Sources
    rows: Sequence[PullRow]
    chance: float
    chance_p: float
    overall_alone_p: float | None
    size_p: float | None
    size_factors: Sequence[str]
    mixed_groups: int
    classes: Sequence[int]
    observed: Observed
    tests: AssociationTests
    things: ThingsBeside
    apart_tests: AssociationTests

    @property
    def rows_by_pair(self) -> dict[tuple[str, str], PullRow]:
        """The rows by feature and label."""
        return {(row.feature, row.label): row for row in self.rows}

    @property
    def better_than_chance(self) -> bool:
        """Whether the model is right more often than its own answers dealt out at random."""
        return self.chance_p <= CHANCE_P


def measure_backgrounds(
    audit: Audit,
    options: CCIOptions,
    sources: Sources,
) -> Backgrounds | None:
    """The tests of an audit. For `audit.once`. None without images that can be tested."""
    # without answers to both parts an image cannot show what its background moves
    tested = tested_sources(sources)
    if not tested:
        return None
    images = _Images.of(tested)
    factors = varying_factors(tested)
    # a factor of size would find small objects, which is no cue of the background
    size_factors = [
        name for name in sorted(factors) if follows_size(factors[name], images.area)
    ]
    kinds, present = _kinds(factors, size_factors, len(tested))
    stratum = strata_of(images.label, images.area, images.groups)
    answers = _answers(tested, images.number)
    observed = Observed(present, stratum, images.groups, answers)
    level = options.fdr
    tests = pull_tests(observed, audit.rng("pulls"), level=level)
    things = things_beside(audit, tested)
    apart_tests = tests
    # where nothing could be found anyway, nothing is asked twice
    if things.beside.any() and _anything_found(tests, level):
        apart = replace(observed, answers=answers.without(things.beside))
        apart_tests = pull_tests(apart, audit.rng("pulls"), level=level)
    chance, chance_p = Permutation.chance_accuracy(
        answers.whole, images.label, images.groups, audit.rng("chance")
    )
    alone_tests = None
    if chance_p > CHANCE_P:  # only then they are asked for
        # all answers, not only moved ones: alone, the background has nothing to move
        said = np.eye(len(images.number))[images.alone]
        alone_tests = observed.tests(said, audit.rng("alone"))
    pulls = _Pulls(
        images,
        kinds,
        observed,
        tests,
        alone_tests,
        things,
        apart_tests,
        options.confidence,
    )
    rows = [pulls.row(kind, target) for kind, target in _pairs_of_report(tests, level)]
    right = answers.whole == images.label
    return Backgrounds(
        sources=tested,
        rows=[row for row in rows if row is not None],
        chance=chance,
        chance_p=chance_p,
        overall_alone_p=None if alone_tests is None else alone_tests.overall_p,
        size_p=_size_p_value(right, images, audit.rng("size")),
        size_factors=size_factors,
        mixed_groups=groups_of_several_labels(images.label, images.groups),
        classes=np.unique(images.label).tolist(),
        observed=observed,
        tests=tests,
        things=things,
        apart_tests=apart_tests,
    )


@dataclass(frozen=True, eq=False)
class _Images:
    """What is known of each image before its answers are looked at.

    `number` is the code of each choice, in order of first sight: images may offer different ones.
    `label` has the code of the true one, `area` the share of the object, `alone` the code of what
    the background alone is answered.
    """

    number: Mapping[str, int]
    label: Codes
    area: PerImage
    groups: Groups
    alone: Codes

    @classmethod
    def of(cls, sources: Sources) -> "_Images":
        """Of sources that were asked about both parts."""
        number: dict[str, int] = {}
        for source in sources:
            for choice in source.sample.choices:
                number.setdefault(choice, len(number))
        return cls(
            number,
            np.array([number[source.classes[0]] for source in sources]),
            areas(sources),
            groups_of(sources),
            np.array([number[str(source.background_answer)] for source in sources]),
        )


@dataclass(frozen=True, eq=False)
class _Pulls:
    """All that is tested of kinds of backgrounds and classes; see `Backgrounds`."""

    images: _Images
    kinds: Sequence[str]
    observed: Observed
    tests: AssociationTests
    alone_tests: AssociationTests | None
    things: ThingsBeside
    apart_tests: AssociationTests
    confidence: float

    def row(self, kind: int, target: int) -> PullRow | None:
        """What a report says of a pair; None where a kind has no other to compare with."""
        answers = self.observed.answers
        p_value = float(self.tests.p_value[kind, target])
        whole = self._pull(answers.whole, kind, target)
        alone = self._pull(self.images.alone, kind, target)
        if whole is None or alone is None:
            return None
        # what the test excludes, the interval beside it excludes too
        [excluded] = excluded_by_test(
            np.array([whole.value]),
            np.array([p_value]),
            np.array([self.confidence]),
        )
        shown = self.observed.present[:, kind]
        is_answered = answers.whole[shown] == target
        turns = is_answered - 1.0 * (answers.by_object[shown] == target)
        is_moved = turns > 0
        alone_tests = self.alone_tests
        apart_q = self.apart_tests.q_value[kind, target]
        return PullRow(
            feature=self.kinds[kind],
            label=list(self.images.number)[target],
            images=int(shown.sum()),
            answered=int(is_answered.sum()),
            moved=int(is_moved.sum()),
            turned=float(turns.mean()),
            pull=replace(whole, low=max(whole.low, float(excluded))),
            p_value=p_value,
            q_value=float(self.tests.q_value[kind, target]),
            alone=alone,
            alone_p=None if alone_tests is None else alone_tests.p_of(kind, target),
            beside=int(self.things.beside[shown][is_moved].sum()),
            # 1: too few answers are left for a test
            apart_q=float(np.nan_to_num(apart_q, nan=1.0)),
        )

    def _pull(self, said: Codes, kind: int, target: int) -> Pull | None:
        return pull(
            said == target,
            self.observed.present[:, kind],
            self.images.label,
            self.images.groups,
            confidence=self.confidence,
        )


def _anything_found(tests: AssociationTests, level: float) -> bool:
    """Whether all pairs together, or any of them, pass."""
    if tests.overall_q is None:
        return False
    return bool(min(tests.overall_q, np.nanmin(tests.q_value)) <= level)


def _answers(sources: Sources, number: Mapping[str, int]) -> Answers:
    """The logits of all images over all choices."""
    shape = len(sources), len(number)
    # minus infinity: a choice that an image was not offered can never be its answer
    answers = Answers(np.full(shape, -np.inf), np.full(shape, -np.inf))
    for index, source in enumerate(sources):
        if source.apart is not None:
            choices = [number[choice] for choice in source.sample.choices]
            answers.logits[index, choices] = source.logits
            answers.objects[index, choices] = source.apart.objects
    return answers


def _kinds(
    factors: Mapping[str, Factor],
    left_out: Collection[str],
    images: int,
) -> tuple[list[str], KindMask]:
    """The features that are kinds of backgrounds, and which images show each."""
    kinds = []
    columns = []
    for name in sorted(factors.keys() - left_out):
        factor = factors[name]
        for value in distinct(factor):
            kinds.append(f"{BACKGROUND}|{name}={value}")
            columns.append(np.array(factor) == value)
    # reshape: without any kind an empty list would have no image axis
    present = np.array(columns, dtype=bool).reshape(-1, images)
    return kinds, present.T


def _pairs_of_report(tests: AssociationTests, level: float) -> list[tuple[int, int]]:
    """The pairs that a report has a row of: what is found, and the strongest of each kind."""
    shown = tests.q_value <= level
    for kind, p_values in enumerate(tests.p_value):
        if np.isfinite(p_values).any():
            # a kind without a finding is shown too: else it would look untested
            shown[kind, np.nanargmin(p_values)] = True
    return [(kind, target) for kind, target in np.argwhere(shown).tolist()]


def _size_p_value(right: Mask, images: _Images, rng: np.random.Generator) -> float:
    """That answers are no more often wrong where the object is smaller than its label's median."""
    # within a label: a class of small things may be hard for other reasons
    small = is_small(images.area, images.label)[:, None]
    [p_value] = gap_p_values(
        right.astype(float),
        small,
        images.groups,
        rng,
        strata=images.label,
        draws=9_999,
    )
    return float(p_value)


def is_small(area: PerImage, label: Codes) -> Mask:
    """Whether the objects are smaller than the median of their label."""
    small = np.zeros(len(area), dtype=bool)
    for code in np.unique(label):
        of_label = label == code
        # <: where all are equal none is small, and nothing is compared
        small[of_label] = area[of_label] < np.median(area[of_label])
    return small


def smallest_findable(
    audit: Audit,
    known: Backgrounds,
    level: float,
) -> tuple[float, float | None] | None:
    """For a kind of background as common as most: its share, and the smallest pull that is found.

    None where nothing was tested.
    """
    kinds = np.flatnonzero(np.isfinite(known.tests.p_value).any(axis=1))
    if known.tests.critical is None or not len(kinds):
        return None
    # the kind in the middle: rare ones can hide more, common ones less
    shares = known.observed.present.mean(axis=0)
    by_share = kinds[np.argsort(shares[kinds], kind="stable")]
    middle = int(by_share[len(kinds) // 2])
    limit = smallest_pull(
        known.observed,
        middle,
        known.classes,
        known.tests,
        audit.rng("limit of detection"),
        level=level,
    )
    return float(shares[middle]), limit
