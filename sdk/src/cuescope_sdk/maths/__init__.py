"""Rankings, clusterings, calibration, maps of importance: functions of arrays."""

from cuescope_sdk.maths._calibration import cross_fitted_temperatures, softmax
from cuescope_sdk.maths._clustering import (
    Clusters,
    best_clusters,
    euclidean_kmeans,
    normalise,
    spherical_kmeans,
)
from cuescope_sdk.maths._maps import (
    energy_share,
    iou,
    iou_at_area,
    rescale,
    soft_iou,
    upsample,
)
from cuescope_sdk.maths._ranking import precision_at_k, r_precision, rank_frames

__all__ = [
    "Clusters",
    "best_clusters",
    "cross_fitted_temperatures",
    "energy_share",
    "euclidean_kmeans",
    "iou",
    "iou_at_area",
    "normalise",
    "precision_at_k",
    "r_precision",
    "rank_frames",
    "rescale",
    "soft_iou",
    "softmax",
    "spherical_kmeans",
    "upsample",
]
