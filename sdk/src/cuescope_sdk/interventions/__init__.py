"""What takes a cue out of samples or puts it in: where the cue is, what changes it, placebos."""

from cuescope_sdk.interventions._intervention import Case, Intervention
from cuescope_sdk.interventions._pixels import change_frames, open_frame
from cuescope_sdk.interventions._place import Place

__all__ = [
    "Case",
    "Intervention",
    "Place",
    "change_frames",
    "open_frame",
]
