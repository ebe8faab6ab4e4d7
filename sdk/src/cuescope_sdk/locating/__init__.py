"""Where in pictures a cue is: what tells frames with it from others, and their place."""

from cuescope_sdk.locating._linear import Fitting, Linear, Rates, Training
from cuescope_sdk.locating._location import Pictures
from cuescope_sdk.locating._masks import edges_of, stretch
from cuescope_sdk.locating._pictures import Look, PixelPatches, square_pixels
from cuescope_sdk.locating._portraits import (
    Sides,
    Sight,
    attach_portraits,
    look_at_features,
    most_hidden,
)
from cuescope_sdk.locating._regions import Region

__all__ = [
    "Fitting",
    "Linear",
    "Look",
    "Pictures",
    "PixelPatches",
    "Rates",
    "Region",
    "Sides",
    "Sight",
    "Training",
    "attach_portraits",
    "edges_of",
    "look_at_features",
    "most_hidden",
    "square_pixels",
    "stretch",
]
