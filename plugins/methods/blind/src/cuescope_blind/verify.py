"""The null: answers drawn anew, learned and asked again."""

from collections.abc import Iterator

import numpy as np

from cuescope_blind.study import Study
from cuescope_sdk import Audit, Evidence
from cuescope_sdk.statistics import Permutation

SIGNIFICANT = 0.05  # Fisher (1925)


def evidence(audit: Audit, study: Study) -> Iterator[Evidence]:
    """How often the strongest learned tell does as well where there is nothing to know."""
    draws = audit.options.redraws
    # of questions it is the learner, which is learned from all
    tested = study.learner
    if study.wording.noun != "questions":
        tested = next((result for result in study.results if result.only is None), None)
    # each redraw learns once more: that is paid for a finding alone
    if not draws or tested is None or not tested.is_finding(audit.options):
        return
    redrawn = []
    with audit.context.progress("drawing answers anew", draws) as advance:
        for accuracy in study.wording.redraw(audit, tested, draws):
            redrawn.append(accuracy)
            advance(1)
    accuracies = np.array(redrawn)
    # an equal redraw counts as one that reached it, or p would be too small
    reached = int((accuracies >= tested.gain.accuracy).sum())
    p_value = Permutation.p_value(reached, draws)
    # too few draws cannot reach the level, whatever they show
    verdict = "refuted" if reached else "inconclusive"
    if p_value <= SIGNIFICANT:
        verdict = "supported"
    yield Evidence(
        check=f"null: {study.wording.redrawn}",
        verdict=verdict,
        detail=f"in {reached} of {draws} redraws as many are right as in the data "
        f"({tested.gain.accuracy:.1%}); the redraws give {accuracies.mean():.1%} on average, "
        f"{accuracies.max():.1%} at most; p = {p_value:.3f}",
        value=p_value,
        threshold=SIGNIFICANT,
        n=draws,
        feature=tested.key,
    )
