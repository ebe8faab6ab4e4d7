"""From arrays to the rows and the sentences of the report."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from jaxtyping import Float

from cuescope_sdk import Audit, Feature, Score, Table
from cuescope_sdk.maths import cross_fitted_temperatures, softmax
from cuescope_sdk.statistics import Groups, mean_interval, selected_confidence, sum_interval
from cuescope_sdk.stills import ask, stack_logits
from cuescope_trove.control import Control, control_of
from cuescope_trove.options import TRoVeOptions
from cuescope_trove.power import faultless_words, limit_words
from cuescope_trove.scores import (
    Mistake,
    Observations,
    among_top,
    bias_limits,
    gap_limits,
    most_common_mistake,
)
from cuescope_trove.selection import ScoredPairs, Verdict, discovery_part, ranking, score
from cuescope_trove.trials import ClusterChoice

MOST_SHOWN = 20  # pairs in the table of both parts
CALIBRATION = "calibration"  # names the random halves on which temperatures are fitted
STATIC_BIAS_WORDS = {
    "label": "over the cluster's misclassified frames of the label (as the published code)",
    "cluster": "over all misclassified frames of the cluster (as eq. 2 is printed)",
}
SIZE_UNKNOWN = (
    "nothing: the object's size is not known, and errors that follow it can look like a cue. "
    "Boxes, masks or a number under 'object_size' make it known. -O control=NAME compares only "
    "samples that are alike in another annotation"
)


@dataclass(frozen=True, eq=False)
class Analysis:
    """All sequences, the part in which cues were looked for, and what the pairs came to."""

    observations: Observations
    part: np.ndarray | None
    table: ScoredPairs
    control: Control | None


def analyse(audit: Audit, options: TRoVeOptions, features: Sequence[Feature]) -> Analysis:
    """The audit's numbers; for `audit.once`, so that `verify` finds what `compute_scores` did."""
    observations, _ = audit.once(observe, audit, features, options.top_k, CALIBRATION)
    samples = [outcome.trial.sample for outcome in audit.once(ask, audit).outcomes]
    control = control_of(audit, samples, observations.groups, options)
    if control is not None:
        observations = replace(observations, control=control.level)
    part = discovery_part(observations, options.discover, audit.rng("discover"))
    table = score(observations, len(features), options, audit.rng("permutation"), part)
    return Analysis(observations, part, table, control)


def scores(audit: Audit, options: TRoVeOptions, features: Sequence[Feature]) -> Iterator[Score]:
    """The rows of the report, and the facts at its head."""
    observations, temperature = audit.once(observe, audit, features, options.top_k, CALIBRATION)
    correct, groups = observations.correct, observations.groups
    top = "" if options.top_k == 1 else f" (top {options.top_k})"
    low, high = mean_interval(correct.astype(float), groups, confidence=options.confidence)
    audit.note(
        "accuracy",
        f"{correct.mean():.1%}{top} of {len(correct)} sequences ({low:.1%} to {high:.1%})",
    )
    temperatures = " and ".join(f"{value:.3f}" for value in sorted(set(temperature.tolist())))
    audit.note("temperature", f"{temperatures}, each fitted on the other half of the sequences")
    audit.note("static bias", STATIC_BIAS_WORDS[options.static_bias])
    if groups.declared:
        few = ": few, so intervals and tests can prove little" if groups.few else ""
        audit.note("groups", f"{groups.count} groups of sequences that belong together{few}")
    if correct.all():
        audit.note("errors", "none: the model is always right here, so there is nothing to explain")
        missed = faultless_words(observations, len(features), options)
        audit.note("could have been missed", missed)
        return
    if not correct.any():
        audit.note("errors", "all: the model is never right here, so no cue can cost accuracy")
    analysis = audit.once(analyse, audit, options, features)
    table, measured = analysis.table, analysis.table.observations
    _note_selection(audit, options, analysis)
    mistake = most_common_mistake(measured, table.pairs, len(features))
    intervals = pair_intervals(table, len(features), options)
    order = ranking(table).tolist()
    if table.first_gap is not None and table.tried.any():
        tried = [pair for pair in order if table.tried[pair]][:MOST_SHOWN]
        audit.attach(found_again(table, intervals, features, audit.labels, tried))
    for pair in order:
        yield from _pair_scores(
            table, mistake, intervals, features, audit.labels, analysis.control, pair
        )


