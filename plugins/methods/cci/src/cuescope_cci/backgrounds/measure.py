"""What an audit knows of its backgrounds: kinds, pulls to a class, and chance."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from cuescope_cci.backgrounds.kinds import follows_size
from cuescope_cci.backgrounds.pulls import (
    Answers,
    Codes,
    KindMask,
    Mask,
    Observed,
    Pull,
    pull,
    pull_tests,
    smallest_pull,
    strata_of,
)
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
from cuescope_sdk import Audit, Sample
from cuescope_sdk.statistics import AssociationTests, Permutation, excluded_by_test
from cuescope_sdk.tools import CachedDetector, normalise_name

SCORE = 0.3  # of a box: the default of Grounded-SAM, whose masks are the paper's (appendix A.3)


@dataclass(frozen=True, eq=False)
class PullRow:
    """A kind of background (a feature) and a class: how far it pulls answers there.

    Of `images` that show it `answered` are answered so, `moved` of them only with the background;
    `turned` is the share of answers that the background turns to the class on balance. `alone` is
    how much more often the background alone is answered so.
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


@dataclass(frozen=True, eq=False)
class Backgrounds:
    """Everything that is tested of the backgrounds of an audit; None where nothing could be.

    `tests` are of all kinds and classes. In `beside` of the answers that the background moves a
    thing of the class answered is on screen: these count as not moved. `classes` are codes of true
    labels.
    """

    sources: Sources
    rows: Sequence[PullRow]
    chance: float
    chance_p: float
    classes: Sequence[int]
    observed: Observed
    tests: AssociationTests
    beside: int

    @property
    def rows_by_pair(self) -> dict[tuple[str, str], PullRow]:
        """The rows by feature and label."""
        return {(row.feature, row.label): row for row in self.rows}


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
    number = _numbers(tested)
    label = np.array([number[source.classes[0]] for source in tested])
    area = areas(tested)
    groups = groups_of(tested)
    factors = varying_factors(tested)
    # a factor of size would find small objects, which is no cue of the background
    sizes = [name for name, factor in factors.items() if follows_size(factor, area)]
    kinds, present = _kinds(factors, sizes, len(tested))
    beside = _things_beside(audit, tested)
    answers = _answers(tested, number).without(beside)
    observed = Observed(present, strata_of(label, area, groups), groups, answers)
    tests = pull_tests(observed, audit.rng("pulls"), level=options.fdr)
    said = np.array([number[source.prediction] for source in tested])
    alone = np.array([number[str(source.background_answer)] for source in tested])
    pulls = _Pulls(
        list(number), kinds, observed, tests, label, said, alone, options.confidence
    )
    rows = [pulls.row(kind, target) for kind, target in _pairs(tests, options.fdr)]
    chance, chance_p = Permutation.chance_accuracy(
        said, label, groups, audit.rng("chance")
    )
    return Backgrounds(
        sources=tested,
        rows=[row for row in rows if row is not None],
        chance=chance,
        chance_p=chance_p,
        classes=np.unique(label).tolist(),
        observed=observed,
        tests=tests,
        beside=int(beside.sum()),
    )


def _numbers(sources: Sources) -> dict[str, int]:
    """The code of each choice, in order of first sight: images may offer different ones."""
    number: dict[str, int] = {}
    for source in sources:
        for choice in source.sample.choices:
            number.setdefault(choice, len(number))
    return number


@dataclass(frozen=True, eq=False)
class _Pulls:
    """All that is tested of kinds of backgrounds and classes; see `Backgrounds`."""

    classes: Sequence[str]
    kinds: Sequence[str]
    observed: Observed
    tests: AssociationTests
    label: Codes
    said: Codes
    alone: Codes
    confidence: float

    def row(self, kind: int, target: int) -> PullRow | None:
        """What a report says of a pair; None where a kind has no other to compare with."""
        answers = self.observed.answers
        p_value = float(self.tests.p_value[kind, target])
        whole = self._pull(self.said, kind, target)
        alone = self._pull(self.alone, kind, target)
        if whole is None or alone is None:
            return None
        # what the test excludes, the interval beside it excludes too
        [excluded] = excluded_by_test(
            np.array([whole.value]),
            np.array([p_value]),
            np.array([self.confidence]),
        )
        shown = self.observed.present[:, kind]
        turns = answers.moves()[shown, target]
        return PullRow(
            feature=self.kinds[kind],
            label=self.classes[target],
            images=int(shown.sum()),
            answered=int((self.said[shown] == target).sum()),
            moved=int((turns > 0).sum()),
            turned=float(turns.mean()),
            pull=replace(whole, low=max(whole.low, float(excluded))),
            p_value=p_value,
            q_value=float(self.tests.q_value[kind, target]),
            alone=alone,
        )

    def _pull(self, said: Codes, kind: int, target: int) -> Pull | None:
        return pull(
            said == target,
            self.observed.present[:, kind],
            self.label,
            self.observed.groups,
            confidence=self.confidence,
        )


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


def _pairs(tests: AssociationTests, level: float) -> list[tuple[int, int]]:
    """The pairs that a report has a row of: what is found, and the strongest of each kind."""
    shown = tests.q_value <= level
    for kind, p_values in enumerate(tests.p_value):
        if np.isfinite(p_values).any():
            # a kind without a finding is shown too: else it would look untested
            shown[kind, np.nanargmin(p_values)] = True
    return [(kind, target) for kind, target in np.argwhere(shown).tolist()]


# ---------------------------------------------------------------------------------- things beside


def _things_beside(audit: Audit, sources: Sources) -> Mask:
    """True where the background moves the answer to a class of which a thing is on screen.

    Data name what is on screen, and so does a detector. A second thing is no background, though it
    lies outside of the object's mask.
    """
    moved = [s for s in sources if s.wrong and s.prediction != s.object_answer]
    named = {source.key: set(_annotated_names(source.sample)) for source in moved}
    if moved and "detector" in audit.tools:
        detector = CachedDetector(audit.tools["detector"], audit.context)
        frames = [source.sample.frames[0] for source in moved]
        names = sorted({normalise_name(source.prediction) for source in moved})
        boxes = detector.detect(frames, names)
        for source, found in zip(moved, boxes, strict=True):
            named[source.key] |= {
                normalise_name(box.name) for box in found if box.score >= SCORE
            }
    return np.array(
        [
            normalise_name(source.prediction) in named.get(source.key, ())
            for source in sources
        ]
    )


def _annotated_names(sample: Sample) -> Iterator[str]:
    """What data say to be in the image, by boxes, masks and words."""
    annotations = sample.annotations
    for detection in annotations.get("boxes", ()):
        yield normalise_name(detection.name)
    for name in (*annotations.get("masks", ()), *annotations.get("objects", ())):
        yield normalise_name(name)


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
