"""Where in pictures a cue is: what tells frames with it from others, and their place."""

from cuescope_sdk.locating._linear import (
    FEW,
    MANY,
    BoolPerFrame,
    Fitting,
    Grid,
    Linear,
    PerFrame,
    Rows,
    Training,
    fit,
    held_out_scores,
    learn,
)
from cuescope_sdk.locating._location import Pictures, locate
from cuescope_sdk.locating._masks import Mask, stretch
from cuescope_sdk.locating._pictures import (
    FINE,
    OVERLAP,
    Look,
    learn_look,
    patches_of,
    resized,
)
from cuescope_sdk.locating._portraits import attach_portraits
from cuescope_sdk.locating._regions import Region, learn_region
from cuescope_sdk.locating._visual_words import TOUCHING, likest_part

__all__ = [
    "BoolPerFrame",
    "FEW",
    "FINE",
    "Fitting",
    "Grid",
    "Linear",
    "Look",
    "MANY",
    "Mask",
    "OVERLAP",
    "PerFrame",
    "Pictures",
    "Region",
    "Rows",
    "TOUCHING",
    "Training",
    "attach_portraits",
    "fit",
    "held_out_scores",
    "learn",
    "learn_look",
    "learn_region",
    "likest_part",
    "locate",
    "patches_of",
    "resized",
    "stretch",
]
