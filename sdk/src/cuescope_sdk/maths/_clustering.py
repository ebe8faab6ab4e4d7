"""Clusters of embeddings on the unit sphere."""

import numpy as np
from jaxtyping import Float, Int

Points = Float[np.ndarray, "point dim"]
Labels = Int[np.ndarray, " point"]
Centres = Float[np.ndarray, "cluster dim"]
PerPoint = Float[np.ndarray, " point"]

NOISE = 1e-6
# as many as TRoVe's published code makes (Varma et al., 2025)
ITERATIONS = 20
LEAST_GAIN = 1e-3  # of the sum of cosines, below which k-means stops
BLOCK = 1024  # rows at a time: the working set stays in the processor's cache


def normalise(points: Points) -> Points:
    """Rows of length 1, float32; a row of zeros stays as it is."""
    length = np.linalg.norm(points.astype(np.float64), axis=1, keepdims=True)
    length[length == 0] = 1.0
    return np.asarray(points / length, dtype=np.float32)


def spherical_kmeans(
    points: Points,
    k: int,
    seed: int,
) -> tuple[Centres, Labels, PerPoint]:
    """At most `k` clusters of unit vectors by cosine, the largest first; all points are used.

    Unit centroids, each point's cluster, and its cosine to the centroid. No cluster is empty.
    Points that are all the same are one cluster, and a centroid that no point is nearest to is
    dropped. The same points, in the same order, with the same seed give the same clusters.
    """
    if k < 1 or len(points) == 0:
        raise ValueError(
            f"expected k >= 1 and some points, got k = {k}, {len(points)} points"
        )
    unit = np.ascontiguousarray(points, dtype=np.float32)
    if np.ptp(unit, axis=0).max() <= NOISE:
        alone = np.zeros(len(unit), dtype=np.int64)
        return unit[:1], alone, np.ones(len(unit))
    rng = np.random.default_rng(seed)
    centroid, cluster, strength = _lloyd(unit, min(k, len(unit)), rng)
    # without empty clusters, the largest first, ties by first point
    used, first, cluster, size = np.unique(
        cluster,
        return_index=True,
        return_inverse=True,
        return_counts=True,
    )
    order = np.lexsort((first, -size))
    place = np.argsort(order)  # the inverse
    return centroid[used[order]], place[cluster.ravel()], strength.astype(np.float64)


def _lloyd(
    unit: Points, k: int, rng: np.random.Generator
) -> tuple[Centres, Labels, PerPoint]:
    """Lloyd's iterations (1982) from `k` of the points."""
    centroid = unit[rng.choice(len(unit), k, replace=False)]
    cluster, strength = _assign(unit, centroid)
    for _ in range(ITERATIONS):
        before = strength.sum()
        total = _sums(unit, cluster, k)
        empty = np.flatnonzero(np.bincount(cluster, minlength=k) == 0)
        # where points are alike a centroid may be nearest to none: it begins again
        total[empty] = unit[rng.integers(len(unit), size=len(empty))]
        centroid = normalise(total)
        cluster, strength = _assign(unit, centroid)
        if strength.sum() - before < LEAST_GAIN * abs(before):
            break
    return centroid, cluster, strength


def _sums(unit: Points, cluster: Labels, k: int) -> Centres:
    # a third of a second, which not all who import us need
    from scipy import sparse

    rows = len(unit)
    entries = np.ones(rows, dtype=np.float32), cluster, np.arange(rows + 1)
    member = sparse.csr_array(entries, shape=(rows, k))
    return np.asarray(member.T @ unit)


def _assign(unit: Points, centroid: Centres) -> tuple[Labels, PerPoint]:
    """The centroid with the highest cosine, and that cosine; ties go to the lower index."""
    nearest = []
    strength = []
    for start in range(0, len(unit), BLOCK):
        cosine = unit[start : start + BLOCK] @ centroid.T
        highest = cosine.argmax(axis=1)
        nearest.append(highest)
        strength.append(cosine[np.arange(len(highest)), highest])
    return np.concatenate(nearest), np.concatenate(strength)
