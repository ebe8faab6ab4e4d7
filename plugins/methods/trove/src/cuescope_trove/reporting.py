"""From arrays to the rows of the report, in words that a stranger understands."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from cuescope_sdk import Audit, Feature, Outcome, Score
from cuescope_trove.observing import by_key, observe
from cuescope_trove.resampling import score_interval
from cuescope_trove.scoring import Mistake, Observed, Rule, Table, commonest_mistake, ranked, score

if TYPE_CHECKING:
    from cuescope_trove import TRoVe


def scores(
    audit: Audit, options: "TRoVe.Options", features: Sequence[Feature], outcomes: Sequence[Outcome]
) -> Iterator[Score]:
    """The rows of the report, and the facts at its head."""
    observed, temperature = observed_in(audit, options, features, outcomes)
    top = "" if options.top_k == 1 else f" (top {options.top_k})"
    audit.note("accuracy", f"{observed.correct.mean():.1%}{top} of {len(observed.label)} sequences")
    audit.note(
        "temperature",
        " and ".join(f"{value:.3f}" for value in sorted(set(temperature.tolist())))
        + ", fitted on held-out halves",
    )
    audit.note("static bias", READINGS[options.static_bias])
    if observed.correct.all():
        audit.note("errors", "none: the model is always right here, so there is nothing to explain")
        return
    table = score_observed(observed, options, len(features))
    audit.note("pairs", described_pairs(table))
    mistake = commonest_mistake(observed, table.pairs, len(features))
    intervals = Intervals(
        *table.pairs.interval(options.confidence),
        *score_interval(
            observed,
            table.pairs,
            len(features),
            audit.rng("bootstrap"),
            options.confidence,
            across_labels=options.static_bias == "cluster",
        ),
    )
    yield from score_rows(table, mistake, intervals, features, audit.labels)


class Intervals(NamedTuple):
    """Bounds per pair: of the error contribution, and of the TRoVe score."""

    gap_low: np.ndarray
    gap_high: np.ndarray
    score_low: np.ndarray
    score_high: np.ndarray


READINGS = {
    "label": "over the cluster's misclassified frames of the label (as the published code)",
    "cluster": "over all misclassified frames of the cluster (as eq. 2 is printed)",
}


def observed_in(
    audit: Audit, options: "TRoVe.Options", features: Sequence[Feature], outcomes: Sequence[Outcome]
) -> tuple[Observed, np.ndarray]:
    """The outcomes of `perturb` as arrays, and each sequence's temperature."""
    rng = audit.rng("calibration")
    return observe(by_key(audit), features, outcomes, audit.labels, options.top_k, rng)


def score_observed(observed: Observed, options: "TRoVe.Options", clusters: int) -> Table:
    """Scores under the options' rule."""
    rule = Rule(
        min_error_contribution=options.min_error_contribution,
        min_static_bias=1 / observed.classes if options.above_chance else -1.0,
        min_frequency=options.min_frequency,
        max_frequency=options.max_frequency,
        fdr=options.fdr,
    )
    return score(observed, clusters, rule, across_labels=options.static_bias == "cluster")


def described_pairs(table: Table) -> str:
    """How much was tried, which the q-values correct for."""
    if len(table.pairs) == 0:
        return "none: no label has sequences both with and without a cluster"
    found = int(table.finding.sum())
    return f"{len(table.pairs)} of (cluster, label) compared, {found} found"


def score_rows(
    table: Table,
    mistake: Mistake,
    intervals: Intervals,
    features: Sequence[Feature],
    labels: Sequence[str],
) -> Iterator[Score]:
    """Three scores a pair, the headline first; findings lead, strongest first."""
    for pair in ranked(table).tolist():
        yield from _pair_rows(table, mistake, intervals, features, labels, pair)


def _pair_rows(
    table: Table,
    mistake: Mistake,
    intervals: Intervals,
    features: Sequence[Feature],
    labels: Sequence[str],
    pair: int,
) -> Iterator[Score]:
    pairs, scored, finding = table.pairs, bool(table.scored[pair]), bool(table.finding[pair])
    feature = features[int(pairs.cluster[pair])].key
    label = labels[int(pairs.label[pair])]
    n = int(pairs.n_with[pair])
    p_value, q_value = float(table.p_value[pair]), float(table.q_value[pair])
    yield Score(
        feature=feature, label=label, metric="trove_score", n=n,
        value=float(table.score[pair]) if scored else None,
        low=float(intervals.score_low[pair]) if scored else None,
        high=float(intervals.score_high[pair]) if scored else None,
        p_value=p_value, q_value=q_value, finding=finding,
        statement=statement(table, mistake, labels, pair) if finding else None,
    )  # fmt: skip
    yield Score(
        feature=feature, label=label, metric="error_contribution", n=n,
        value=float(pairs.error_contribution[pair]),
        low=float(intervals.gap_low[pair]), high=float(intervals.gap_high[pair]),
        p_value=p_value, q_value=q_value,
    )  # fmt: skip
    yield Score(
        feature=feature, label=label, metric="static_bias",
        value=float(table.bias.value[pair]) if scored else None,
        n=int(table.bias.n_frames[pair]),
    )  # fmt: skip


def statement(table: Table, mistake: Mistake, labels: Sequence[str], pair: int) -> str:
    """The finding as a sentence: what is lost, and what the still frame is taken for."""
    pairs = table.pairs
    with_it, without = pairs.accuracy_with[pair], pairs.accuracy_without[pair]
    lost = round(100 * float(pairs.error_contribution[pair]))
    return (
        f"When {{feature}} is on screen, '{labels[int(pairs.label[pair])]}' loses {lost} points "
        f"of accuracy ({with_it:.0%} instead of {without:.0%}), "
        f"{_mistaken_for(mistake, labels, pair)}."
    )


def _mistaken_for(mistake: Mistake, labels: Sequence[str], pair: int) -> str:
    answer = labels[int(mistake.prediction[pair])]
    share, confidence = float(mistake.share[pair]), float(mistake.confidence[pair])
    named = f"'{answer}'" if share > 0.5 else f"'{answer}' (the commonest of several mistakes)"
    if confidence >= 0.5:
        return f"and one still frame is enough for {named} at {confidence:.2f}"
    chance = 1 / len(labels)
    return f"and one still frame already gives {named} {confidence:.2f} (chance {chance:.2f})"
