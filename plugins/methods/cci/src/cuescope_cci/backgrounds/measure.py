"""What an audit knows of its backgrounds: kinds, pulls to a class, size, and chance."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float, Int

from cuescope_cci.backgrounds.kinds import follows_size
from cuescope_cci.backgrounds.pulls import (
    Answers,
    Pull,
    groups_of_several_labels,
    pull,
    pull_tests,
    smallest_pull,
    strata_of,
)
from cuescope_cci.error_source import BACKGROUND, AnswerSource
from cuescope_cci.options import CCIOptions
from cuescope_sdk import Audit
from cuescope_sdk.statistics import (
    AssociationTests,
    Groups,
    association_tests,
    chance_accuracy,
    gap_p_values,
)

CHANCE_P = 0.05


@dataclass(frozen=True, eq=False)
class PullRow:
    """A kind of background (a feature) and a class: how far it pulls answers there.

    Of `images` that show it `answered` are answered so, `moved` of them only with the background;
    `turned` is the share of answers that the background turns to the class on balance.
    `alone` is how much more often the background alone is answered so; `alone_p` its p-value, which
    is known for models that are no better than chance.
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


@dataclass(frozen=True, eq=False)
class Observed:
    """What the tests are made of: arrays over the images, and the stratum of each group."""

    label: Int[np.ndarray, " image"]
    answers: Answers
    present: Bool[np.ndarray, "image kind"]
    stratum: Int[np.ndarray, " group"]


@dataclass(frozen=True, eq=False)
class Backgrounds:
    """Everything that is tested of the backgrounds of an audit; None where nothing could be.

    `overall_*` are of all kinds and classes together. `size_p` is of wrong answers that go with
    small objects, `size_factors` are annotations of that size.
    """

    sources: Sequence[AnswerSource]
    rows: Sequence[PullRow]
    accuracy: float
    chance: float
    chance_p: float
    overall_p: float | None
    overall_q: float | None
    overall_alone_p: float | None
    size_p: float | None
    size_factors: Sequence[str]
    groups: Groups
    mixed_groups: int
    observed: Observed
    tests: AssociationTests
    level: float

    @property
    def better_than_chance(self) -> bool:
        """Whether the model is right more often than its own answers dealt out at random."""
        return self.chance_p <= CHANCE_P


def measure_backgrounds(
    audit: Audit, options: CCIOptions, sources: Sequence[AnswerSource]
) -> Backgrounds | None:
    """The tests of an audit. For `audit.once`. None without images that can be tested."""
    # By key, so that the random draws do not depend on the data's order.
    tested = sorted((source for source in sources if source.is_tested), key=lambda s: s.key)
    if not tested:
        return None
    groups = Groups.of([source.sample for source in tested])
    number = {name: code for code, name in enumerate(_classes(tested))}
    label, by_background = (
        np.array([number[str(name)] for name in names])
        for names in zip(*((s.label, s.background_answer) for s in tested), strict=True)
    )
    area = np.array([source.area for source in tested])
    size_factors = [
        f for f in _factors(tested) if follows_size([s.factors.get(f) for s in tested], area)
    ]
    names, present = _kinds(tested, size_factors)
    stratum = strata_of(label, area, groups)
    answers, level = _answers(tested, number), options.fdr
    tests = pull_tests(answers, present, stratum, groups, audit.rng("pulls"), level=level)
    answer, moved = answers.whole, answers.moves()
    chance, chance_p = chance_accuracy(answer, label, groups, audit.rng("chance"))
    alone_tests = None
    if chance_p > CHANCE_P:  # only then they are asked for
        alone = np.eye(len(number))[by_background]
        alone_tests = association_tests(alone, present, stratum, groups, audit.rng("alone"))
    labels, confidence = list(number), options.confidence
    rows = []
    for kind, target in _shown(tests, level):
        shown = present[:, kind]
        of_pair = pull(answer == target, shown, label, groups, confidence=confidence)
        of_alone = pull(by_background == target, shown, label, groups, confidence=confidence)
        if of_pair is not None and of_alone is not None:
            rows.append(
                PullRow(
                    feature=names[kind],
                    label=labels[target],
                    images=int(shown.sum()),
                    answered=int((answer[shown] == target).sum()),
                    moved=int((moved[shown, target] > 0).sum()),
                    turned=float(moved[shown, target].mean()),
                    pull=of_pair,
                    p_value=float(tests.p_value[kind, target]),
                    q_value=float(tests.q_value[kind, target]),
                    alone=of_alone,
                    alone_p=None if alone_tests is None else alone_tests.p_of(kind, target),
                )
            )
    return Backgrounds(
        sources=tested,
        rows=rows,
        accuracy=float((answer == label).mean()),
        chance=chance,
        chance_p=chance_p,
        overall_p=tests.overall_p,
        overall_q=tests.overall_q,
        overall_alone_p=None if alone_tests is None else alone_tests.overall_p,
        size_p=_size_p_value(answer == label, area, label, groups, audit.rng("size")),
        size_factors=size_factors,
        groups=groups,
        mixed_groups=groups_of_several_labels(label, groups),
        observed=Observed(label, answers, present, stratum),
        tests=tests,
        level=level,
    )


