"""Statistics, rankings, clusterings, calibration, maps of importance: functions of arrays."""

from cuescope_sdk.maths._calibration import cross_fitted_temperatures, softmax
from cuescope_sdk.maths._clustering import (
    Clusters,
    CosineSilhouette,
    best_clusters,
    normalise,
    spherical_kmeans,
)
from cuescope_sdk.maths._maps import energy_share, iou, iou_at_area, rescale, soft_iou, upsample
from cuescope_sdk.maths._paired import PairedFlips, paired_flips
from cuescope_sdk.maths._ranking import precision_at_k, r_precision, rank_frames
from cuescope_sdk.maths._stats import (
    accuracy_gap_interval,
    accuracy_gap_p_value,
    benjamini_hochberg,
    bootstrap_mean_interval,
    exceeds_rate_p_value,
    snap_to_value,
)

__all__ = [
    "cross_fitted_temperatures",
    "softmax",
    "Clusters",
    "CosineSilhouette",
    "best_clusters",
    "normalise",
    "spherical_kmeans",
    "energy_share",
    "iou",
    "iou_at_area",
    "rescale",
    "soft_iou",
    "upsample",
    "PairedFlips",
    "paired_flips",
    "precision_at_k",
    "r_precision",
    "rank_frames",
    "accuracy_gap_interval",
    "accuracy_gap_p_value",
    "benjamini_hochberg",
    "bootstrap_mean_interval",
    "exceeds_rate_p_value",
    "snap_to_value",
]
