"""Checks of what TRoVe found: the null, a detector's pseudo-labels, the answer sheet."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from cuescope_sdk import Audit, Evidence, Feature, Score
from cuescope_sdk.maths import exceeds_rate_p_value
from cuescope_trove.answers import check_against_annotation
from cuescope_trove.detecting import check_with_detector
from cuescope_trove.observing import trials
from cuescope_trove.reporting import observed_in, score_observed
from cuescope_trove.scoring import Observed, shuffled_within_labels

if TYPE_CHECKING:
    from cuescope_trove import TRoVe

SIGNIFICANT = 0.05


def evidence(
    audit: Audit, options: "TRoVe.Options", features: Sequence[Feature], scores: Sequence[Score]
) -> Iterator[Evidence]:
    """Every check that the data and the tools allow; nothing where nothing was scored.

    The annotation speaks about any method's features. The null and the detector's check need
    TRoVe's own clusters.
    """
    if not scores:
        return
    yield from check_against_annotation(audit, options, features, scores)
    if any(score.metric == "trove_score" for score in scores):
        outcomes = audit.respond(trials(audit, features))
        observed, _ = observed_in(audit, options, features, outcomes)
        if "detector" in audit.tools:
            yield from check_with_detector(audit, options, features, scores, observed)
        if options.null_shuffles:
            yield check_null(audit, options, observed, len(features))


def check_null(
    audit: Audit, options: "TRoVe.Options", observed: Observed, clusters: int
) -> Evidence:
    """Answers dealt anew within each label know nothing of clusters: findings should vanish."""
    rng, shuffles = audit.rng("null"), options.null_shuffles
    found = [
        int(score_observed(shuffled_within_labels(observed, rng), options, clusters).finding.sum())
        for _ in range(shuffles)
    ]
    alarms = sum(count > 0 for count in found)
    excessive = exceeds_rate_p_value(alarms, shuffles, options.fdr) < SIGNIFICANT
    return Evidence(
        check="null: answers shuffled within each label",
        verdict="refuted" if excessive else "supported",
        detail=f"{alarms} of {shuffles} shuffles found anything ({sum(found)} findings in all); "
        f"the rate promised is {options.fdr:.0%}",
        value=alarms / shuffles,
        threshold=options.fdr,
        n=shuffles,
    )