def _classes(sources: Sequence[AnswerSource]) -> list[str]:
    """All choices, in the order in which they are given."""
    return list(dict.fromkeys(choice for source in sources for choice in source.sample.choices))


def _answers(sources: Sequence[AnswerSource], number: Mapping[str, int]) -> Answers:
    """The logits of all images over all choices."""
    logits = np.full((2, len(sources), len(number)), -np.inf)
    for index, source in enumerate(sources):
        if source.apart is not None:
            own = [number[choice] for choice in source.sample.choices]
            logits[:, index, own] = source.logits, source.apart.objects
    return Answers(*logits)


def _factors(sources: Sequence[AnswerSource]) -> list[str]:
    """The factors that vary."""
    names = sorted({name for source in sources for name in source.factors})
    return [name for name in names if len({s.factors.get(name) for s in sources} - {None}) > 1]


def _kinds(
    sources: Sequence[AnswerSource], left_out: Sequence[str]
) -> tuple[list[str], Bool[np.ndarray, "image kind"]]:
    """The features that are kinds of backgrounds, and which images show each."""
    pairs = [
        (factor, value)
        for factor in _factors(sources)
        if factor not in left_out
        for value in sorted({s.factors[factor] for s in sources if factor in s.factors})
    ]
    columns = [[s.factors.get(factor) == value for s in sources] for factor, value in pairs]
    present = np.array(columns, dtype=bool).reshape(len(pairs), len(sources)).T
    return [f"{BACKGROUND}|{factor}={value}" for factor, value in pairs], present


def _shown(tests: AssociationTests, level: float) -> list[tuple[int, int]]:
    """The pairs that a report has a row of: what is found, and the strongest of each kind."""
    q_values = np.where(np.isfinite(tests.q_value), tests.q_value, np.inf)
    p_values = np.where(np.isfinite(tests.p_value), tests.p_value, np.inf)
    shown = {(int(kind), int(target)) for kind, target in np.argwhere(q_values <= level)}
    for kind in np.flatnonzero(np.isfinite(p_values).any(axis=1)):
        shown.add((int(kind), int(p_values[kind].argmin())))
    return sorted(shown)


def _size_p_value(
    right: Bool[np.ndarray, " image"],
    area: Float[np.ndarray, " image"],
    label: Int[np.ndarray, " image"],
    groups: Groups,
    rng: np.random.Generator,
) -> float:
    """That answers are no more often wrong where the object is smaller than its label's median."""
    small = is_small(area, label)
    present = small[:, None]
    p_values = gap_p_values(right.astype(float), present, groups, rng, strata=label, draws=9_999)
    return float(p_values[0])


def is_small(
    area: Float[np.ndarray, " image"], label: Int[np.ndarray, " image"]
) -> Bool[np.ndarray, " image"]:
    """Whether the objects are smaller than the median of their label."""
    small = np.zeros(len(area), dtype=bool)
    for value in np.unique(label):
        own = label == value
        small[own] = area[own] < np.median(area[own])
    return small


def smallest_findable(audit: Audit, known: Backgrounds) -> tuple[float, float | None] | None:
    """For a kind of background as common as most: its share, and the smallest pull that is found.

    None where nothing was tested.
    """
    tests, seen = known.tests, known.observed
    kinds = np.flatnonzero(np.isfinite(tests.p_value).any(axis=1))
    if tests.critical is None or not len(kinds):
        return None
    share = seen.present[:, kinds].mean(axis=0)
    middle = kinds[np.argsort(share, kind="stable")[len(kinds) // 2]]
    limit = smallest_pull(
        seen.answers,
        seen.present,
        int(middle),
        seen.stratum,
        known.groups,
        np.unique(seen.label).tolist(),
        tests,
        audit.rng("limit of detection"),
        level=known.level,
    )
    return float(seen.present[:, middle].mean()), limit
