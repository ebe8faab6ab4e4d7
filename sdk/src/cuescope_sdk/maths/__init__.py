"""Clusterings, probabilities, maps of importance: functions of arrays."""

from cuescope_sdk.maths._clustering import Clusters, normalise, spherical_kmeans
from cuescope_sdk.maths._maps import energy_share, rescale, upsample
from cuescope_sdk.maths._softmax import softmax

__all__ = [
    "Clusters",
    "energy_share",
    "normalise",
    "rescale",
    "softmax",
    "spherical_kmeans",
    "upsample",
]
