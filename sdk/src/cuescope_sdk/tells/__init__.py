"""Tells: what answers a question without a look at its video."""

from typing import TYPE_CHECKING

from cuescope_core.lazy import attach

if TYPE_CHECKING:
    from cuescope_sdk.tells._tell import Tell as Tell

__getattr__, __dir__, __all__ = attach(
    __name__,
    {
        "._tell": ["Tell"],
    },
)
