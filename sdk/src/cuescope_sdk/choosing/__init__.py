"""Which methods fit a model and data: what each needs, and what is missing."""

from cuescope_sdk.choosing._fit import Fit, Question, fits

__all__ = ["Fit", "Question", "fits"]
