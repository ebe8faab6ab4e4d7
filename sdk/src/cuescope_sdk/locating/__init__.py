"""Where in pictures a cue is: what tells frames with it from others, and their place."""

from cuescope_sdk.locating._linear import Fitting, Linear, Rates, Training
from cuescope_sdk.locating._masks import stretch
from cuescope_sdk.locating._patch_model import Region
from cuescope_sdk.locating._pictures import Look, PixelPatches, square_pixels
from cuescope_sdk.locating._portraits import (
    Sides,
    Sight,
    attach_portraits,
    look_at_features,
    shared_look,
)

__all__ = [
    "Fitting",
    "Linear",
    "Look",
    "PixelPatches",
    "Rates",
    "Region",
    "Sides",
    "Sight",
    "Training",
    "attach_portraits",
    "look_at_features",
    "shared_look",
    "square_pixels",
    "stretch",
]
