"""What the maps of each text come to: whether they lean on the background, and could have."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from cuescope_saliency.options import SaliencyOptions
from cuescope_saliency.scores import TextFigures, measure_text
from cuescope_saliency.trials import Images
from cuescope_sdk import Accuracy, Audit
from cuescope_sdk.statistics import (
    Groups,
    MeanAboveZero,
    benjamini_hochberg,
    chance_accuracy,
    mean_interval,
)

# what a model that guesses looks at says nothing
CHANCE_P = 0.05


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
        """Whether it is right more often than by chance."""
        return self.accuracy.p_value is not None and self.accuracy.p_value <= CHANCE_P


def lean_tests(
    options: SaliencyOptions,
    images: Images,
    *,
    better_than_chance: bool,
) -> list[LeanTest]:
    """One for each text, findings first, then by strength."""
    by_text = defaultdict(list)
    for image in images:
        by_text[image.text].append(image)
    # Sorted, for the correction below and the ranking must not depend on the data's order.
    texts = [measure_text(by_text[text]) for text in sorted(by_text)]
    p_values = [
        MeanAboveZero(figures.lean, figures.masked_groups).p_value()
        for figures in texts
    ]
    q_values = benjamini_hochberg(p_values)
    tests = []
    for figures, p_value, q_value in zip(texts, p_values, q_values, strict=True):
        # A finding looks at the background more than its share of the picture, by `min_lean` at
        # the least. What a model that guesses looks at is no finding.
        rejected = better_than_chance and q_value is not None and q_value <= options.fdr
        finding = rejected and figures.strength > options.min_lean
        tests.append(LeanTest(figures, p_value, q_value, finding))
    return sorted(tests, key=lambda test: (not test.finding, -test.figures.strength))


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
    return middle, MeanAboveZero(middle.lean, middle.masked_groups).smallest(level, rng)


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
    chance, p_value = chance_accuracy(answers, labels, groups, audit.rng("chance"))
    accuracy = Accuracy(
        correct=int(right.sum()),
        answered=len(labelled),
        chance=chance,
        p_value=p_value,
    )
    return Labelled(accuracy, low, high, groups)
