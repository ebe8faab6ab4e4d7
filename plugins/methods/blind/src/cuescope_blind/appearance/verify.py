"""The null: labels dealt anew among the samples, learned and told again."""

from collections.abc import Iterator

import numpy as np

from cuescope_blind.appearance.analysis import (
    all_columns,
    forest_probability,
    is_label_finding,
    label_folds,
    label_study,
)
from cuescope_sdk import Audit, Evidence
from cuescope_sdk.statistics import Permutation

SIGNIFICANT = 0.05


def evidence(audit: Audit) -> Iterator[Evidence]:
    """How often files tell labels as well that were dealt by chance."""
    study = audit.once(label_study, audit)
    draws = audit.options.redraws
    told = [
        result
        for result in study.results
        if result.label is None and is_label_finding(result, audit.options)
    ]
    # each redraw learns once more: that is paid for the strongest finding alone
    if not draws or not told:
        return
    [strongest, *_] = told
    columns = dict(audit.once(all_columns, audit))[strongest.tell]
    fold = audit.once(label_folds, audit)
    data = study.data
    rng = audit.rng("redraws")
    gains = []
    # one stratum: any sample may be dealt any label
    stratum = np.zeros(len(data.codes), int)
    with audit.context.progress("dealing labels anew", draws) as advance:
        for draw, order in enumerate(Permutation.orders(stratum, draws, rng)):
            codes = data.codes[order]
            seed = audit.derive_seed("forest", strongest.tell.key, str(draw))
            said = forest_probability(columns, codes, fold, seed).argmax(axis=1)
            gains.append((said == codes).mean())
            advance(1)
    accuracies = np.array(gains)
    # an equal redraw counts as one that reached it, or p would be too small
    reached = int((accuracies >= strongest.gain.accuracy).sum())
    p_value = Permutation.p_value(reached, draws)
    passed = p_value <= SIGNIFICANT
    # too few draws cannot reach the level, whatever they show
    verdict = "supported" if passed else "refuted" if reached else "inconclusive"
    yield Evidence(
        check="null: labels dealt anew among the samples",
        verdict=verdict,
        detail=f"in {reached} of {draws} redraws the labels are as often told right as in the "
        f"data ({strongest.gain.accuracy:.1%}); the redraws give {accuracies.mean():.1%} on "
        f"average, {accuracies.max():.1%} at most; p = {p_value:.3f}",
        value=p_value,
        threshold=SIGNIFICANT,
        n=draws,
        feature=strongest.key,
    )
