"""Processes hold what an executor promises, and have the GPUs and threads that they are given."""

from cuescope_processes import Processes
from cuescope_sdk.testing import ExecutorContract


class TestContract(ExecutorContract):
    plugin = Processes
    options = {"workers": 2}
