"""From arrays to the rows and the sentences of the report."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from jaxtyping import Float

from cuescope_sdk import Audit, Feature, Score
from cuescope_sdk.maths import cross_fitted_temperatures, softmax
from cuescope_trove.options import TRoVeOptions
from cuescope_trove.scores import (
    Mistake,
    Observations,
    ScoredPairs,
    among_top,
    most_common_mistake,
    ranking,
    score,
    score_interval,
)
from cuescope_trove.trials import ClusterChoice, ask, stack_logits

CALIBRATION = "calibration"  # names the random halves on which temperatures are fitted
STATIC_BIAS_WORDS = {
    "label": "over the cluster's misclassified frames of the label (as the published code)",
    "cluster": "over all misclassified frames of the cluster (as eq. 2 is printed)",
}


def scores(audit: Audit, options: TRoVeOptions, features: Sequence[Feature]) -> Iterator[Score]:
    """The rows of the report, and the facts at its head."""
    observations, temperature = audit.once(observe, audit, features, options.top_k, CALIBRATION)
    correct = observations.correct
    top = "" if options.top_k == 1 else f" (top {options.top_k})"
    audit.note("accuracy", f"{correct.mean():.1%}{top} of {len(correct)} sequences")
    temperatures = " and ".join(f"{value:.3f}" for value in sorted(set(temperature.tolist())))
    audit.note("temperature", f"{temperatures}, each fitted on the other half of the sequences")
    audit.note("static bias", STATIC_BIAS_WORDS[options.static_bias])
    if correct.all():
        audit.note("errors", "none: the model is always right here, so there is nothing to explain")
        return
    table = score(observations, len(features), options)
    words = "none: no label has sequences both with and without a cluster"
    if len(table.pairs):  # how much was tried, which the q-values correct for
        words = f"{len(table.pairs)} pairs of cluster and label were compared; "
        words += f"findings: {table.finding.sum()}"
    audit.note("pairs", words)
    mistake = most_common_mistake(observations, table.pairs, len(features))
    across_labels = options.static_bias == "cluster"
    rng, level = audit.rng("bootstrap"), options.confidence
    intervals = (
        *table.pairs.interval(level),
        *score_interval(
            observations, table.pairs, len(features), rng, level, across_labels=across_labels
        ),
    )
    for pair in ranking(table).tolist():
        yield from _pair_scores(table, mistake, intervals, features, audit.labels, pair)


def observe(
    audit: Audit, features: Sequence[Feature], top_k: int, stream: str
) -> tuple[Observations, Float[np.ndarray, " sample"]]:
    """The answers as arrays, and each sequence's temperature; `stream` names the random halves."""
    answers = audit.once(ask, audit)
    samples = [outcome.trial.sample for outcome in answers.outcomes]
    number = {sample.key: index for index, sample in enumerate(samples)}
    frames = [
        (number[occurrence.sample], cluster, answers.row[occurrence.sample, occurrence.frame or 0])
        for cluster, feature in enumerate(features)
        for occurrence in feature.occurrences
    ]
    frame_sample, frame_cluster, row = np.array(frames, dtype=np.int64).reshape(-1, 3).T
    label = np.array([audit.labels.index(str(sample.label)) for sample in samples])
    logits = stack_logits(answers.outcomes, audit.labels)
    temperature = cross_fitted_temperatures(logits, label, audit.rng(stream))
    observations = Observations(
        label=label,
        prediction=logits.argmax(axis=1),
        correct=among_top(logits, label, top_k),
        frame_sample=frame_sample,
        frame_cluster=frame_cluster,
        # A still clip takes the temperature of its sequence, which was fitted on other sequences:
        # no answer has a part in its own calibration.
        frame_static=softmax(answers.static_logits[row], temperature[frame_sample]),
    )
    return observations, temperature


def _pair_scores(
    table: ScoredPairs,
    mistake: Mistake,
    intervals: Sequence[np.ndarray],
    features: Sequence[Feature],
    labels: Sequence[str],
    pair: int,
) -> Iterator[Score]:
    """Three scores of a pair, the headline first.

    `intervals` are the bounds of the error contribution, then those of the TRoVe score.
    """
    pairs, scored, finding = table.pairs, bool(table.scored[pair]), bool(table.finding[pair])
    gap_low, gap_high, low, high = (float(bounds[pair]) for bounds in intervals)
    about: dict[str, Any] = {
        "feature": features[int(pairs.cluster[pair])].key,
        "label": labels[int(pairs.label[pair])],
    }
    tested = about | {
        "n": int(pairs.n_with[pair]),
        "p_value": float(table.p_value[pair]),
        "q_value": float(table.q_value[pair]),
    }
    yield Score(
        **tested,
        metric="trove_score",
        value=float(table.score[pair]) if scored else None,
        low=low if scored else None,
        high=high if scored else None,
        finding=finding,
        statement=statement(table, mistake, labels, pair) if finding else None,
    )
    gap = float(pairs.error_contribution[pair])
    yield Score(**tested, metric="error_contribution", value=gap, low=gap_low, high=gap_high)
    bias, n_frames = float(table.bias.value[pair]), int(table.bias.n_frames[pair])
    yield Score(**about, metric="static_bias", value=bias if scored else None, n=n_frames)


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
    if float(mistake.share[pair]) <= 0.5:  # it must not read as if all errors were the same
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
