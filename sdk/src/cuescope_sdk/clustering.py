"""Clusters of embeddings on the unit sphere. Needs the extra [clustering]."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from types import ModuleType

import numpy as np
from jaxtyping import Float, Int

from cuescope.errors import UserError

NOISE = 1e-6
ITERATIONS = 20


@dataclass(frozen=True, eq=False)
class Clusters:
    """Unit `centroid`s (cluster, dim), each point's `cluster`, and its cosine to the centroid."""

    centroid: np.ndarray
    cluster: np.ndarray
    strength: np.ndarray

    @property
    def count(self) -> int:
        """Number of clusters, none of them empty."""
        return len(self.centroid)


def normalise(points: Float[np.ndarray, "point dim"]) -> Float[np.ndarray, "point dim"]:
    """Rows of length 1, float32; a row of zeros stays as it is."""
    length = np.linalg.norm(np.asarray(points, dtype=np.float64), axis=1, keepdims=True)
    return (points / np.where(length > 0, length, 1.0)).astype(np.float32)


def spherical_kmeans(points: Float[np.ndarray, "point dim"], k: int, seed: int) -> Clusters:
    """At most `k` clusters of unit vectors by cosine, the largest first; all points are used.

    Points that are all the same are one cluster, and a centroid that no point is nearest to is
    dropped. The same points, in the same order, with the same seed give the same clusters.
    """
    if k < 1 or len(points) == 0:
        raise ValueError(f"expected k >= 1 and some points, got k = {k}, {len(points)} points")
    unit = np.ascontiguousarray(points, dtype=np.float32)
    if np.abs(unit - unit[0]).max() <= NOISE:
        return _clusters(unit, np.zeros(len(unit), dtype=np.int64), unit[:1])
    centroid = _train(unit, min(k, len(unit)), seed)
    return _clusters(unit, (unit @ centroid.T).argmax(axis=1), centroid)


def _train(
    unit: Float[np.ndarray, "point dim"], k: int, seed: int
) -> Float[np.ndarray, "cluster dim"]:
    kmeans = _faiss().Kmeans(
        unit.shape[1],
        k,
        niter=ITERATIONS,
        spherical=True,
        seed=seed % 2**31,
        min_points_per_centroid=1,
        max_points_per_centroid=len(unit),
    )
    kmeans.train(unit)
    return normalise(kmeans.centroids)


def _faiss() -> ModuleType:
    try:
        import faiss
    except ImportError as error:
        raise UserError(
            "clustering needs faiss", remedy="pip install 'cuescope-sdk[clustering]'"
        ) from error
    module: ModuleType = faiss
    return module


def _clusters(
    unit: Float[np.ndarray, "point dim"],
    cluster: Int[np.ndarray, " point"],
    centroid: Float[np.ndarray, "cluster dim"],
) -> Clusters:
    """Without empty clusters, the largest first, ties by first point."""
    used, first, cluster, size = np.unique(
        cluster, return_index=True, return_inverse=True, return_counts=True
    )
    order = np.lexsort((first, -size))
    place = np.empty(len(order), dtype=np.int64)
    place[order] = np.arange(len(order))
    cluster, centroid = place[cluster.ravel()], centroid[used[order]]
    strength = np.einsum("nd,nd->n", unit, centroid[cluster], dtype=np.float64)
    return Clusters(centroid, cluster, strength)


def cosine_silhouette(
    points: Float[np.ndarray, "point dim"], cluster: Int[np.ndarray, " point"]
) -> Float[np.ndarray, " point"]:
    """Silhouette of unit vectors under cosine distance, exactly, in O(point * cluster * dim).

    The mean cosine distance from a point to a cluster is 1 - point . mean(cluster), so no
    pairwise matrix is needed. Singletons score 0 (Rousseeuw, 1987), and so does every point
    where there is one cluster only.
    """
    used, cluster, size = np.unique(cluster, return_inverse=True, return_counts=True)
    cluster = cluster.ravel()
    if len(used) < 2:
        return np.zeros(len(points))
    unit = np.asarray(points, dtype=np.float64)
    rows, others = np.arange(len(unit)), np.maximum(size[cluster] - 1, 1)
    similarity = unit @ _cluster_sums(unit, cluster, len(used)).T
    own = similarity[rows, cluster] - np.einsum("nd,nd->n", unit, unit)
    within = np.maximum(1 - own / others, 0)
    similarity /= size
    similarity[rows, cluster] = -np.inf
    nearest = np.maximum(1 - similarity.max(axis=1), 0)
    widest = np.maximum(within, nearest)
    scored = (size[cluster] > 1) & (widest > NOISE**2)
    return np.where(scored, (nearest - within) / np.where(scored, widest, 1.0), 0.0)


def _cluster_sums(
    unit: Float[np.ndarray, "point dim"], cluster: Int[np.ndarray, " point"], count: int
) -> Float[np.ndarray, "cluster dim"]:
    order = np.argsort(cluster, kind="stable")
    start = np.searchsorted(cluster[order], np.arange(count))
    return np.asarray(np.add.reduceat(unit[order], start, axis=0))


def best_clusters(
    points: Float[np.ndarray, "point dim"],
    counts: Sequence[int],
    seed: int,
    done: Callable[[int], object] = lambda step: None,
) -> tuple[Clusters, dict[int, float]]:
    """The clustering with the highest mean cosine silhouette, and that of every count tried.

    Ties go to the smaller count. `done(1)` is called after each.
    """
    if not counts:
        raise ValueError("expected at least one number of clusters, got none")
    unit, silhouettes, best = normalise(points), {}, None
    for count in sorted(set(counts)):
        tried = spherical_kmeans(unit, count, seed)
        silhouettes[count] = float(cosine_silhouette(unit, tried.cluster).mean())
        if best is None or silhouettes[count] > max(list(silhouettes.values())[:-1]) + NOISE:
            best = tried
        done(1)
    if best is None:
        raise RuntimeError("no clustering was tried")
    return best, silhouettes
