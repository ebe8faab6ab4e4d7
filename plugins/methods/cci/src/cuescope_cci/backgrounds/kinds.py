"""Kinds of backgrounds: by what is annotated, else by how the model itself embeds them."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int

from cuescope_sdk.maths import euclidean_kmeans

FEWEST_IMAGES = 12
KINDS = (2, 3, 4, 5, 6, 8)
NEARLY = 0.05  # of a silhouette: kinds that are hardly clearer are not worth being more
DIMS = 10  # principal components that kinds are told apart by
REFERENCES = 19  # draws without kinds: none may be as clear, p = 1 / 20
MOST_IMAGES = 1000  # for that comparison
BY_SIZE = 0.5  # of the variance of size: a factor that explains more is the object's size itself


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
    kinds = _clearest(points, rng)
    some = min(len(points), MOST_IMAGES)
    own = kinds if some == len(points) else _clearest(rng.permutation(points)[:some], rng)
    spread = points.std(axis=0)
    for _ in range(REFERENCES):
        if _clearest(rng.normal(size=(some, points.shape[1])) * spread, rng).clarity >= own.clarity:
            return None
    return np.asarray(kinds.cluster)


def _components(embeddings: Float[np.ndarray, "image dim"]) -> Float[np.ndarray, "image part"]:
    """The principal components that hold the most of the variance."""
    centred = embeddings.astype(np.float64) - embeddings.mean(axis=0, dtype=np.float64)
    left, lengths, _ = np.linalg.svd(centred, full_matrices=False)
    kept = lengths[:DIMS] > 1e-6 * max(float(lengths[0]), 1e-12)
    return np.asarray((left * lengths)[:, :DIMS][:, kept])


def _clearest(points: Float[np.ndarray, "image part"], rng: np.random.Generator) -> Kinds:
    """The fewest kinds that are nearly as clear as the clearest."""
    distinct = len(np.unique(points, axis=0))
    tried = [Kinds(np.zeros(len(points), dtype=np.int64), -1.0)]
    for count in KINDS:
        if len(points) >= 4 * count and distinct > count:
            centroid, cluster = _kmeans(points, count, rng)
            tried.append(Kinds(cluster, _silhouette(points, centroid, cluster)))
    best = max(kinds.clarity for kinds in tried)
    return next(kinds for kinds in tried if kinds.clarity >= best - NEARLY)


def _kmeans(
    points: Float[np.ndarray, "image part"], count: int, rng: np.random.Generator
) -> tuple[Float[np.ndarray, "kind part"], Int[np.ndarray, " image"]]:
    """k-means without empty clusters, the largest first."""
    centroid, cluster = euclidean_kmeans(points, count, rng)
    used, inverse, sizes = np.unique(cluster, return_inverse=True, return_counts=True)
    order = np.argsort(-sizes, kind="stable")
    return centroid[used[order]], np.argsort(order)[inverse]


def _silhouette(
    points: Float[np.ndarray, "image part"],
    centroid: Float[np.ndarray, "kind part"],
    cluster: Int[np.ndarray, " image"],
) -> float:
    """Mean silhouette by distances to centroids (Hruschka et al., 2004): no pairwise matrix."""
    distance = np.linalg.norm(points[:, None] - centroid[None], axis=2)
    own = distance[np.arange(len(points)), cluster].copy()
    distance[np.arange(len(points)), cluster] = np.inf
    other = distance.min(axis=1)
    return float(((other - own) / np.maximum(np.maximum(other, own), 1e-12)).mean())


def follows_size(values: Sequence[str | None], area: Float[np.ndarray, " image"]) -> bool:
    """Whether a factor is the object's size by another name: it explains most of the variance."""
    size = np.log(np.maximum(area, 1e-6))
    known = np.array([value is not None for value in values])
    if known.sum() < 2 or np.ptp(size[known]) == 0:
        return False
    size = size[known]
    _, code = np.unique([str(value) for value in values if value is not None], return_inverse=True)
    counts = np.bincount(code)
    between = (np.bincount(code, size) ** 2 / counts).sum() - size.sum() ** 2 / len(size)
    # each of many values explains a little by chance
    share = between / ((size - size.mean()) ** 2).sum() - (len(counts) - 1) / max(len(size) - 1, 1)
    return bool(share > BY_SIZE)
