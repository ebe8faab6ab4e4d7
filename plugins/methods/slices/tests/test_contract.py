"""The sdk's contract suite: with slices that know of errors, and with an order that does not.

All five share the code that asks, tests and reports; test_slices.py holds the other rankings.
"""

from cuescope_slices import Confidence, Domino
from cuescope_testing import MethodContract


class TestDomino(MethodContract):
    plugin = Domino
    finds_planted_cue = False


class TestConfidence(MethodContract):
    plugin = Confidence
    finds_planted_cue = False
