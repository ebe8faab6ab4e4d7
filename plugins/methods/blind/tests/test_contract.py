"""The sdk's contract suites: the method asks nothing, and the model `none` reads nothing."""

from cuescope_blind import Blind
from cuescope_blind.none import NoModel
from cuescope_sdk.testing import MethodContract, ModelContract


class TestBlind(MethodContract):
    plugin = Blind
    finds_planted_cue = False  # it is in the pixels


class TestNoModel(ModelContract):
    plugin = NoModel
