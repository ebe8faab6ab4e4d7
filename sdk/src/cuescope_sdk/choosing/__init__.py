"""Which methods fit a model and data: what each needs, and what is missing."""

from typing import TYPE_CHECKING

from cuescope_core.lazy import attach

if TYPE_CHECKING:
    from cuescope_sdk.choosing._fit import Fit as Fit, Question as Question

__getattr__, __dir__, __all__ = attach(
    __name__,
    {
        "._fit": ["Fit", "Question"],
    },
)
