"""The sdk's contract suite on the fake data set."""

from cuescope_testing import ModelContract
from cuescope_toy import Toy


class TestContract(ModelContract):
    plugin = Toy
    other_options = {"learning_rate": 0.5}


class TestSingleFrame(ModelContract):
    plugin = Toy
    options = {"frames": "middle"}
    other_options = {"frames": "first"}


class TestHalfPrecision(ModelContract):
    plugin = Toy
    dtype = "bfloat16"
