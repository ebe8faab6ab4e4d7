"""The sdk's contract suite on the fake data set."""

from cuescope_sdk.testing import MethodContract
from cuescope_slices import Confidence, DistillingFailures, Domino, George, Random


class TestDomino(MethodContract):
    plugin = Domino
    finds_planted_cue = False


class TestGeorge(MethodContract):
    plugin = George
    finds_planted_cue = False


class TestDistillingFailures(MethodContract):
    plugin = DistillingFailures
    finds_planted_cue = False


class TestConfidence(MethodContract):
    plugin = Confidence
    finds_planted_cue = False


class TestRandom(MethodContract):
    plugin = Random
    finds_planted_cue = False
