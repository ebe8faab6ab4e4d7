"""What detectors share: boxes, K-scores, and a memory of what was found."""

from cuescope_sdk.tools._cached_detector import CachedDetector, cached_detector
from cuescope_sdk.tools._detection import k_scores, make_detections, normalise_name, sort_by_score

__all__ = [
    "CachedDetector",
    "cached_detector",
    "k_scores",
    "make_detections",
    "normalise_name",
    "sort_by_score",
]
