"""What TRoVe asks, and which of what came back looks alike (section 3.2, first step)."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from cuescope_sdk import Audit, Feature, Occurrence, UserError
from cuescope_sdk.stills import FrameId
from cuescope_sdk.tools import NameGuess
from cuescope_trove.candidates.groups import Candidates
from cuescope_trove.control import check_control
from cuescope_trove.maths.clustering import best_clusters
from cuescope_trove.options import TRoVeOptions


def check(audit: Audit, options: TRoVeOptions) -> None:
    """Raise UserError where TRoVe cannot work."""
    if options.top_k >= len(audit.labels):
        raise UserError(
            "trove: with this top_k every answer counts as right",
            expected=f"top_k below the {len(audit.labels)} labels",
            got=str(options.top_k),
        )
    if options.control is not None:
        check_control(audit, options.control)
    # pairs are of labels: an open answer belongs to none of them
    audit.require_closed_labels("trove")


@dataclass(frozen=True, eq=False)
class Clustering:
    """The clusters, the numbers of clusters wanted and tried, and the silhouettes of the tried."""

    candidates: Candidates
    wanted: Sequence[int]
    counts: Sequence[int]
    silhouettes: Mapping[int, float]


def choose_clusters(
    audit: Audit,
    options: TRoVeOptions,
    points: Float[np.ndarray, "frame dim"],
) -> Clustering:
    """Groups of still clips that look alike to the model, as many as fit best by silhouette.

    `points` are the embeddings of the frames.
    """
    wanted = sweep(len(audit.labels), options.k_min, options.k_max, options.step)
    counts = feasible(wanted, len(points))
    seed = audit.derive_seed("kmeans")
    with audit.context.progress("clustering", len(counts)) as advance:
        clusters, silhouettes = best_clusters(points, counts, seed, advance)
    return Clustering(Candidates.of(clusters), wanted, counts, silhouettes)


def sweep(labels: int, k_min: int, k_max: int, step: int | None) -> list[int]:
    """Numbers of clusters to try: [k_min * |Y|, k_max * |Y|] by `step`, |Y| unless given."""
    return list(range(k_min * labels, k_max * labels + 1, step or labels))


def feasible(counts: Sequence[int], points: int) -> list[int]:
    """The counts that leave at least one cluster with two points."""
    # With a point a cluster every silhouette is 0, and nothing would recur that could be scored.
    return sorted({min(count, max(points - 1, 1)) for count in counts})


def candidate_features(
    candidates: Candidates,
    frames: Sequence[FrameId],
    guesses: Sequence[NameGuess | None] = (),
) -> Iterator[Feature]:
    """A feature a candidate, in their order; its first member stands for it.

    Behind its key a name that was guessed says what it looks like.
    """
    # keys of equal width sort as text in the order of their numbers
    digits = max(2, len(str(len(candidates) - 1)))
    for number, members in enumerate(candidates.members):
        key = f"cluster-{number:0{digits}d}"
        guess = guesses[number] if guesses else None
        occurrences = []
        strengths = candidates.strength[number].tolist()
        for member, strength in zip(members, strengths, strict=True):
            sample, frame = frames[member]
            occurrences.append(
                Occurrence(sample=sample, frame=frame, strength=strength)
            )
        yield Feature(
            key=key,
            name=None if guess is None else guess.title(key),
            kind="cluster",
            occurrences=tuple(occurrences),
        )
