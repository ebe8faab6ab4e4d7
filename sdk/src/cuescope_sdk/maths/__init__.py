"""Clusterings, probabilities, maps of importance: functions of arrays, and their threads."""

from typing import TYPE_CHECKING

from cuescope_core.lazy import attach

if TYPE_CHECKING:
    from cuescope_sdk.maths._clustering import (
        normalise as normalise,
        spherical_kmeans as spherical_kmeans,
    )
    from cuescope_sdk.maths._maps import (
        energy_share as energy_share,
        upsample as upsample,
    )
    from cuescope_sdk.maths._softmax import softmax as softmax
    from cuescope_sdk.maths._threads import on_one_thread as on_one_thread

__getattr__, __dir__, __all__ = attach(
    __name__,
    {
        "._clustering": ["normalise", "spherical_kmeans"],
        "._maps": ["energy_share", "upsample"],
        "._softmax": ["softmax"],
        "._threads": ["on_one_thread"],
    },
)
