"""Deletion and insertion: does the model rely on the pixels that a map calls important?"""

from cuescope_sdk.faithfulness.areas import Difference, areas, auc, auc_interval, paired_difference
from cuescope_sdk.faithfulness.curves import classification_curves, retrieval_curves
from cuescope_sdk.faithfulness.evidence import faithfulness_evidence, faithfulness_of
from cuescope_sdk.faithfulness.perturbing import Ground, Ranking, perturbed
from cuescope_sdk.faithfulness.schedule import DIRECTIONS, Direction, Schedule

__all__ = [
    "Schedule", "Direction", "DIRECTIONS", "Ranking", "Ground", "perturbed",
    "classification_curves", "retrieval_curves",
    "areas", "auc", "auc_interval", "Difference", "paired_difference",
    "faithfulness_evidence", "faithfulness_of",
]  # fmt: skip
