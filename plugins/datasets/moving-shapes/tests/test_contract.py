"""The sdk's contract suite, with a planted cue and without."""

from cuescope_moving_shapes import MovingShapes
from cuescope_testing import DatasetContract

SMALL = {"train": 400, "val": 400, "test": 400, "length": 3}


class TestContract(DatasetContract):
    plugin = MovingShapes
    options = SMALL
    other_options = {**SMALL, "seed": 1}


class TestNoCue(DatasetContract):
    plugin = MovingShapes
    options = {**SMALL, "cue": "none"}
    other_options = SMALL
