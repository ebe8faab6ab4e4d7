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
    from cuescope_sdk.explain._regions import (
        Explained as Explained,
        Grid as Grid,
        RegionExplainer as RegionExplainer,
        Steps as Steps,
    )
    from cuescope_sdk.explain._words import AnswerWords as AnswerWords

__getattr__, __dir__, __all__ = attach(
    __name__,
    {
        "._canvas": ["Canvas", "Explainer", "foreground_of"],
        "._curves": ["Perturbation"],
        "._regions": ["Explained", "Grid", "RegionExplainer", "Steps"],
        "._words": ["AnswerWords"],
    },
)
