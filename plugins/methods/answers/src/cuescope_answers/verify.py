"""Checks of what the findings rest on."""

from collections.abc import Iterator, Sequence

import numpy as np

from cuescope_answers.analysis import study
from cuescope_answers.report import PREFERENCE
from cuescope_sdk import Audit, Evidence, Score
from cuescope_sdk.data import Comparison, independent_samples, other_explanations


def evidence(audit: Audit, scores: Sequence[Score]) -> Iterator[Evidence]:
    """Whether samples look independent, and whether each slice holds among samples alike."""
    yield from independent_samples(audit)
    yield from other_explanations(audit, list(comparisons(audit, scores)))


def comparisons(audit: Audit, scores: Sequence[Score]) -> Iterator[Comparison]:
    """What each slice compares: the samples that show it, and the others."""
    result_of = audit.once(study, audit)
    answers = result_of.answers
    found = {score.feature for score in scores if score.finding}
    samples = [outcome.trial.sample for outcome in answers.outcomes]
    for result in result_of.results:
        candidate = result.candidate
        if candidate.key in found and candidate.kind != PREFERENCE:
            yield Comparison(
                feature=candidate.key,
                label=None,
                samples=samples,
                shows=np.asarray(candidate.shows),
                values=answers.right,
            )
