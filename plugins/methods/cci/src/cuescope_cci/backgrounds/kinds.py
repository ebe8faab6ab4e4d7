"""Kinds of backgrounds: by what is annotated, else by how the model itself embeds them."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int

from cuescope_cci.kmeans import euclidean_kmeans
from cuescope_sdk.statistics import exceeds_normal_draws

FEWEST_IMAGES = 12
KINDS = (2, 3, 4, 5, 6, 8)
NEARLY = 0.05  # of a silhouette: kinds that are hardly clearer are not worth being more
DIMS = 10  # principal components that kinds are told apart by
MOST_IMAGES = 1000  # compared with draws without kinds
BY_SIZE = 0.5  # of the variance of size: a factor that explains more is the object's size itself
Points = Float[np.ndarray, "image part"]


@dataclass(frozen=True, eq=False)
class Kinds:
    """The kind of each image's background, from 0, and how clearly they are apart."""

    cluster: np.ndarray
    clarity: float


def clustered_kinds(
    embeddings: Float[np.ndarray, "image dim"], rng: np.random.Generator
) -> Int[np.ndarray, " image"] | None:
    """Kinds of backgrounds, by k-means; None where the embeddings fall into no kinds.

    There are as many as are clearest, the fewest of about equals. They must be clearer than those
    of points drawn from one normal distribution of the same covariance (SigClust: Liu et al.,
    2008): k-means cuts anything to pieces, and pieces of mere noise are no kinds.
    """
    if len(embeddings) < FEWEST_IMAGES:
        return None
    points = _components(embeddings)
    if points.shape[1] == 0:
        return None

    def clarity(points: Points) -> float:
        return _clearest(points, rng).clarity

    kinds = _clearest(points, rng)
    observed = kinds.clarity
    images = min(len(points), MOST_IMAGES)
    # draws are of the size of what they are compared with: clarity depends on it
    if len(points) > images:
        observed = clarity(rng.permutation(points)[:images])
    # components are uncorrelated, so a spread each gives the same covariance
    spread = points.std(axis=0)
    if exceeds_normal_draws(observed, clarity, spread, images, rng):
        return kinds.cluster
    return None


def _components(embeddings: Float[np.ndarray, "image dim"]) -> Points:
    """The principal components that hold the most of the variance."""
    values = embeddings.astype(np.float64)
    left, lengths, _ = np.linalg.svd(values - values.mean(axis=0), full_matrices=False)
    # equal embeddings leave rounding errors only: no component, and so no kind
    kept = lengths[:DIMS] > 1e-6 * max(float(lengths[0]), 1e-12)
    components = (left * lengths)[:, :DIMS]
    return np.asarray(components[:, kept])


def _clearest(points: Points, rng: np.random.Generator) -> Kinds:
    """The fewest kinds that are nearly as clear as the clearest."""
    distinct = len(np.unique(points, axis=0))
    everything = np.zeros(len(points), dtype=np.int64)
    # -1, the lowest silhouette: no split at all where none can be tried
    candidates = [Kinds(everything, -1.0)]
    for count in KINDS:
        # four images a kind at the least: single ones are as clear as can be, and no kind
        if len(points) >= 4 * count and distinct > count:
            kinds = _kinds_of(points, count, rng)
            candidates.append(kinds)
    best = max(kinds.clarity for kinds in candidates)
    return next(kinds for kinds in candidates if kinds.clarity >= best - NEARLY)


def _kinds_of(points: Points, count: int, rng: np.random.Generator) -> Kinds:
    """So many kinds by k-means, the largest first and none empty.

    Their clarity is the mean silhouette by distances to centroids (Hruschka et al., 2004), which
    needs no pairwise matrix.
    """
    centroid, cluster = euclidean_kmeans(points, count, rng)
    distance = np.linalg.norm(points[:, None] - centroid, axis=2)
    images = np.arange(len(points))
    inside = distance[images, cluster]
    # so that the minimum is that of the next kind
    distance[images, cluster] = np.inf
    outside = distance.min(axis=1)
    largest = np.maximum(outside, inside)
    silhouette = (outside - inside) / np.maximum(largest, 1e-12)
    return Kinds(cluster, float(silhouette.mean()))


def follows_size(
    values: Sequence[str | None], area: Float[np.ndarray, " image"]
) -> bool:
    """Whether a factor is the object's size by another name: it explains most of the variance."""
    is_known = np.array([value is not None for value in values])
    # by ratio: a thing of 2% and one of 4% differ as those of 20% and 40% do
    size = np.log(np.maximum(area[is_known], 1e-6))
    # without any variance nothing can be explained of it
    if len(size) < 2 or np.ptp(size) == 0:
        return False
    size -= size.mean()
    _, code, counts = np.unique(
        np.array(values, dtype=str)[is_known],
        return_inverse=True,
        return_counts=True,
    )
    sums = np.bincount(code, size)
    explained = (sums**2 / counts).sum() / (size**2).sum()
    # each of many values explains a little by chance
    by_chance = (len(counts) - 1) / (len(size) - 1)
    return bool(explained - by_chance > BY_SIZE)
