"""Data with one set of labels: what of a label is told by its files, or by colours alone."""

from cuescope_blind.appearance.analysis import Labelled, is_labelled
from cuescope_blind.appearance.report import features, scores
from cuescope_blind.appearance.verify import evidence

__all__ = ["Labelled", "evidence", "features", "is_labelled", "scores"]
