"""Deletion and insertion: does the model rely on the pixels that a map calls important?"""

from cuescope_sdk.explain._faithfulness.areas import (
    Difference,
    areas,
    auc,
    auc_interval,
    paired_difference,
)
from cuescope_sdk.explain._faithfulness.curves import classification_curves, retrieval_curves
from cuescope_sdk.explain._faithfulness.evidence import faithfulness_evidence, measure_faithfulness
from cuescope_sdk.explain._faithfulness.perturbing import FilledImage, Ranking, perturb_image
from cuescope_sdk.explain._faithfulness.schedule import DIRECTIONS, Direction, Schedule

__all__ = [
    "Schedule",
    "Direction",
    "DIRECTIONS",
    "Ranking",
    "FilledImage",
    "perturb_image",
    "classification_curves",
    "retrieval_curves",
    "areas",
    "auc",
    "auc_interval",
    "Difference",
    "paired_difference",
    "faithfulness_evidence",
    "measure_faithfulness",
]
