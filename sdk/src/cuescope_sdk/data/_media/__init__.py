"""Images and videos from files: looked at once, sampled, decoded when asked for. Extra `media`.

`survey.probe_all` tells of each file its digest and frame count, or what is wrong with it; the
`frames.Probe` of a good one makes frames of it.
"""

from cuescope_sdk.data._media.files import kind_of as kind_of
