"""Statistics, rankings, clusterings, calibration, maps of importance: functions of arrays."""

from cuescope_sdk.maths._calibration import (
    cross_fitted_temperatures as cross_fitted_temperatures,
    softmax as softmax,
)
from cuescope_sdk.maths._clustering import (
    Clusters as Clusters,
    CosineSilhouette as CosineSilhouette,
    best_clusters as best_clusters,
    normalise as normalise,
    spherical_kmeans as spherical_kmeans,
)
from cuescope_sdk.maths._maps import (
    energy_share as energy_share,
    iou as iou,
    iou_at_area as iou_at_area,
    rescale as rescale,
    soft_iou as soft_iou,
    upsample as upsample,
)
from cuescope_sdk.maths._paired import PairedFlips as PairedFlips, paired_flips as paired_flips
from cuescope_sdk.maths._ranking import (
    precision_at_k as precision_at_k,
    r_precision as r_precision,
    rank_frames as rank_frames,
)
from cuescope_sdk.maths._resampling import (
    bootstrap_cluster_means as bootstrap_cluster_means,
    bootstrap_gap_interval as bootstrap_gap_interval,
    bootstrap_interval as bootstrap_interval,
    bootstrap_mean_band as bootstrap_mean_band,
    bootstrap_mean_interval as bootstrap_mean_interval,
    exchange_p_value as exchange_p_value,
    monte_carlo_p_value as monte_carlo_p_value,
    percentile_interval as percentile_interval,
    percentiles as percentiles,
    permutation_p_value as permutation_p_value,
    portions as portions,
    sign_flip_p_value as sign_flip_p_value,
)
from cuescope_sdk.maths._stats import (
    accuracy_gap_interval as accuracy_gap_interval,
    accuracy_gap_p_value as accuracy_gap_p_value,
    benjamini_hochberg as benjamini_hochberg,
    correlation_interval as correlation_interval,
    exceeds_rate_p_value as exceeds_rate_p_value,
    holm as holm,
    mcnemar_p_value as mcnemar_p_value,
    overlap_p_value as overlap_p_value,
    single_gap_p_value as single_gap_p_value,
    snap_to_value as snap_to_value,
    wilson_interval as wilson_interval,
)
