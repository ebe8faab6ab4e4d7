"""Where in pictures a cue is: what tells frames with it from others, and their place."""

from typing import TYPE_CHECKING

from cuescope_core.lazy import attach

if TYPE_CHECKING:
    from cuescope_sdk.locating._linear import (
        Fitting as Fitting,
        Linear as Linear,
        Rates as Rates,
        Training as Training,
    )
    from cuescope_sdk.locating._masks import stretch as stretch
    from cuescope_sdk.locating._patch_model import Region as Region
    from cuescope_sdk.locating._pictures import (
        Look as Look,
        PixelPatches as PixelPatches,
    )
    from cuescope_sdk.locating._portraits import (
        Sides as Sides,
        Sight as Sight,
        attach_portraits as attach_portraits,
        look_at_features as look_at_features,
    )

__getattr__, __dir__, __all__ = attach(
    __name__,
    {
        "._linear": ["Fitting", "Linear", "Rates", "Training"],
        "._masks": ["stretch"],
        "._patch_model": ["Region"],
        "._pictures": ["Look", "PixelPatches"],
        "._portraits": [
            "Sides",
            "Sight",
            "attach_portraits",
            "look_at_features",
        ],
    },
)
