"""Sequences with a cue beside sequences of the same label without it."""

from collections.abc import Iterator, Mapping, Sequence
from functools import partial

from cuescope_sdk import Audit, Contrast, Feature, Occurrence, Outcome, Score
from cuescope_sdk.report import contrast
from cuescope_sdk.stills import Answers


def contrasts(
    audit: Audit,
    features: Sequence[Feature],
    scores: Sequence[Score],
) -> Iterator[Contrast]:
    """One for each finding, with what the model says of the frame with the cue held still."""
    findings = [score for score in scores if score.finding]
    if not findings:
        return
    answers = audit.once(Answers.ask, audit)
    by_key = {feature.key: feature for feature in features}
    for score in findings:
        # reversed: occurrences come strongest first, and of a sample the last one stays
        where = {
            seen.sample: seen for seen in reversed(by_key[score.feature].occurrences)
        }
        shown: list[Outcome] = []
        others: list[Outcome] = []
        for outcome in answers.outcomes:
            sample = outcome.trial.sample
            if sample.label == score.label:
                (shown if sample.key in where else others).append(outcome)
        sides = {"with the cue on screen": shown, "without it": others}
        words = partial(answer_to_still, answers, where)
        pictures = contrast(
            score.feature,
            sides,
            label=score.label,
            where=where,
            words=words,
        )
        if pictures is not None:
            yield pictures


def answer_to_still(
    answers: Answers,
    where: Mapping[str, Occurrence],
    outcome: Outcome,
) -> str | None:
    """What the model says of the strongest frame with the cue alone, None without the cue."""
    seen = where.get(outcome.trial.sample.key)
    if seen is None:
        return None
    still = answers.stills[answers.row[seen.sample, seen.frame or 0]]
    return f"this frame held still: '{still.prediction}'"
