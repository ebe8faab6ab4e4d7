"""Clusters of embeddings: on the unit sphere (needs the extra [clustering])."""

from types import ModuleType

import numpy as np
from jaxtyping import Float, Int

from cuescope.errors import UserError
from cuescope.installing import how_to_install

Points = Float[np.ndarray, "point dim"]
Labels = Int[np.ndarray, " point"]
Centres = Float[np.ndarray, "cluster dim"]
PerPoint = Float[np.ndarray, " point"]

NOISE = 1e-6
# as many as TRoVe's published code makes
ITERATIONS = 20
LEAST_GAIN = 1e-3  # of the objective, below which k-means stops
BLOCK = 4096  # rows at a time: the working set stays in the processor's cache


def normalise(points: Points) -> Points:
    """Rows of length 1, float32; a row of zeros stays as it is."""
    length = np.linalg.norm(points.astype(np.float64), axis=1, keepdims=True)
    length[length == 0] = 1.0
    return np.asarray(points / length, dtype=np.float32)


def spherical_kmeans(
    points: Points,
    k: int,
    seed: int,
    *,
    restarts: int = 1,
) -> tuple[Centres, Labels, PerPoint]:
    """At most `k` clusters of unit vectors by cosine, the largest first; all points are used.

    Unit centroids, each point's cluster, and its cosine to the centroid. No cluster is empty.
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
        return unit[:1], alone, np.ones(len(unit))
    centroid = _train(unit, min(k, len(unit)), seed, restarts)
    cluster, strength = _assign(unit, centroid)
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


def _train(unit: Points, k: int, seed: int, restarts: int) -> Centres:
    kmeans = _faiss().Kmeans(
        unit.shape[1],
        k,
        niter=ITERATIONS,
        nredo=restarts,
        early_stop_threshold=LEAST_GAIN,
        # of unit rows: TRoVe's published code takes rows of any length
        spherical=True,
        # faiss takes 32 bits with a sign
        seed=seed % 2**31,
        min_points_per_centroid=1,
        # all of them: faiss would draw 256 points a centroid
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
