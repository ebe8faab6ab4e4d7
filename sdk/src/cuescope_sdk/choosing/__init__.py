"""Which methods fit a model and data: what each needs, and what is missing."""

from cuescope_sdk.choosing._fit import Fit, Lack, Question, fits, needs_in_words, refusal

__all__ = ["Fit", "Lack", "Question", "fits", "needs_in_words", "refusal"]
