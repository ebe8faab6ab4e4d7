"""Sequences with a cue beside sequences of the same label without it."""

from collections.abc import Iterator, Mapping, Sequence
from functools import partial

from cuescope_sdk import Audit, Contrast, Feature, Occurrence, Outcome, Score
from cuescope_sdk.report import contrast
from cuescope_sdk.stills import Answers, ask
from cuescope_trove.options import TRoVeOptions
from cuescope_trove.report import analyse


def contrasts(
    audit: Audit, options: TRoVeOptions, features: Sequence[Feature], scores: Sequence[Score]
) -> Iterator[Contrast]:
    """One for each finding, with what the model says of the frame with the cue held still.

    They are of the sequences that the figures are of.
    """
    answers = audit.once(ask, audit)
    measured = answers.outcomes
    if any(score.finding for score in scores):
        part = audit.once(analyse, audit, options, features).part
        if part is not None:
            measured = [each for each, looked in zip(measured, part, strict=True) if not looked]
    by_key = {feature.key: feature for feature in features}
    for score in scores:
        if not score.finding:
            continue
        where = {seen.sample: seen for seen in reversed(by_key[score.feature].occurrences)}
        of_label = [each for each in measured if each.trial.sample.label == score.label]
        sides = {
            "with the cue on screen": [e for e in of_label if e.trial.sample.key in where],
            "without it": [e for e in of_label if e.trial.sample.key not in where],
        }
        words = partial(held_still, answers, where)
        shown = contrast(score.feature, sides, label=score.label, where=where, words=words)
        if shown is not None:
            yield shown


def held_still(answers: Answers, where: Mapping[str, Occurrence], outcome: Outcome) -> str | None:
    """What the model says of the strongest frame with the cue alone, None without the cue."""
    seen = where.get(outcome.trial.sample.key)
    if seen is None:
        return None
    still = answers.stills[answers.row[seen.sample, seen.frame or 0]]
    return f"this frame held still: '{still.prediction}'"
