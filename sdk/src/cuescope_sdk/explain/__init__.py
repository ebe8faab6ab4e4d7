"""What explainers of image-text models share: what the network sees, and how faithful a map is."""

from cuescope_sdk.explain._canvas import (
    Explainer,
    canvas_masks,
    canvas_samples,
    foreground_of,
    single_frame,
)
from cuescope_sdk.explain._curves import (
    auc,
    classification_curves,
    paired_difference,
    retrieval_curves,
)
from cuescope_sdk.explain._evidence import faithfulness_trials, measure_faithfulness
from cuescope_sdk.explain._perturbation import DIRECTIONS, Direction, Schedule

__all__ = [
    "DIRECTIONS",
    "Direction",
    "Explainer",
    "Schedule",
    "auc",
    "canvas_masks",
    "canvas_samples",
    "classification_curves",
    "faithfulness_trials",
    "foreground_of",
    "measure_faithfulness",
    "paired_difference",
    "retrieval_curves",
    "single_frame",
]
