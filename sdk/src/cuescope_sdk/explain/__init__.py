"""What explainers of image-text models share: what the network sees, and how faithful a map is."""

from cuescope_sdk.explain._canvas import Canvas, Explainer, foreground_of
from cuescope_sdk.explain._curves import Perturbation
from cuescope_sdk.explain._evidence import FaithfulnessCheck

__all__ = [
    "Canvas",
    "Explainer",
    "FaithfulnessCheck",
    "Perturbation",
    "foreground_of",
]
