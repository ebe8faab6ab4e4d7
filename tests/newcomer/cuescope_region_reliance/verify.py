"""A check of the first finding against the cues that the data set has annotated."""

from collections.abc import Iterator, Sequence

import numpy as np

import cuescope_sdk as sdk
from cuescope_region_reliance.scores import right_answers
from cuescope_sdk.statistics import exceeds_rate_p_value

ALPHA = 0.01


def annotated_cues(
    audit: sdk.Audit, scores: Sequence[sdk.Score]
) -> Iterator[sdk.Evidence]:
    """Is a cue in the samples that hiding spoils, more often than in all samples?"""
    finding = next((score for score in scores if score.finding), None)
    if finding is None:
        return
    shown = np.array(right_answers(audit.outcomes, "baseline"))
    hidden = np.array(right_answers(audit.outcomes, "hidden", finding.feature))
    spoiled = shown & ~hidden
    # The answer sheet: `cues` says in which frames each cue is, and can be read from here on.
    sheets = [sample.annotations.get("cues", {}) for sample in audit.samples]
    for cue in sorted({cue for sheet in sheets for cue in sheet}):
        present = np.array([any(sheet.get(cue, ())) for sheet in sheets])
        both, total = int((present & spoiled).sum()), int(spoiled.sum())
        p_value = exceeds_rate_p_value(both, total, float(present.mean()))
        yield sdk.Evidence(
            check="annotated cue",
            verdict="supported" if p_value < ALPHA else "inconclusive",
            detail=f"'{cue}' is in {both} of the {total} samples that hiding spoils, and in "
            f"{present.mean():.0%} of all samples",
            value=p_value,
            threshold=ALPHA,
            n=total,
            feature=finding.feature,
        )
