"""What TRoVe asks, and the clusters of what came back (section 3.2, first step)."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from cuescope_sdk import Audit, Feature, Occurrence, UserError
from cuescope_sdk.stills import Answers, FrameId, require_closed_labels
from cuescope_sdk.tools import NameGuess
from cuescope_trove.maths.clustering import Clusters, best_clusters
from cuescope_trove.options import TRoVeOptions


def check(audit: Audit, top_k: int) -> None:
    """Raise UserError where TRoVe cannot work."""
    if top_k >= len(audit.labels):
        raise UserError(
            "trove: with this top_k every answer counts as right",
            expected=f"top_k below the {len(audit.labels)} labels",
            got=str(top_k),
        )
    # pairs are of labels: an open answer belongs to none of them
    require_closed_labels(audit, "trove")


@dataclass(frozen=True, eq=False)
class ClusterChoice:
    """The clusters, the mean silhouette of each number that was tried, and the numbers wanted."""

    clusters: Clusters
    silhouettes: Mapping[int, float]
    wanted: Sequence[int]


def cluster(audit: Audit, options: TRoVeOptions, answers: Answers) -> ClusterChoice:
    """Spherical k-means of the still clips, the number of clusters chosen by silhouette."""
    wanted = sweep(len(audit.labels), options.k_min, options.k_max, options.step)
    counts = feasible(wanted, len(answers.row))
    with audit.context.progress("clustering", len(counts)) as advance:
        clusters, silhouettes = best_clusters(
            answers.embedding, counts, audit.derive_seed("kmeans"), advance
        )
    return ClusterChoice(clusters, silhouettes, wanted)


def sweep(labels: int, k_min: int, k_max: int, step: int | None) -> list[int]:
    """Numbers of clusters to try: [k_min * |Y|, k_max * |Y|] by `step`, |Y| unless given."""
    return list(range(k_min * labels, k_max * labels + 1, step or labels))


def feasible(counts: Sequence[int], points: int) -> list[int]:
    """The counts that leave at least one cluster with two points."""
    # With a point a cluster every silhouette is 0, and nothing would recur that could be scored.
    return sorted({min(count, max(points - 1, 1)) for count in counts})


def cluster_features(
    clusters: Clusters,
    frames: Sequence[FrameId],
    guesses: Sequence[NameGuess | None] = (),
) -> Iterator[Feature]:
    """A feature a cluster, the largest first; the frame nearest to the centroid stands for it.

    Behind its key a name that was guessed says what it looks like.
    """
    # keys of equal width sort as text in the order of their numbers
    digits = max(2, len(str(clusters.count - 1)))
    for number, members in enumerate(clusters.members):
        key = f"cluster-{number:0{digits}d}"
        guess = guesses[number] if guesses else None
        occurrences = []
        for member in members:
            sample, frame = frames[member]
            strength = float(clusters.strength[member])
            occurrences.append(
                Occurrence(sample=sample, frame=frame, strength=strength)
            )
        yield Feature(
            key=key,
            name=None if guess is None else guess.title(key),
            kind="cluster",
            occurrences=tuple(occurrences),
        )
