"""Clusters of embeddings: on the unit sphere (needs the extra [clustering]), or by distance."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from types import ModuleType

import numpy as np
from jaxtyping import Float, Int
from scipy import sparse

from cuescope.errors import UserError
from cuescope.installing import how_to_install

Points = Float[np.ndarray, "point dim"]
Labels = Int[np.ndarray, " point"]
Centres = Float[np.ndarray, "cluster dim"]
PerPoint = Float[np.ndarray, " point"]

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


def normalise(points: Points) -> Points:
    """Rows of length 1, float32; a row of zeros stays as it is."""
    length = np.linalg.norm(points.astype(np.float64), axis=1, keepdims=True)
    length[length == 0] = 1.0
    return np.asarray(points / length, dtype=np.float32)


def spherical_kmeans(
    points: Points, k: int, seed: int, *, restarts: int = 1
) -> Clusters:
    """At most `k` clusters of unit vectors by cosine, the largest first; all points are used.

    Points that are all the same are one cluster, and a centroid that no point is nearest to is
    dropped. Of several `restarts` the tightest clusters are kept. The same points, in the same
    order, with the same seed give the same clusters.
    """
    if k < 1 or len(points) == 0:
        raise ValueError(
            f"expected k >= 1 and some points, got k = {k}, {len(points)} points"
        )
    unit = np.ascontiguousarray(points, dtype=np.float32)
    if np.ptp(unit, axis=0).max() <= NOISE:
        alone = np.zeros(len(unit), dtype=np.int64)
        return _clusters(alone, np.ones(len(unit)), unit[:1])
    centroid = _train(unit, min(k, len(unit)), seed, restarts)
    return _clusters(*_assign(unit, centroid), centroid)


def euclidean_kmeans(
    points: Points, k: int, rng: np.random.Generator, *, restarts: int = 1
) -> tuple[Centres, Labels]:
    """Centroids and each point's cluster by Euclidean distance; at most one for a distinct point.

    k-means++ (Arthur and Vassilvitskii, 2007); of several `restarts` the one with the least sum of
    squares is kept. A cluster may be empty. Raises ValueError for no points, or k below 1.
    """
    from scipy.cluster.vq import (
        kmeans2,
    )  # a tenth of a second, which not all who import us need

    if k < 1 or len(points) == 0:
        raise ValueError(
            f"expected k >= 1 and some points, got k = {k}, {len(points)} points"
        )
    # kmeans2 leaves clusters empty where there are fewer distinct points than clusters.
    count = min(k, len(np.unique(points, axis=0)))
    least = np.inf
    for _ in range(restarts):
        centroid, cluster = kmeans2(points, count, minit="++", rng=rng)
        spread = ((points - centroid[cluster]) ** 2).sum()
        if spread < least:
            least = spread
            best = np.asarray(centroid), np.asarray(cluster)
    return best


def _train(unit: Points, k: int, seed: int, restarts: int) -> Centres:
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


def _assign(unit: Points, centroid: Centres) -> tuple[Labels, PerPoint]:
    """The centroid with the highest cosine, and that cosine; ties go to the lower index."""
    nearest = []
    strength = []
    for start in range(0, len(unit), BLOCK):
        cosine = unit[start : start + BLOCK] @ centroid.T
        nearest.append(cosine.argmax(axis=1))
        strength.append(cosine.max(axis=1))
    return np.concatenate(nearest), np.concatenate(strength)


def _clusters(cluster: Labels, strength: PerPoint, centroid: Centres) -> Clusters:
    """Without empty clusters, the largest first, ties by first point."""
    used, first, cluster, size = np.unique(
        cluster, return_index=True, return_inverse=True, return_counts=True
    )
    order = np.lexsort((first, -size))
    place = np.argsort(order)  # the inverse
    return Clusters(
        centroid[used[order]], place[cluster.ravel()], strength.astype(np.float64)
    )


class CosineSilhouette:
    """Silhouettes of the same unit vectors under one clustering after another, by cosine distance.

    The mean cosine distance from a point to a cluster is 1 - point . mean(cluster), so no
    pairwise matrix is needed. With c the centre of all points, a point's dot product with a
    cluster's mean m is x . m = x . c + (x - c) . (m - c) + c . (m - c). All but the first is as
    small as the distances are, so float32 is enough for it however tight the clusters.
    """

    def __init__(self, points: Points) -> None:
        centre = points.mean(axis=0, dtype=np.float64).astype(np.float32)
        self.centre = centre.astype(np.float64)
        self.apart = np.asarray(points, dtype=np.float32) - centre
        length = self.centre @ self.centre
        self.to_centre = self.apart @ centre + length
        away = np.einsum("nd,nd->n", self.apart, self.apart)
        self.square = away + 2 * self.to_centre - length

    def of(self, cluster: Labels) -> PerPoint:
        """One silhouette a point, exactly, in O(point * cluster * dim).

        Singletons score 0 (Rousseeuw, 1987), and so does every point of a lone cluster.
        """
        used, cluster, size = np.unique(
            cluster, return_inverse=True, return_counts=True
        )
        if len(used) < 2:
            return np.zeros(len(self.apart))
        cluster = cluster.ravel()
        away = self._sums(cluster, len(size)) / size[:, None]
        parts = []
        for start in range(0, len(cluster), BLOCK):
            block = slice(start, start + BLOCK)
            parts.append(self._block(block, cluster, size, away))
        return np.concatenate(parts)

    def _block(
        self,
        block: slice,
        cluster: Labels,
        size: Int[np.ndarray, " cluster"],
        away: Centres,
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
        silhouette = np.zeros(len(mine))
        np.divide(nearest - within, widest, out=silhouette, where=scored)
        return silhouette

    def _sums(self, cluster: Labels, count: int) -> Centres:
        """Sum of x - c over each cluster: float32 within a block, float64 over the blocks."""
        total = np.zeros((count, self.apart.shape[1]))
        for start in range(0, len(cluster), BLOCK):
            block = slice(start, start + BLOCK)
            members = cluster[block]
            rows = len(members)
            entries = (np.ones(rows, dtype=np.float32), members, np.arange(rows + 1))
            member = sparse.csr_array(entries, shape=(rows, count))
            total += member.T @ self.apart[block]
        return total


def best_clusters(
    points: Points,
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
    silhouette = CosineSilhouette(unit)
    silhouettes = {}
    highest = -np.inf
    for count in sorted(set(counts)):
        clusters = spherical_kmeans(unit, count, seed)
        mean = float(silhouette.of(clusters.cluster).mean())
        if mean > highest + NOISE:
            best = clusters
        silhouettes[count] = mean
        highest = max(highest, mean)
        done(1)
    return best, silhouettes
