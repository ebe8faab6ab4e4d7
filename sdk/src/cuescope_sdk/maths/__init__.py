"""Clusterings, probabilities, maps of importance: functions of arrays."""

from cuescope_sdk.maths._clustering import normalise, spherical_kmeans
from cuescope_sdk.maths._maps import energy_share, upsample
from cuescope_sdk.maths._softmax import softmax

__all__ = ["energy_share", "normalise", "softmax", "spherical_kmeans", "upsample"]
