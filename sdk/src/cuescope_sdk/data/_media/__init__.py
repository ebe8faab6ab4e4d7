"""Images and videos from files: looked at once, sampled, decoded when asked for. Extra `media`.

`probe_all` tells of each file its digest and frame count, or what is wrong with it; `clip_frames`
and `image_frame` make frames of what is good.
"""

from cuescope_sdk.data._media.files import MAX_PIXELS, Kind, kind_of, printable_name
from cuescope_sdk.data._media.frames import (
    clip_frames,
    clip_times,
    frames_at,
    frames_between,
    image_frame,
    sample_indices,
)
from cuescope_sdk.data._media.survey import Probe, probe, probe_all

__all__ = [
    "Kind",
    "MAX_PIXELS",
    "Probe",
    "clip_frames",
    "clip_times",
    "frames_at",
    "frames_between",
    "image_frame",
    "kind_of",
    "probe",
    "probe_all",
    "printable_name",
    "sample_indices",
]
