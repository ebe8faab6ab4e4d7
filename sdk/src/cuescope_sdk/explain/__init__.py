"""What explainers of image-text models share: what the network sees, and how faithful a map is."""

from cuescope_sdk.explain._canvas import (
    Explainer,
    canvas_masks,
    canvas_samples,
    foreground_of,
    single_frame,
)
from cuescope_sdk.explain._faithfulness.areas import auc, paired_difference
from cuescope_sdk.explain._faithfulness.curves import classification_curves, retrieval_curves
from cuescope_sdk.explain._faithfulness.evidence import measure_faithfulness
from cuescope_sdk.explain._faithfulness.schedule import DIRECTIONS, Direction, Schedule

__all__ = [
    "Explainer",
    "canvas_masks",
    "canvas_samples",
    "foreground_of",
    "single_frame",
    "auc",
    "paired_difference",
    "classification_curves",
    "retrieval_curves",
    "measure_faithfulness",
    "DIRECTIONS",
    "Direction",
    "Schedule",
]
