"""Shared parts of detectors: boxes, and a memory of what was found; what namers are given."""

from typing import TYPE_CHECKING

from cuescope_core.lazy import attach

if TYPE_CHECKING:
    from cuescope_sdk.tools._cached_detector import CachedDetector as CachedDetector
    from cuescope_sdk.tools._detection import (
        make_detections as make_detections,
        normalise_name as normalise_name,
        sort_by_score as sort_by_score,
    )
    from cuescope_sdk.tools._naming import (
        NAMER as NAMER,
        FrameGroup as FrameGroup,
        NameGuess as NameGuess,
    )
    from cuescope_sdk.tools._options import DetectionOptions as DetectionOptions

__getattr__, __dir__, __all__ = attach(
    __name__,
    {
        "._cached_detector": ["CachedDetector"],
        "._detection": ["make_detections", "normalise_name", "sort_by_score"],
        "._naming": ["NAMER", "FrameGroup", "NameGuess"],
        "._options": ["DetectionOptions"],
    },
)
