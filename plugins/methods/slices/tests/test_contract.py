"""The sdk's contract suite on the fake data set."""

from cuescope_sdk.testing import MethodContract
from cuescope_slices import Confidence, DistillingFailures, Domino, George, Random


class TestDomino(MethodContract):
    plugin = Domino


class TestGeorge(MethodContract):
    plugin = George


class TestDistillingFailures(MethodContract):
    plugin = DistillingFailures


class TestConfidence(MethodContract):
    plugin = Confidence


class TestRandom(MethodContract):
    plugin = Random
