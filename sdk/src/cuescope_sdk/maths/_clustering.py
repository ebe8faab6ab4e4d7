"""Clusters of embeddings: on the unit sphere (needs the extra [clustering]), or by distance."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from types import ModuleType

import numpy as np
from jaxtyping import Float, Int
from scipy import sparse

from cuescope.errors import UserError
from cuescope.installing import how_to_install

NOISE = 1e-6
ITERATIONS = 20
LEAST_GAIN = 1e-3  # of the objective, below which k-means stops
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


def spherical_kmeans(
    points: Float[np.ndarray, "point dim"], k: int, seed: int, *, restarts: int = 1
) -> Clusters:
    """At most `k` clusters of unit vectors by cosine, the largest first; all points are used.

    Points that are all the same are one cluster, and a centroid that no point is nearest to is
    dropped. Of several `restarts` the tightest clusters are kept. The same points, in the same
    order, with the same seed give the same clusters.
    """
    if k < 1 or len(points) == 0:
        raise ValueError(f"expected k >= 1 and some points, got k = {k}, {len(points)} points")
    unit = np.ascontiguousarray(points, dtype=np.float32)
    if np.ptp(unit, axis=0).max() <= NOISE:
        return _clusters(np.zeros(len(unit), dtype=np.int64), np.ones(len(unit)), unit[:1])
    centroid = _train(unit, min(k, len(unit)), seed, restarts)
    return _clusters(*_assign(unit, centroid), centroid)


def euclidean_kmeans(
    points: Float[np.ndarray, "point dim"], k: int, rng: np.random.Generator, *, restarts: int = 1
) -> tuple[Float[np.ndarray, "cluster dim"], Int[np.ndarray, " point"]]:
    """Centroids and each point's cluster by Euclidean distance; at most one for a distinct point.

    k-means++ (Arthur and Vassilvitskii, 2007); of several `restarts` the one with the least sum of
    squares is kept. A cluster may be empty. Raises ValueError for no points, or k below 1.
    """
    from scipy.cluster.vq import kmeans2  # a tenth of a second, which not all who import us need

    if k < 1 or len(points) == 0:
        raise ValueError(f"expected k >= 1 and some points, got k = {k}, {len(points)} points")
    # kmeans2 leaves clusters empty where there are fewer distinct points than clusters.
    count = min(k, len(np.unique(points, axis=0)))
    tried = [kmeans2(points, count, minit="++", rng=rng) for _ in range(restarts)]
    spreads = [((points - centroid[cluster]) ** 2).sum() for centroid, cluster in tried]
    centroid, cluster = tried[int(np.argmin(spreads))]
    return np.asarray(centroid), np.asarray(cluster)


def _train(
    unit: Float[np.ndarray, "point dim"], k: int, seed: int, restarts: int
) -> Float[np.ndarray, "cluster dim"]:
    kmeans = _faiss().Kmeans(
        unit.shape[1],
        k,
        niter=ITERATIONS,
        nredo=restarts,
        early_stop_threshold=LEAST_GAIN,
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
            "clustering needs faiss", remedy=how_to_install("cuescope-sdk[clustering]")
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
    place = np.argsort(order)  # the inverse
    return Clusters(centroid[used[order]], place[cluster.ravel()], strength.astype(np.float64))


class CosineSilhouette:
    """Silhouettes of the same unit vectors under one clustering after another, by cosine distance.

    The mean cosine distance from a point to a cluster is 1 - point . mean(cluster), so no
    pairwise matrix is needed. With c the centre of all points, a point's dot product with a
    cluster's mean m is x . m = x . c + (x - c) . (m - c) + c . (m - c). All but the first is as
    small as the distances are, so float32 is enough for it however tight the clusters.
    """

    def __init__(self, points: Float[np.ndarray, "point dim"]) -> None:
        centre = points.mean(axis=0, dtype=np.float64).astype(np.float32)
        self.centre = centre.astype(np.float64)
        self.apart = np.asarray(points, dtype=np.float32) - centre
        length = self.centre @ self.centre
        self.to_centre = self.apart @ centre + length
        away = np.einsum("nd,nd->n", self.apart, self.apart)
        self.square = away + 2 * self.to_centre - length

    def of(self, cluster: Int[np.ndarray, " point"]) -> Float[np.ndarray, " point"]:
        """One silhouette a point, exactly, in O(point * cluster * dim).

        Singletons score 0 (Rousseeuw, 1987), and so does every point of a lone cluster.
        """
        used, cluster, size = np.unique(cluster, return_inverse=True, return_counts=True)
        if len(used) < 2:
            return np.zeros(len(self.apart))
        cluster = cluster.ravel()
        away = self._sums(cluster, len(size)) / size[:, None]
        blocks = range(0, len(cluster), BLOCK)
        parts = [self._block(slice(at, at + BLOCK), cluster, size, away) for at in blocks]
        return np.concatenate(parts)

    def _block(
        self,
        block: slice,
        cluster: Int[np.ndarray, " point"],
        size: Int[np.ndarray, " cluster"],
        away: Float[np.ndarray, "cluster dim"],
    ) -> Float[np.ndarray, " block"]:
        mine = cluster[block]
        to_centre = self.to_centre[block]
        rows = np.arange(len(mine))
        members = size[mine]
        cosine = self.apart[block] @ away.astype(np.float32).T
        cosine += (away @ self.centre).astype(np.float32)
        # A point is no neighbour of itself, so x . x leaves its own cluster's sum.
        own = (to_centre + cosine[rows, mine]) * members - self.square[block]
        within = np.maximum(1 - own / np.maximum(members - 1, 1), 0)
        cosine[rows, mine] = -np.inf
        nearest = np.maximum(1 - to_centre - cosine.max(axis=1), 0)
        widest = np.maximum(within, nearest)
        scored = (members > 1) & (widest > NOISE**2)
        return np.where(scored, (nearest - within) / np.where(scored, widest, 1.0), 0.0)

    def _sums(
        self, cluster: Int[np.ndarray, " point"], count: int
    ) -> Float[np.ndarray, "cluster dim"]:
        """Sum of x - c over each cluster: float32 within a block, float64 over the blocks."""
        total = np.zeros((count, self.apart.shape[1]))
        for at in range(0, len(cluster), BLOCK):
            mine = cluster[at : at + BLOCK]
            member = sparse.csr_array(
                (np.ones(len(mine), dtype=np.float32), mine, np.arange(len(mine) + 1)),
                shape=(len(mine), count),
            )
            total += member.T @ self.apart[at : at + BLOCK]
        return total


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
    unit = normalise(points)
    silhouettes = {}
    best = None
    silhouette = CosineSilhouette(unit)
    for count in sorted(set(counts)):
        tried = spherical_kmeans(unit, count, seed)
        silhouettes[count] = float(silhouette.of(tried.cluster).mean())
        if best is None or silhouettes[count] > max(list(silhouettes.values())[:-1]) + NOISE:
            best = tried
        done(1)
    if best is None:
        raise RuntimeError("no clustering was tried")
    return best, silhouettes
