"""What takes a cue out of samples or puts it in: where the cue is, what changes it, placebos."""

from cuescope_sdk.interventions._intervention import Case, Intervention
from cuescope_sdk.interventions._located import (
    GOOD_AUROC,
    Localisation,
    LocatedCue,
    Place,
)
from cuescope_sdk.interventions._pixels import change_frames, open_frame
from cuescope_sdk.interventions._placebos import elsewhere, other_frames

__all__ = [
    "Case",
    "GOOD_AUROC",
    "Intervention",
    "Localisation",
    "LocatedCue",
    "Place",
    "change_frames",
    "elsewhere",
    "open_frame",
    "other_frames",
]
