"""What takes a cue out of samples or puts it in: where the cue is, what changes it, placebos."""

from cuescope_sdk.interventions._intervention import (
    Case as Case,
    Effect as Effect,
    Intervention as Intervention,
    Placebo as Placebo,
)
from cuescope_sdk.interventions._located import (
    GOOD_AUROC as GOOD_AUROC,
    Knowledge as Knowledge,
    Localisation as Localisation,
    LocatedCue as LocatedCue,
    Place as Place,
)
from cuescope_sdk.interventions._pixels import (
    change_frames as change_frames,
    forget_frames as forget_frames,
    open_frame as open_frame,
)
from cuescope_sdk.interventions._placebos import (
    elsewhere as elsewhere,
    other_frames as other_frames,
)
