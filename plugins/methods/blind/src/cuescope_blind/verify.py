"""The null: answers redrawn among the options of each question, learned and asked again."""

from collections.abc import Iterator

import numpy as np

from cuescope_blind.analysis import is_finding, study
from cuescope_blind.scores import accuracies_of_redrawn
from cuescope_blind.trials import features_of, folds_of, questions_of
from cuescope_sdk import Audit, Evidence
from cuescope_sdk.statistics import Permutation

SIGNIFICANT = 0.05


def evidence(audit: Audit) -> Iterator[Evidence]:
    """How often the learner does as well where there is nothing to know."""
    learner = audit.once(study, audit).learner
    draws = audit.options.redraws
    # each redraw learns once more: that is paid for a finding alone
    if not draws or not is_finding(learner, audit.options):
        return
    questions = audit.once(questions_of, audit)
    features = audit.once(features_of, audit)
    # the folds of the audit: redraws differ from it by their answers alone
    fold = audit.once(folds_of, audit)
    rng = audit.rng("redraws")
    redrawn = []
    with audit.context.progress("drawing answers anew", draws) as advance:
        for accuracy in accuracies_of_redrawn(questions, features, fold, draws, rng):
            redrawn.append(accuracy)
            advance(1)
    accuracies = np.array(redrawn)
    # an equal redraw counts as one that reached it, or p would be too small
    reached = int((accuracies >= learner.gain.accuracy).sum())
    p_value = Permutation.p_value(reached, draws)
    passed = p_value <= SIGNIFICANT
    # too few draws cannot reach the level, whatever they show
    verdict = "supported" if passed else "refuted" if reached else "inconclusive"
    yield Evidence(
        check="null: answers redrawn among the options of each question",
        verdict=verdict,
        detail=f"in {reached} of {draws} redraws the learner is as often right as in the data "
        f"({learner.gain.accuracy:.1%}); the redraws give {accuracies.mean():.1%} on average, "
        f"{accuracies.max():.1%} at most; p = {p_value:.3f}",
        value=p_value,
        threshold=SIGNIFICANT,
        n=draws,
        feature=learner.key,
    )