def pair_intervals(
    table: ScoredPairs, clusters: int, options: TRoVeOptions
) -> tuple[np.ndarray, ...]:
    """Bounds of the error contribution, the static bias and the TRoVe score of each pair.

    Findings that were chosen and measured on the same sequences have wider ones: at a level that
    holds over all that was chosen (Benjamini and Yekutieli, 2005).
    """
    level = options.confidence
    bounds = np.array(_bounds(table, np.arange(len(table.pairs)), clusters, level, options))
    chosen = np.flatnonzero(table.verdict != Verdict.NOTHING)
    if table.first_gap is None and len(chosen):
        strict = selected_confidence(level, len(chosen), int(table.tried.sum()))
        bounds[:, chosen] = _bounds(table, chosen, clusters, strict, options)
    return tuple(bounds)


def found_again(
    table: ScoredPairs,
    intervals: Sequence[np.ndarray],
    features: Sequence[Feature],
    labels: Sequence[str],
    tried: Sequence[int],
) -> Table:
    """Each candidate's loss where it was looked for, and in the other sequences."""
    assert table.first_gap is not None
    pairs, low, high = table.pairs, intervals[0], intervals[1]
    rows = tuple(
        {
            "cue": f"{features[int(pairs.cluster[pair])].key}, {labels[int(pairs.label[pair])]}",
            "looked for": 100 * float(table.first_gap[pair]),
            "measured": 100 * float(pairs.error_contribution[pair]),
            "low": 100 * float(low[pair]),
            "high": 100 * float(high[pair]),
            "q": float(table.q_value[pair]),
            "finding": "yes" if table.finding[pair] else "no",
        }
        for pair in tried
    )
    return Table(
        title="Points of accuracy lost, where a cue was looked for and where it was measured",
        columns=tuple(rows[0]),
        rows=rows,
        notes=(
            "A loss that was chosen because it is large will be smaller elsewhere. A loss that is "
            "measured in other sequences is not too large.",
        ),
    )


def _bounds(
    table: ScoredPairs, chosen: np.ndarray, clusters: int, level: float, options: TRoVeOptions
) -> list[np.ndarray]:
    pairs, measured = table.pairs.take(chosen), table.observations
    across_labels = options.static_bias == "cluster"
    gap = gap_limits(measured, pairs, clusters, level)
    bias = bias_limits(measured, pairs, clusters, level, across_labels=across_labels)
    # uncorrelated: one part counts wrong answers, the other says how sure the wrong ones are
    both = sum_interval((pairs.error_contribution, *gap), (table.bias.value[chosen], *bias))
    return [*gap, *bias, *both]


def _note_selection(audit: Audit, options: TRoVeOptions, analysis: Analysis) -> None:
    """What was tried, on which sequences, and what that could have missed."""
    table, observations = analysis.table, analysis.observations
    words = "none: no label has sequences both with and without a cluster"
    if len(table.pairs):  # how much was tried, which the q-values correct for
        words = f"{len(table.pairs)} pairs of cluster and label were compared, "
        words += f"{table.tried.sum()} of them tested; findings: {table.finding.sum()}"
    audit.note("pairs", words)
    if analysis.part is not None:
        first = int(analysis.part.sum())
        audit.note(
            "two parts",
            f"cues were looked for in {first} sequences; all figures are of the other "
            f"{len(analysis.part) - first}",
        )
    audit.note("controlled for", analysis.control.name if analysis.control else SIZE_UNKNOWN)
    audit.note(
        "could have been missed", limit_words(observations, table, options, audit.rng("limit"))
    )


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
        groups=Groups.of(samples),
        probability=softmax(logits, temperature),
    )
    return observations, temperature


