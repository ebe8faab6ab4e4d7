"""What detectors share: boxes, K-scores, and a memory of what was found; what namers are given."""

from cuescope_sdk.tools._cached_detector import CachedDetector, cached_detector
from cuescope_sdk.tools._detection import (
    k_scores,
    make_detections,
    normalise_name,
    sort_by_score,
)
from cuescope_sdk.tools._naming import (
    NAMER,
    FrameGroup,
    NameGuess,
    best_name,
    guess_in,
    name_with_guess,
)
from cuescope_sdk.tools._options import DetectionOptions

__all__ = [
    "CachedDetector",
    "DetectionOptions",
    "FrameGroup",
    "NAMER",
    "NameGuess",
    "best_name",
    "cached_detector",
    "guess_in",
    "k_scores",
    "make_detections",
    "name_with_guess",
    "normalise_name",
    "sort_by_score",
]
