"""What the maps of each text come to: whether they lean on the background, and could have."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from cuescope_saliency.options import SaliencyOptions
from cuescope_saliency.preferences import preferred_leans
from cuescope_saliency.scores import TextFigures, measure_text
from cuescope_saliency.trials import Images
from cuescope_sdk import Accuracy, Audit
from cuescope_sdk.statistics import (
    Groups,
    MeanAboveZero,
    Permutation,
    benjamini_hochberg,
    mean_interval,
)

# Flatness is measured otherwise than a map feels it, so a part of what it likes is left over: maps
# that like flat parts had a finding in 8 of 60 audits without this, in 0 of 1,000 with it
# (benchmarks/results/saliency.md).
LEAST_OWN = 0.5


@dataclass(frozen=True)
class LeanTest:
    """The figures of one text, and whether its maps lean on the background."""

    figures: TextFigures
    p_value: float | None
    q_value: float | None
    finding: bool


@dataclass(frozen=True)
class Labelled:
    """How often the model is right, with the interval, of images that were drawn in groups."""

    accuracy: Accuracy
    low: float | None
    high: float | None
    groups: Groups

    @property
    def better_than_chance(self) -> bool:
        """True if it is right more often than by chance, by the interval."""
        return self.low is not None and self.low > self.accuracy.chance


def lean_tests(
    options: SaliencyOptions,
    images: Images,
    *,
    better_than_chance: bool,
) -> list[LeanTest]:
    """One for each text, findings first, then by strength; a model that guesses has no test."""
    by_text = defaultdict(list)
    for image in images:
        by_text[image.text].append(image)
    # Sorted, for the correction below and the ranking must not depend on the data's order.
    preferred = preferred_leans(images)
    texts = [measure_text(by_text[text], preferred) for text in sorted(by_text)]
    p_values = [_p_value(figures) if better_than_chance else None for figures in texts]
    q_values = benjamini_hochberg(p_values)
    tests = []
    for figures, p_value, q_value in zip(texts, p_values, q_values, strict=True):
        rejected = q_value is not None and q_value <= options.fdr
        finding = rejected and _is_strong(figures)
        tests.append(LeanTest(figures, p_value, q_value, finding))
    return sorted(tests, key=lambda test: (not test.finding, -test.figures.strength))


def _is_strong(figures: TextFigures) -> bool:
    """True if maps lean on the background, and more than half of it is no preference."""
    own_lean = float(figures.own_lean.mean())
    return figures.strength > 0 and own_lean > LEAST_OWN * figures.strength


def _p_value(figures: TextFigures) -> float | None:
    """That the maps lean on the background, and beyond what they prefer: both must hold."""
    p_values = []
    for values in (figures.lean, figures.own_lean):
        p_value = MeanAboveZero(values, figures.masked_groups).p_value()
        # too few groups for the one are too few for the other
        if p_value is None:
            return None
        p_values.append(p_value)
    # the larger of two p-values, where both nulls must be refused (Berger, 1982)
    return max(p_values)


def smallest_findable(
    audit: Audit,
    options: SaliencyOptions,
    tests: Sequence[LeanTest],
) -> tuple[TextFigures, float | None] | None:
    """The text of middling many images, and the smallest lean that would have been found in it.

    None where no text has two images with a mask.
    """
    # one group says nothing of how much groups vary, so nothing could be found in it
    masked = [test.figures for test in tests if test.figures.masked_groups.count > 1]
    if not masked:
        return None
    # the text breaks ties: the note must be the same whatever order the data has
    masked.sort(key=lambda figures: (figures.masked_groups.count, figures.text))
    # one text stands for all: a limit for each would be a table, not a note
    middle = masked[len(masked) // 2]
    # The smallest of the p-values must pass the level over their number.
    level = options.fdr / len(masked)
    rng = audit.rng("limit of detection")
    limits = [
        MeanAboveZero(values, middle.masked_groups).smallest(level, rng)
        for values in (middle.lean, middle.own_lean)
    ]
    known = [limit for limit in limits if limit is not None]
    return middle, max(known) if len(known) == len(limits) else None


def measure_accuracy(
    audit: Audit,
    options: SaliencyOptions,
    images: Images,
) -> Labelled | None:
    """Of the images with a label; None where there is none."""
    labelled = [image for image in images if image.sample.label is not None]
    if not labelled:
        return None
    groups = Groups.of([image.sample for image in labelled])
    right = np.array([image.is_right for image in labelled], dtype=np.float64)
    low, high = mean_interval(right, groups, confidence=options.confidence)
    answers = np.array([str(image.outcome.prediction) for image in labelled])
    labels = np.array([str(image.sample.label) for image in labelled])
    chance, p_value = Permutation.chance_accuracy(
        answers, labels, groups, audit.rng("chance")
    )
    accuracy = Accuracy(
        correct=int(right.sum()),
        answered=len(labelled),
        chance=chance,
        p_value=p_value,
    )
    return Labelled(accuracy, low, high, groups)
