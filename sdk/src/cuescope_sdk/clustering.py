"""Clusters of embeddings on the unit sphere. Needs the extra [clustering]."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from types import ModuleType

import numpy as np
from jaxtyping import Float, Int
from scipy import sparse

from cuescope.errors import UserError

NOISE = 1e-6
ITERATIONS = 20
BLOCK = 4096  # rows at a time: the working set stays in the processor's cache


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
    if np.ptp(unit, axis=0).max() <= NOISE:
        return _clusters(np.zeros(len(unit), dtype=np.int64), np.ones(len(unit)), unit[:1])
    centroid = _train(unit, min(k, len(unit)), seed)
    return _clusters(*_assign(unit, centroid), centroid)


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


def _assign(
    unit: Float[np.ndarray, "point dim"], centroid: Float[np.ndarray, "cluster dim"]
) -> tuple[Int[np.ndarray, " point"], Float[np.ndarray, " point"]]:
    """The centroid with the highest cosine, and that cosine; ties go to the lower index."""
    found = []
    for at in range(0, len(unit), BLOCK):
        cosine = unit[at : at + BLOCK] @ centroid.T
        best = cosine.argmax(axis=1)
        found.append((best, cosine[np.arange(len(best)), best]))
    cluster, strength = zip(*found, strict=True)
    return np.concatenate(cluster), np.concatenate(strength)


def _clusters(
    cluster: Int[np.ndarray, " point"],
    strength: Float[np.ndarray, " point"],
    centroid: Float[np.ndarray, "cluster dim"],
) -> Clusters:
    """Without empty clusters, the largest first, ties by first point."""
    used, first, cluster, size = np.unique(
        cluster, return_index=True, return_inverse=True, return_counts=True
    )
    order = np.lexsort((first, -size))
    place = np.empty(len(order), dtype=np.int64)
    place[order] = np.arange(len(order))
    return Clusters(centroid[used[order]], place[cluster.ravel()], strength.astype(np.float64))


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
    mean = _means(points, cluster, size)
    centre = (size @ mean / size.sum()).astype(np.float32)
    blocks = range(0, len(points), BLOCK)
    return np.concatenate(
        [_silhouettes(points[at : at + BLOCK], cluster[at : at + BLOCK], size, mean, centre)
         for at in blocks]
    )  # fmt: skip


def _silhouettes(
    points: Float[np.ndarray, "point dim"],
    cluster: Int[np.ndarray, " point"],
    size: Int[np.ndarray, " cluster"],
    mean: Float[np.ndarray, "cluster dim"],
    centre: Float[np.ndarray, " dim"],
) -> Float[np.ndarray, " point"]:
    """Silhouettes of a block of points.

    With c the centre of all points, a point's dot product with a mean is
    x . m = x . c + c . (m - c) + (x - c) . (m - c). All but the first is as small as the
    distances are, so float32 is enough for it however tight the clusters.
    """
    rows, wide = np.arange(len(points)), centre.astype(np.float64)
    away, apart = mean - wide, np.asarray(points, dtype=np.float32) - centre
    shared = apart @ centre + wide @ wide
    cosine = apart @ away.astype(np.float32).T
    cosine += (away @ wide).astype(np.float32)
    # A point is no neighbour of itself, so x . x leaves its own cluster's sum.
    square = np.einsum("nd,nd->n", apart, apart) + 2 * shared - wide @ wide
    own = (shared + cosine[rows, cluster]) * size[cluster] - square
    within = np.maximum(1 - own / np.maximum(size[cluster] - 1, 1), 0)
    cosine[rows, cluster] = -np.inf
    nearest = np.maximum(1 - shared - cosine.max(axis=1), 0)
    widest = np.maximum(within, nearest)
    scored = (size[cluster] > 1) & (widest > NOISE**2)
    return np.where(scored, (nearest - within) / np.where(scored, widest, 1.0), 0.0)


def _means(
    points: Float[np.ndarray, "point dim"],
    cluster: Int[np.ndarray, " point"],
    size: Int[np.ndarray, " cluster"],
) -> Float[np.ndarray, "cluster dim"]:
    """Mean of each cluster's points in float64."""
    total = np.zeros((len(size), points.shape[1]))
    for at in range(0, len(points), BLOCK):
        block = np.asarray(points[at : at + BLOCK], dtype=np.float64)
        member = sparse.csr_array(
            (np.ones(len(block)), cluster[at : at + BLOCK], np.arange(len(block) + 1)),
            shape=(len(block), len(size)),
        )
        total += member.T @ block
    return np.asarray(total / size[:, None])


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
