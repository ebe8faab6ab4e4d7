"""The sdk's contract suite, leaning and balanced."""

from cuescope_scenes import Scenes
from cuescope_testing import DatasetContract

SMALL = {"train": 80, "val": 80, "test": 80}


class TestContract(DatasetContract):
    plugin = Scenes
    options = SMALL
    other_options = {**SMALL, "seed": 1}


class TestLeaning(DatasetContract):
    plugin = Scenes
    options = {**SMALL, "audit_dial": 0.9}
    other_options = SMALL
