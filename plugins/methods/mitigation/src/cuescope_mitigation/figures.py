"""Samples with a cue as the model answers them, and the same as the mitigated model does."""

from collections.abc import Iterator, Sequence

import numpy as np
from jaxtyping import Float

from cuescope_mitigation.trials import Comparison
from cuescope_sdk import Contrast, Feature, Outcome, Response, Score
from cuescope_sdk.report import contrast

SHOWN = 6  # cues with pictures
RULE = (
    "Both sides show the same samples, none of which anything was learned from: spread evenly over "
    "how far the remedy moves the probability of the right answer."
)


def contrasts(
    comparison: Comparison, features: Sequence[Feature], scores: Sequence[Score]
) -> Iterator[Contrast]:
    """One for each of the first cues: the measured samples of the label that show it."""
    where_of = {
        feature.key: {seen.sample: seen for seen in reversed(feature.occurrences)}
        for feature in features
    }
    measured = np.flatnonzero(~comparison.parts.fitted).tolist()
    ranked = [score for score in scores if score.metric == "gain" and score.value is not None]
    for score in ranked[:SHOWN]:
        where = where_of[score.feature]
        rows = [
            (row, number)
            for row, number in enumerate(measured)
            if comparison.parts.samples[number].key in where
            and score.label in (None, comparison.parts.samples[number].label)
        ]
        sides = {
            "as the model was": outcomes(comparison, rows, comparison.logits_before),
            "with the remedy": outcomes(comparison, rows, comparison.logits_after),
        }
        shown = contrast(
            score.feature, sides, label=score.label, where=where, paired=True, rule=RULE
        )
        if shown is not None:
            yield shown


def outcomes(
    comparison: Comparison,
    rows: Sequence[tuple[int, int]],
    logits: Float[np.ndarray, "sample class"],
) -> list[Outcome]:
    """The samples' own trials with these logits, in the order of each sample's choices."""
    labels = comparison.parts.labels
    answered = []
    for row, number in rows:
        trial = comparison.parts.outcomes[number].trial
        columns = [labels.index(choice) for choice in trial.sample.choices]
        answered.append(Outcome(trial, Response(logits=logits[row][columns])))
    return answered
