"""How many clusters embeddings have, by their cosine silhouettes."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int
from scipy import sparse

from cuescope_sdk.maths import normalise, spherical_kmeans

Points = Float[np.ndarray, "point dim"]
Labels = Int[np.ndarray, " point"]
Centres = Float[np.ndarray, "cluster dim"]
PerPoint = Float[np.ndarray, " point"]

# above the rounding of silhouettes: what differs by less is a tie
NOISE = 1e-6
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

    @property
    def members(self) -> list[Int[np.ndarray, " member"]]:
        """The points of each cluster, strongest first."""
        order = np.lexsort((-self.strength, self.cluster))
        sizes = np.bincount(self.cluster, minlength=self.count)
        return np.split(order, np.cumsum(sizes)[:-1])


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
            cluster,
            return_inverse=True,
            return_counts=True,
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
            ones = np.ones(rows, dtype=np.float32)
            entries = (ones, members, np.arange(rows + 1))
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
        clusters = Clusters(*spherical_kmeans(unit, count, seed))
        mean = float(silhouette.of(clusters.cluster).mean())
        if mean > highest + NOISE:
            best = clusters
        silhouettes[count] = mean
        highest = max(highest, mean)
        done(1)
    return best, silhouettes
