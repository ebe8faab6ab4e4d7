"""Rankings, clusterings, calibration, maps of importance: functions of arrays."""

from cuescope_sdk.maths._calibration import (
    cross_fitted_temperatures as cross_fitted_temperatures,
    softmax as softmax,
)
from cuescope_sdk.maths._clustering import (
    Clusters as Clusters,
    CosineSilhouette as CosineSilhouette,
    best_clusters as best_clusters,
    euclidean_kmeans as euclidean_kmeans,
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
from cuescope_sdk.maths._ranking import (
    precision_at_k as precision_at_k,
    r_precision as r_precision,
    rank_frames as rank_frames,
)
