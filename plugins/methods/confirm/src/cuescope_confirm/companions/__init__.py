"""What goes with a cue, and the samples in which the two come apart.

A companion is another finding of the run, or a value of an annotated factor. It may be what moves
the answers, and a change of the cue may move it as well.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import compress

import numpy as np
from jaxtyping import Bool, Float, Int

from cuescope_confirm.asking import run_answers, views_of
from cuescope_confirm.locating import Target
from cuescope_confirm.study import NOWHERE, Cue, Samples, Study, roots
from cuescope_sdk import Sample
from cuescope_sdk.statistics import Estimate, Groups

# of difficulty, as answers to other questions about the same pictures tell it
LEVELS = 3
MOST_VALUES = 12  # of a factor: one with more names samples, and no property of many
TOGETHER = 0.25  # phi coefficient, from which on something goes with a cue
MOST = 8  # companions that are looked at, the closest first
# by key of a sample; where it is not known, a sample is left out
Shown = Mapping[str, bool]
PerSample = Float[np.ndarray, " sample"]
Marks = Bool[np.ndarray, " sample"]


@dataclass(frozen=True, eq=False)
class Companion:
    """What goes with a cue: where it is in the run, and how often with the cue and without."""

    name: str
    shown: Shown
    with_cue: float
    without: float

    @property
    def words(self) -> str:
        """How often it is there, for a sentence."""
        return f"{self.name} (in {self.with_cue:.0%} of its samples, {self.without:.0%} of others)"


@dataclass(frozen=True, eq=False)
class Discordant:
    """What moves answers where a cue and a companion come apart, as shares of probability.

    `alone` is of how many samples one is there without the other, the rarer side. Effects are
    positive where they are as a cause of the finding would be; None where nothing is compared.
    """

    companion: Companion
    alone: int
    of_cue: Estimate[float] | None
    of_companion: Estimate[float] | None

    def vetoes(self, least: int, margin: float) -> bool:
        """Whether the cue surely does less than the margin alone, and its companion does it all."""
        if self.of_cue is None or self.of_companion is None or self.alone < least:
            return False
        return self.of_cue.high < margin and self.of_companion.low > 0


def companions_of(study: Study, cue: Cue) -> list[Companion]:
    """Those of a finding, the closest first."""
    samples = views_of(study.seen, cue)
    listed = cue.samples_with_cue(samples)
    able = []
    for name, shown in _candidates(study, cue, samples):
        keys = list(shown)
        has_cue = np.array([key in listed for key in keys])
        has_it = np.array([shown[key] for key in keys])
        # too few of either side tell nothing about what goes together
        if min(_rarer(has_cue), _rarer(has_it)) < study.options.least:
            continue
        phi = float(np.corrcoef(has_cue, has_it)[0, 1])
        if phi >= TOGETHER:
            with_cue = float(has_it[has_cue].mean())
            without = float(has_it[~has_cue].mean())
            able.append((phi, Companion(name, shown, with_cue, without)))
    # by name where they go together alike: the order of the run must not decide
    able.sort(key=lambda pair: (-pair[0], pair[1].name))
    return [companion for _, companion in able[:MOST]]


def _rarer(marks: Marks) -> int:
    return int(min(marks.sum(), (~marks).sum()))


def _candidates(
    study: Study,
    cue: Cue,
    samples: Samples,
) -> Iterator[tuple[str, Shown]]:
    """What may go with a cue, by name, with the samples that show it."""
    yield from _values_of_factors(cue, samples)
    yield from _other_findings(study, cue, samples)


def _values_of_factors(cue: Cue, samples: Samples) -> Iterator[tuple[str, Shown]]:
    """Values of annotated factors that are properties of many samples."""
    by_factor: dict[str, dict[str, str]] = {}
    for key, sample in samples.items():
        factors = sample.annotations.get("factors", {})
        for factor, value in factors.items():
            by_factor.setdefault(factor, {})[key] = str(value)
    for factor, value_of in by_factor.items():
        values = sorted(set(value_of.values()))
        if len(values) > MOST_VALUES:
            continue
        for value in values:
            # the cue itself is no company
            if cue.factor == (factor, value):
                continue
            shown = {key: other == value for key, other in value_of.items()}
            yield f"{factor}={value}", shown


def _other_findings(
    study: Study, cue: Cue, samples: Samples
) -> Iterator[tuple[str, Shown]]:
    """Findings that are not of this cue, each once."""
    seen = {cue.feature.key}
    seen.update(member.feature.key for member in cue.members)
    for other in study.cues:
        feature = other.feature
        if feature.key in seen or not feature.occurrences:
            continue
        # how answers are spread is their own doing, and goes with any cause of them
        if feature.kind in NOWHERE:
            continue
        seen.add(feature.key)
        with_it = roots(feature.occurrences, samples)
        yield other.name, {key: key in with_it for key in samples}


def discordant(study: Study, target: Target) -> list[Discordant]:
    """What each companion of a finding does, and the finding without it; of the run's answers.

    Samples are held alike in label and difficulty, and in the other of the two.
    """
    cue = target.cue
    direction = target.direction
    companions = companions_of(study, cue)
    # where every sample shows the cue, nothing is without it
    if not companions or direction.toward == "its own answer":
        return []
    answers = run_answers(study, cue)
    if direction.toward == "the label":
        judged = ~answers.of_label
        values = answers.probability_of(cue.label)
    else:
        judged = answers.of_label
        values = answers.probability
    # as a change that takes the cue out would be signed
    values = -direction.sign * values
    samples = [outcome.trial.sample for outcome in answers.outcomes]
    strata = _codes(answers.labels, _difficulty(samples, answers.right))
    compared = []
    for companion in companions:
        annotated = np.array([sample.key in companion.shown for sample in samples])
        kept = annotated & judged
        compared.append(
            _compare(
                companion,
                list(compress(samples, kept)),
                answers.present[kept],
                values[kept],
                strata[kept],
            )
        )
    return compared


def _compare(
    companion: Companion,
    samples: Sequence[Sample],
    has_cue: Marks,
    values: PerSample,
    strata: Int[np.ndarray, " sample"],
) -> Discordant:
    """What each of the two does to values, within strata and with the other held alike."""
    has_it = np.array([companion.shown[sample.key] for sample in samples], bool)
    cue_alone = int((has_cue & ~has_it).sum())
    companion_alone = int((has_it & ~has_cue).sum())
    groups = Groups.of(samples)
    # each of the two is weighed where the other is held alike
    of_cue = Estimate.within(values, has_cue, _codes(strata, has_it), groups)
    of_companion = Estimate.within(values, has_it, _codes(strata, has_cue), groups)
    # the rarer side limits what can be told
    alone = min(cue_alone, companion_alone)
    return Discordant(companion, alone, of_cue, of_companion)


def _codes(*columns: np.ndarray) -> Int[np.ndarray, " sample"]:
    """A number for each combination of values."""
    together = np.zeros(len(columns[0]), int)
    for column in columns:
        values, codes = np.unique(column, return_inverse=True)
        together = together * len(values) + codes
    return together


def _difficulty(
    samples: Sequence[Sample],
    right: PerSample,
) -> Int[np.ndarray, " sample"]:
    """How often other questions about the same pictures are answered rightly, in a few levels.

    One level where there are none.
    """
    groups = Groups.of(samples)
    size = np.bincount(groups.codes)[groups.codes]
    total = np.bincount(groups.codes, weights=right)[groups.codes]
    # its own answer is left out, or a sample would be called easy for being right
    share = np.where(size > 1, (total - right) / np.maximum(size - 1, 1), 0.5)
    return np.asarray((share * LEVELS).astype(int).clip(0, LEVELS - 1))
