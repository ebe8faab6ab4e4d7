"""The sdk's contract suites on the data set, the detector and the reasoner."""

from cuescope_shape_world import ShapeWorld
from cuescope_shape_world.detector import ShapeDetector
from cuescope_shape_world.scripted import Scripted
from cuescope_testing import DatasetContract, ModelContract, ToolContract

SMALL = {"train": 8, "val": 8, "test": 8, "ood": 8}


class TestData(DatasetContract):
    plugin = ShapeWorld
    options = SMALL
    other_options = {**SMALL, "seed": 1}
    split_names = ("train", "val", "test", "ood")


class TestDetector(ToolContract):
    plugin = ShapeDetector
    data = ShapeWorld
    data_options = SMALL
    names = ("circle", "red thing", "shape", "hill")


class TestReasoner(ModelContract):
    plugin = Scripted
    data = ShapeWorld
    data_options = SMALL
    options = {"grounding": 0.7, "accuracy": 0.5}
    other_options = {"grounding": 0.7, "accuracy": 0.5, "seed": 1}


class TestBlindReasoner(ModelContract):
    plugin = Scripted
    data = ShapeWorld
    data_options = SMALL
    options = {"reliance": "question"}
    other_options = {"reliance": "question", "steps": 6}