def _pair_scores(
    table: ScoredPairs,
    mistake: Mistake,
    intervals: Sequence[np.ndarray],
    features: Sequence[Feature],
    labels: Sequence[str],
    control: Control | None,
    pair: int,
) -> Iterator[Score]:
    """Three scores of a pair, the headline first; `intervals` as `pair_intervals` gives them."""
    pairs, scored = table.pairs, bool(table.scored[pair])
    gap_low, gap_high, bias_low, bias_high, low, high = (float(b[pair]) for b in intervals)
    about: dict[str, Any] = {
        "feature": features[int(pairs.cluster[pair])].key,
        "label": labels[int(pairs.label[pair])],
    }
    tested = about | {"n": int(pairs.n_with[pair])}
    if table.tried[pair]:
        p_value, q_value = float(table.p_value[pair]), float(table.q_value[pair])
        tested |= {"p_value": p_value, "q_value": q_value}
    verdict = Verdict(int(table.verdict[pair]))
    yield Score(
        **tested,
        metric="trove_score",
        value=float(table.score[pair]) if scored else None,
        low=low if scored else None,
        high=high if scored else None,
        finding=verdict == Verdict.FINDING,
        always_reported=verdict in (Verdict.LABEL_NOISE, Verdict.CONTROL),
        statement=statement(
            table, mistake, labels, pair, (gap_low, gap_high), control.name if control else ""
        )
        if verdict != Verdict.NOTHING
        else None,
    )
    gap = float(pairs.error_contribution[pair])
    yield Score(**tested, metric="error_contribution", value=gap, low=gap_low, high=gap_high)
    bias, n_frames = float(table.bias.value[pair]), int(table.bias.n_frames[pair])
    yield Score(
        **about,
        metric="static_bias",
        value=bias if scored else None,
        low=bias_low if scored else None,
        high=bias_high if scored else None,
        n=n_frames,
    )


def statement(
    table: ScoredPairs,
    mistake: Mistake,
    labels: Sequence[str],
    pair: int,
    interval: tuple[float, float],
    control: str = "",
) -> str:
    """A pair in a few sentences: what is lost, and what a still frame is taken for, or why not."""
    pairs = table.pairs
    lost = round(100 * float(pairs.error_contribution[pair]))
    low, high = (f"{100 * bound:.0f}".replace("-", "\u2212") for bound in interval)
    label = f"'{labels[int(pairs.label[pair])]}'"
    words = (
        f"Where {{feature}} is on screen, {label} loses {lost} points of accuracy "
        f"({pairs.accuracy_with[pair]:.0%} instead of {pairs.accuracy_without[pair]:.0%}; "
        f"{low} to {high} points)."
    )
    if table.first_gap is not None:
        first = round(100 * float(table.first_gap[pair]))
        words += f" In the part of the data where it was looked for, it was {first} points."
    p = float(table.retest[pair])
    if table.verdict[pair] == Verdict.LABEL_NOISE:
        return (
            f"Label noise, no cue: {words} But up to {table.suspects[pair]} samples of {label} "
            f"with it may be mislabelled, and without them the loss is not clear (p = {p:.2g})."
        )
    if table.verdict[pair] == Verdict.CONTROL:
        return (
            f"Goes with {control}, no cue: {words} But among sequences that are alike in that, "
            f"the loss is not clear (p = {p:.2g})."
        )
    return f"{words} {_still_frame_sentence(mistake, labels, pair)}"


def _still_frame_sentence(mistake: Mistake, labels: Sequence[str], pair: int) -> str:
    answer = f"'{labels[int(mistake.prediction[pair])]}'"
    confidence = float(mistake.confidence[pair])
    if float(mistake.share[pair]) <= 0.5:  # it must not read as if all errors were the same
        answer += ", the most common of several wrong answers,"
    if confidence >= 0.5:
        return (
            f"A single frozen frame with it is answered {answer} with {confidence:.0%} confidence."
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
