"""CCI against the contract of a method."""

from cuescope_cci import CCI
from cuescope_testing import MethodContract


class TestContract(MethodContract):
    plugin = CCI
    data_options = {"frames": 1, "samples": 90}
