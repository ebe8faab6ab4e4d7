"""Which methods fit a model and data: what each needs, and what is missing."""

from cuescope_sdk.choosing._fit import Fit, Question

__all__ = ["Fit", "Question"]
