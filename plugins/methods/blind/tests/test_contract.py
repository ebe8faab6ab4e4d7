"""The sdk's contract suites: the method asks nothing, and the model `none` reads nothing."""

import pytest

from cuescope_blind import Blind
from cuescope_blind.none import NoModel
from cuescope_testing import MethodContract, ModelContract


class TestBlind(MethodContract):
    plugin = Blind
    # the data's red corner gives labels away by less
    options = {"folds": 2, "redraws": 0, "min_gain": 0.5}
    finds_planted_cue = False  # it is about models

    def test_finds_nothing_where_there_is_nothing(self) -> None:
        pytest.skip("asks about models; of the data the red corner is found")


class TestNoModel(ModelContract):
    plugin = NoModel
