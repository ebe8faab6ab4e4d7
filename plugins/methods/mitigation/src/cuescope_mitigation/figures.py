"""Samples with a cue as the model answers them, and the same as the mitigated model does."""

from collections.abc import Iterator, Sequence

import numpy as np

from cuescope_mitigation.analysis import sides_of
from cuescope_mitigation.scores import Logits
from cuescope_mitigation.trials import Comparison
from cuescope_sdk import Contrast, Feature, Occurrence, Outcome, Response, Score
from cuescope_sdk.report import contrast

SHOWN = 6  # cues with pictures
RULE = (
    "Both sides show the same samples, spread evenly over how far the remedy moves the probability "
    "of the right answer. The remedy was not fitted to any of them."
)


def contrasts(
    comparison: Comparison,
    features: Sequence[Feature],
    scores: Sequence[Score],
) -> Iterator[Contrast]:
    """One for each of the first cues: the measured samples of the label that show it."""
    by_key = {feature.key: feature for feature in features}
    numbers = {
        (cue.feature.key, cue.label): number
        for number, cue in enumerate(comparison.parts.cues)
    }
    measured = np.flatnonzero(~comparison.parts.fitted)
    gains = [score for score in scores if score.metric == "gain"]
    # a cue with too few samples has no figure, and nothing to look at
    ranked = [score for score in gains if score.value is not None]
    for score in ranked[:SHOWN]:
        where: dict[str, Occurrence] = {}
        for occurrence in by_key[score.feature].occurrences:
            # the first one is the strongest: the clearest frame is shown
            where.setdefault(occurrence.sample, occurrence)
        number = numbers[score.feature, score.label]
        rows = np.flatnonzero(sides_of(comparison, number)[0])
        pairs = list(zip(rows.tolist(), measured[rows].tolist(), strict=True))
        sides = {
            "as the model was": outcomes(comparison, pairs, comparison.logits_before),
            "with the remedy": outcomes(comparison, pairs, comparison.logits_after),
        }
        shown = contrast(
            score.feature,
            sides,
            label=score.label,
            where=where,
            paired=True,
            rule=RULE,
        )
        if shown is not None:
            yield shown


def outcomes(
    comparison: Comparison,
    rows: Sequence[tuple[int, int]],
    logits: Logits,
) -> list[Outcome]:
    """The samples' own trials with these logits, in the order of each sample's choices."""
    labels = comparison.parts.labels
    answered = []
    for row, number in rows:
        trial = comparison.parts.outcomes[number].trial
        # a sample may offer the labels in an order of its own
        columns = list(map(labels.index, trial.sample.choices))
        response = Response(logits=logits[row][columns])
        answered.append(Outcome(trial, response))
    return answered
