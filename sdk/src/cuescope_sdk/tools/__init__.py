"""What detectors share: boxes, and a memory of what was found; what namers are given."""

from cuescope_sdk.tools._cached_detector import CachedDetector
from cuescope_sdk.tools._detection import make_detections, normalise_name, sort_by_score
from cuescope_sdk.tools._naming import NAMER, FrameGroup, NameGuess
from cuescope_sdk.tools._options import DetectionOptions

__all__ = [
    "CachedDetector",
    "DetectionOptions",
    "FrameGroup",
    "NAMER",
    "NameGuess",
    "make_detections",
    "normalise_name",
    "sort_by_score",
]
