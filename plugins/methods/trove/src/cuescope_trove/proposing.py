"""Candidate static features: clusters of still clips (section 3.2, first step)."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np

from cuescope_sdk import Audit, Feature, Occurrence
from cuescope_sdk.maths import Clusters, best_clusters
from cuescope_trove.observing import baseline_trials, sequences, static_trial

if TYPE_CHECKING:
    from cuescope_trove import TRoVe


def propose(audit: Audit, options: "TRoVe.Options") -> Iterator[Feature]:
    """Asks for every still clip, clusters their embeddings, and notes what was chosen."""
    samples = sequences(audit, options.top_k)
    frames = [(sample, frame) for sample in samples for frame in range(len(sample.frames))]
    asked = [*baseline_trials(samples), *(static_trial(*frame) for frame in frames)]
    outcomes = audit.respond(asked)[len(samples) :]
    points = np.stack([np.asarray(outcome.response.embedding) for outcome in outcomes])
    wanted = sweep(len(audit.labels), options.k_min, options.k_max, options.step)
    counts = feasible(wanted, len(points))
    with audit.context.progress("clustering", len(counts)) as done:
        clusters, silhouettes = best_clusters(points, counts, audit.derive_seed("kmeans"), done)
    audit.note("clusters", describe(clusters.count, silhouettes, len(points)))
    if counts != wanted:
        audit.note(
            "cluster sweep", f"shrunk from {_listed(wanted)}: there are only {len(points)} frames"
        )
    if all(len(sample.frames) == 1 for sample in samples):
        audit.note("frames", "one a sample: its still clip is the sample itself")
    places = [(sample.key, frame) for sample, frame in frames]
    yield from features_of(clusters, places)


def sweep(labels: int, k_min: int, k_max: int, step: int | None) -> list[int]:
    """Numbers of clusters to try: [k_min * |Y|, k_max * |Y|] by `step`, |Y| unless told."""
    return list(range(k_min * labels, k_max * labels + 1, step or labels))


def feasible(counts: Sequence[int], points: int) -> list[int]:
    """The counts that leave at least one cluster with two points."""
    return sorted({min(count, max(points - 1, 1)) for count in counts})


def describe(chosen: int, silhouettes: dict[int, float], frames: int) -> str:
    """The choice in words."""
    if chosen == 1 and frames <= 2:
        return f"1: {frames} frames are too few to group"
    if chosen == 1:
        return (
            f"1: the model's embedding is the same for all {frames} frames, so nothing in them "
            "can be told apart"
        )
    best = max(silhouettes.values())
    return (
        f"{chosen}, chosen among {_listed(list(silhouettes))} by cosine silhouette ({best:.3f}) "
        f"over {frames} frames"
    )


def _listed(counts: Sequence[int]) -> str:
    if len(counts) <= 6:
        return ", ".join(map(str, counts))
    return f"{counts[0]}, {counts[1]} ... {counts[-1]}"


def features_of(clusters: Clusters, places: Sequence[tuple[str, int]]) -> Iterator[Feature]:
    """A feature a cluster, the largest first; the frame nearest to the centroid stands for it."""
    digits = max(2, len(str(clusters.count - 1)))
    order = np.lexsort((-clusters.strength, clusters.cluster))
    ends = np.cumsum(np.bincount(clusters.cluster, minlength=clusters.count))
    for cluster, members in enumerate(np.split(order, ends[:-1])):
        yield Feature(
            key=f"cluster-{cluster:0{digits}d}",
            kind="cluster",
            occurrences=tuple(
                Occurrence(
                    sample=places[member][0],
                    frame=places[member][1],
                    strength=float(clusters.strength[member]),
                )
                for member in members.tolist()
            ),
        )
