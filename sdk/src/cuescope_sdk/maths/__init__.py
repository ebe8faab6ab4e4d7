"""Clusterings, probabilities, maps of importance: functions of arrays, and their threads."""

from cuescope_sdk.maths._clustering import normalise, spherical_kmeans
from cuescope_sdk.maths._maps import energy_share, upsample
from cuescope_sdk.maths._softmax import softmax
from cuescope_sdk.maths._threads import on_one_thread

__all__ = [
    "energy_share",
    "normalise",
    "on_one_thread",
    "softmax",
    "spherical_kmeans",
    "upsample",
]
