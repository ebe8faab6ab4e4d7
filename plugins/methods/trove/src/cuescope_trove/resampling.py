"""Bootstrap interval of the TRoVe score: whole sequences are drawn anew, with and without."""

from collections.abc import Iterator

import numpy as np
from jaxtyping import Float, Int

from cuescope_sdk.maths import snap_to_value
from cuescope_trove.scoring import Observed, Pairs, incidences, static_bias

RESAMPLES = 1000
CHUNK = 2_000_000


def score_interval(
    observed: Observed,
    pairs: Pairs,
    clusters: int,
    rng: np.random.Generator,
    confidence: float,
    *,
    across_labels: bool = False,
) -> tuple[Float[np.ndarray, " pair"], Float[np.ndarray, " pair"]]:
    """Percentile interval of error contribution + static bias, per pair.

    Frames of a sequence are drawn together, as they are not independent. A resample without
    errors has no static bias to add. With `across_labels` the static bias is drawn from all
    sequences with the cluster, apart from those of the label.
    """
    if len(pairs) == 0:
        return np.empty(0), np.empty(0)
    sample, cluster = incidences(observed.frame_sample, observed.frame_cluster, clusters)
    cell = observed.label[sample] * clusters + cluster
    wanted = pairs.label * clusters + pairs.cluster
    values = _per_incidence(observed, sample, cluster, clusters)
    rate = pairs.accuracy_without
    drawn = []
    for members in _resampled(values, cell, wanted, rng):
        erring = members
        if across_labels:
            erring = next(_resampled(values, cluster, pairs.cluster, rng, len(members)))
        without = rng.binomial(pairs.n_without, rate, (len(members), len(pairs)))
        gap = without / pairs.n_without - members[:, 0] / pairs.n_with
        drawn.append(gap + erring[:, 1] / np.maximum(erring[:, 2], 1))
    tail = (1 - confidence) / 2
    low, high = np.quantile(np.concatenate(drawn), (tail, 1 - tail), axis=0)
    bias = static_bias(observed, pairs, clusters, across_labels=across_labels)
    score = pairs.error_contribution + bias.value
    return snap_to_value(low, score), snap_to_value(high, score)


def _per_incidence(
    observed: Observed,
    sample: Int[np.ndarray, " incidence"],
    cluster: Int[np.ndarray, " incidence"],
    clusters: int,
) -> Float[np.ndarray, "3 incidence"]:
    """Right or not; sum of static probabilities if wrong; number of frames if wrong."""
    met = sample * clusters + cluster
    place = np.searchsorted(met, observed.frame_sample * clusters + observed.frame_cluster)
    wrong = ~observed.correct[sample]
    total = np.bincount(place, weights=observed.frame_bias, minlength=len(met))
    frames = np.bincount(place, minlength=len(met))
    return np.stack([observed.correct[sample], total * wrong, frames * wrong])


def _resampled(
    values: Float[np.ndarray, "value incidence"],
    group: Int[np.ndarray, " incidence"],
    wanted: Int[np.ndarray, " pair"],
    rng: np.random.Generator,
    resamples: int | None = None,
) -> Iterator[Float[np.ndarray, "resample value pair"]]:
    """Sums over as many incidences of each wanted group as it has, drawn with replacement."""
    order = np.argsort(group, kind="stable")
    begin = np.searchsorted(group[order], wanted)
    size = np.searchsorted(group[order], wanted, side="right") - begin
    slot_begin, slot_size = np.repeat(begin, size), np.repeat(size, size)
    edges = np.concatenate([[0], np.cumsum(size)[:-1]])
    ordered = values[:, order]
    left = resamples or RESAMPLES
    step = resamples or max(1, CHUNK // len(slot_begin))
    while left > 0:
        now = min(step, left)
        picked = slot_begin + (rng.random((now, len(slot_begin))) * slot_size).astype(np.int64)
        yield np.stack([np.add.reduceat(row[picked], edges, axis=1) for row in ordered], axis=1)
        left -= now
