"""Checks of what the findings rest on."""

from collections.abc import Iterator, Sequence

import numpy as np

from cuescope_answers.analysis import slips_of, study
from cuescope_answers.report import PREFERENCE
from cuescope_sdk import Audit, Evidence, Score
from cuescope_sdk.data import Comparison, independent_samples, other_explanations


def evidence(audit: Audit, scores: Sequence[Score]) -> Iterator[Evidence]:
    """Whether samples look independent, and whether each slice holds among samples alike."""
    yield from independent_samples(audit)
    compared = list(comparisons(audit, scores))
    yield from other_explanations(audit, compared)


def comparisons(audit: Audit, scores: Sequence[Score]) -> Iterator[Comparison]:
    """What each slice compares: the samples that show it, and the others."""
    result_of = audit.once(study, audit)
    answers = result_of.answers
    found = {(score.feature, score.label) for score in scores if score.finding}
    slips = {slip.label: slip for slip in slips_of(answers, audit.labels)}
    for result in result_of.results:
        candidate = result.candidate
        # a preference is held against what is expected, and not against other samples
        if candidate.kind == PREFERENCE or (candidate.key, result.label) not in found:
            continue
        slip = slips[result.label]
        rows = np.flatnonzero(slip.among).tolist()
        yield Comparison(
            feature=candidate.key,
            label=result.label,
            samples=[answers.outcomes[row].trial.sample for row in rows],
            shows=np.asarray(candidate.shows)[slip.among],
            values=1 - slip.values[slip.among],
        )
