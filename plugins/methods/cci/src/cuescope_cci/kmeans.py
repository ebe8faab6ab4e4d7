"""Clusters by Euclidean distance."""

import numpy as np
from jaxtyping import Float, Int

Points = Float[np.ndarray, "point dim"]
Labels = Int[np.ndarray, " point"]
Centres = Float[np.ndarray, "cluster dim"]


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
