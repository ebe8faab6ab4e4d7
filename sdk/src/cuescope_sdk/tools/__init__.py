"""What detectors share: boxes, K-scores, and a memory of what was found; what namers are given."""

from cuescope_sdk.tools._cached_detector import (
    CachedDetector as CachedDetector,
    cached_detector as cached_detector,
)
from cuescope_sdk.tools._detection import (
    k_scores as k_scores,
    make_detections as make_detections,
    normalise_name as normalise_name,
    sort_by_score as sort_by_score,
)
from cuescope_sdk.tools._naming import (
    NAMER as NAMER,
    FrameGroup as FrameGroup,
    NameGuess as NameGuess,
    Namer as Namer,
    TextEmbeddings as TextEmbeddings,
    best_name as best_name,
    guess_in as guess_in,
    name_with_guess as name_with_guess,
)
from cuescope_sdk.tools._options import DetectionOptions as DetectionOptions
