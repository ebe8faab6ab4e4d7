"""Clusters by Euclidean distance."""

import numpy as np
from jaxtyping import Float, Int

Points = Float[np.ndarray, "point dim"]
Labels = Int[np.ndarray, " point"]
Centres = Float[np.ndarray, "cluster dim"]


def euclidean_kmeans(
    points: Points,
    k: int,
    rng: np.random.Generator,
    *,
    restarts: int = 1,
) -> tuple[Centres, Labels]:
    """Centroids and each point's cluster by Euclidean distance; at most one for a distinct point.

    No cluster is empty, and the largest come first. k-means++ (Arthur and Vassilvitskii, 2007); of
    several `restarts` the one with the least sum of squares is kept. Raises ValueError for no
    points, or k below 1.
    """
    # a tenth of a second, which not all who import us need
    from scipy.cluster.vq import kmeans2

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
            best = centroid, cluster
    return _largest_first(*best)


def _largest_first(centroid: Centres, cluster: Labels) -> tuple[Centres, Labels]:
    """Of equal sizes the first to appear leads."""
    used, first, number, sizes = np.unique(
        cluster,
        return_index=True,
        return_inverse=True,
        return_counts=True,
    )
    # k-means numbers clusters at random: by size they are the same on every machine
    order = np.lexsort((first, -sizes))
    return centroid[used[order]], np.argsort(order)[number]
