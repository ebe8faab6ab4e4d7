"""Images and videos from files: looked at once, sampled, decoded when asked for. Extra `media`.

`survey.probe_all` tells of each file its digest and frame count, or what is wrong with it;
`frames.clip_frames` and `frames.image_frame` make frames of what is good.
"""

from cuescope_sdk.data._media.files import kind_of as kind_of
