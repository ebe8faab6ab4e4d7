"""Ray's actors hold what an executor promises."""

import pytest

pytest.importorskip("ray", reason="needs Ray: pip install ray")

from cuescope_ray import Ray
from cuescope_sdk.testing import ExecutorContract


class TestContract(ExecutorContract):
    plugin = Ray
    options = {"where": "2"}
