"""The sdk's contract suite on the fake data set."""

from cuescope_testing import MethodContract
from cuescope_trove import TRoVe


class TestContract(MethodContract):
    plugin = TRoVe
