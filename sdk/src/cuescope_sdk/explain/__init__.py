"""Shared parts of explainers: what the network sees, and how faithful a map is."""

from typing import TYPE_CHECKING

from cuescope_core.lazy import attach

if TYPE_CHECKING:
    from cuescope_sdk.explain._canvas import (
        Canvas as Canvas,
        Explainer as Explainer,
        foreground_of as foreground_of,
    )
    from cuescope_sdk.explain._curves import Perturbation as Perturbation
    from cuescope_sdk.explain._evidence import FaithfulnessCheck as FaithfulnessCheck

__getattr__, __dir__, __all__ = attach(
    __name__,
    {
        "._canvas": ["Canvas", "Explainer", "foreground_of"],
        "._curves": ["Perturbation"],
        "._evidence": ["FaithfulnessCheck"],
    },
)
