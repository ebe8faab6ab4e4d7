"""From arrays to the rows and the sentences of the report."""

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from cuescope_sdk import Audit, Feature, Score
from cuescope_trove.options import TRoVeOptions
from cuescope_trove.scores import (
    Mistake,
    Observations,
    Rule,
    ScoredPairs,
    most_common_mistake,
    observe,
    ranking,
    score,
    score_interval,
)
from cuescope_trove.trials import ClusterChoice, answer_arrays

STATIC_BIAS_WORDS = {
    "label": "over the cluster's misclassified frames of the label (as the published code)",
    "cluster": "over all misclassified frames of the cluster (as eq. 2 is printed)",
}


def scores(audit: Audit, options: TRoVeOptions, features: Sequence[Feature]) -> Iterator[Score]:
    """The rows of the report, and the facts at its head."""
    observations, temperature = audit.once(observe_audit, audit, options, features)
    correct = observations.correct
    top = "" if options.top_k == 1 else f" (top {options.top_k})"
    audit.note("accuracy", f"{correct.mean():.1%}{top} of {len(correct)} sequences")
    temperatures = " and ".join(f"{value:.3f}" for value in sorted(set(temperature.tolist())))
    audit.note("temperature", f"{temperatures}, each fitted on the other half of the sequences")
    audit.note("static bias", STATIC_BIAS_WORDS[options.static_bias])
    if correct.all():
        audit.note("errors", "none: the model is always right here, so there is nothing to explain")
        return
    table = score_observations(observations, options, len(features))
    audit.note("pairs", pairs_words(table))
    mistake = most_common_mistake(observations, table.pairs, len(features))
    intervals = Intervals(
        *table.pairs.interval(options.confidence),
        *score_interval(
            observations,
            table.pairs,
            len(features),
            audit.rng("bootstrap"),
            options.confidence,
            across_labels=options.static_bias == "cluster",
        ),
    )
    for pair in ranking(table).tolist():
        yield from _pair_scores(table, mistake, intervals, features, audit.labels, pair)


class Intervals(NamedTuple):
    """Bounds per pair: of the error contribution, and of the TRoVe score."""

    gap_low: np.ndarray
    gap_high: np.ndarray
    score_low: np.ndarray
    score_high: np.ndarray


def observe_audit(
    audit: Audit, options: TRoVeOptions, features: Sequence[Feature]
) -> tuple[Observations, np.ndarray]:
    """The answers as arrays, and each sequence's temperature."""
    arrays = vars(answer_arrays(audit, features))
    return observe(**arrays, top_k=options.top_k, rng=audit.rng("calibration"))


def score_observations(
    observations: Observations, options: TRoVeOptions, clusters: int
) -> ScoredPairs:
    """Scores under the options' rule."""
    rule = Rule(
        min_error_contribution=options.min_error_contribution,
        # No static bias is as low as -1, so without chance to exceed it excludes nothing.
        min_static_bias=1 / observations.classes if options.above_chance else -1.0,
        min_frequency=options.min_frequency,
        max_frequency=options.max_frequency,
        fdr=options.fdr,
    )
    return score(observations, clusters, rule, across_labels=options.static_bias == "cluster")


def _pair_scores(
    table: ScoredPairs,
    mistake: Mistake,
    intervals: Intervals,
    features: Sequence[Feature],
    labels: Sequence[str],
    pair: int,
) -> Iterator[Score]:
    """Three scores of a pair, the headline first."""
    pairs, scored, finding = table.pairs, bool(table.scored[pair]), bool(table.finding[pair])
    feature = features[int(pairs.cluster[pair])].key
    label = labels[int(pairs.label[pair])]
    n = int(pairs.n_with[pair])
    p_value, q_value = float(table.p_value[pair]), float(table.q_value[pair])
    yield Score(
        feature=feature,
        label=label,
        metric="trove_score",
        n=n,
        value=float(table.score[pair]) if scored else None,
        low=float(intervals.score_low[pair]) if scored else None,
        high=float(intervals.score_high[pair]) if scored else None,
        p_value=p_value,
        q_value=q_value,
        finding=finding,
        statement=statement(table, mistake, labels, pair) if finding else None,
    )
    yield Score(
        feature=feature,
        label=label,
        metric="error_contribution",
        n=n,
        value=float(pairs.error_contribution[pair]),
        low=float(intervals.gap_low[pair]),
        high=float(intervals.gap_high[pair]),
        p_value=p_value,
        q_value=q_value,
    )
    yield Score(
        feature=feature,
        label=label,
        metric="static_bias",
        value=float(table.bias.value[pair]) if scored else None,
        n=int(table.bias.n_frames[pair]),
    )


def statement(table: ScoredPairs, mistake: Mistake, labels: Sequence[str], pair: int) -> str:
    """The finding in two sentences: what is lost, and what a still frame is taken for."""
    pairs = table.pairs
    lost = round(100 * float(pairs.error_contribution[pair]))
    return (
        f"When {{feature}} is on screen, '{labels[int(pairs.label[pair])]}' loses {lost} points "
        f"of accuracy ({pairs.accuracy_with[pair]:.0%} instead of "
        f"{pairs.accuracy_without[pair]:.0%}). {_still_frame_sentence(mistake, labels, pair)}"
    )


def _still_frame_sentence(mistake: Mistake, labels: Sequence[str], pair: int) -> str:
    answer = f"'{labels[int(mistake.prediction[pair])]}'"
    confidence = float(mistake.confidence[pair])
    if float(mistake.share[pair]) <= 0.5:
        answer += ", the most common of several wrong answers,"
    if confidence >= 0.5:
        return (
            "A single frozen frame with it makes the model answer "
            f"{answer} with {confidence:.0%} confidence."
        )
    return (
        f"A single frozen frame with it gives {answer} a probability of {confidence:.0%} "
        f"(chance: {100 / len(labels):.3g}%)."
    )


# --------------------------------------------------------------------- facts at the report's head


def note_clusters(audit: Audit, choice: ClusterChoice) -> None:
    """How many clusters there are, and why."""
    frames = len(choice.clusters.cluster)
    audit.note("clusters", clusters_words(choice.clusters.count, choice.silhouettes, frames))
    if list(choice.silhouettes) != list(choice.wanted):
        wanted = _list_words(choice.wanted)
        audit.note("cluster sweep", f"shorter than {wanted}: there are only {frames} frames")
    if all(len(sample.frames) == 1 for sample in audit.samples):
        audit.note("frames", "one a sample: its still clip is the sample itself")


def clusters_words(count: int, silhouettes: Mapping[int, float], frames: int) -> str:
    """How many clusters there are, and why."""
    if count == 1 and frames <= 2:
        return f"1: {frames} frames are too few to group"
    if count == 1:
        return (
            f"1: the model's embedding is the same for all {frames} frames, so nothing in them "
            "can be told apart"
        )
    return (
        f"{count}; of {_list_words(list(silhouettes))} it has the best cosine silhouette "
        f"({max(silhouettes.values()):.3f}) over {frames} frames"
    )


def _list_words(counts: Sequence[int]) -> str:
    if len(counts) <= 6:
        return ", ".join(map(str, counts))
    return f"{counts[0]}, {counts[1]} ... {counts[-1]}"


def pairs_words(table: ScoredPairs) -> str:
    """How much was tried, which the q-values correct for."""
    if len(table.pairs) == 0:
        return "none: no label has sequences both with and without a cluster"
    findings = int(table.finding.sum())
    return f"{len(table.pairs)} pairs of cluster and label were compared; findings: {findings}"
