"""Interventions that take a cue out of samples or put it in: places, changes, placebos."""

from typing import TYPE_CHECKING

from cuescope_core.lazy import attach

if TYPE_CHECKING:
    from cuescope_sdk.interventions._intervention import (
        Case as Case,
        Intervention as Intervention,
    )
    from cuescope_sdk.interventions._pixels import (
        change_frames as change_frames,
        open_frame as open_frame,
    )
    from cuescope_sdk.interventions._place import Place as Place

__getattr__, __dir__, __all__ = attach(
    __name__,
    {
        "._intervention": ["Case", "Intervention"],
        "._pixels": ["change_frames", "open_frame"],
        "._place": ["Place"],
    },
)
