"""Clusters of an image's own patch embeddings (section 3, "Patch Embedding Clustering")."""

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
from jaxtyping import Float, Int
from scipy.cluster.vq import kmeans2

from cuescope_sdk import Readout, Trial
from cuescope_sdk.maths import normalise, spherical_kmeans


def patch_clusters(
    features: Float[np.ndarray, "row col dim"],
    k: int,
    metric: Literal["cosine", "euclidean"],
    seed: int,
) -> Int[np.ndarray, "row col"]:
    """The cluster of each patch, 0 the largest; at most `k`, none of them empty."""
    rows, cols, dim = features.shape
    points = features.reshape(-1, dim)
    if metric == "cosine":
        cluster = spherical_kmeans(normalise(points), k, seed).cluster
    else:
        rng = np.random.default_rng(seed)
        few = min(k, len(np.unique(points, axis=0)))
        cluster = kmeans2(points.astype(np.float64), few, minit="++", rng=rng)[1]
    return by_size(np.asarray(cluster)).reshape(rows, cols)


def by_size(cluster: Int[np.ndarray, " patch"]) -> Int[np.ndarray, " patch"]:
    """The same clusters, numbered from the largest; of equal ones the first to appear leads."""
    _, first, inverse, counts = np.unique(
        cluster, return_index=True, return_inverse=True, return_counts=True
    )
    order = np.lexsort((first, -counts))
    return np.asarray(np.argsort(order)[inverse], dtype=np.int16)


class PatchClusters(Readout):
    """`patch_clusters` of an image, beside the model: what is kept is a small map of numbers."""

    name = "cci-patch-clusters-1"
    k: int
    layer: int
    metric: Literal["cosine", "euclidean"]
    seed: int

    def read(self, model: Any, trials: Sequence[Trial]) -> list[np.ndarray]:
        """An int16 map (row, col) for each single-frame sample."""
        return [self._clusters(model, trial) for trial in trials]

    def _clusters(self, model: Any, trial: Trial) -> Int[np.ndarray, "row col"]:
        [features] = model.patch_features(trial.sample.frames, self.layer)
        return patch_clusters(features, self.k, self.metric, self.seed)
