"""What every test of the workspace runs under."""

import os

from hypothesis import settings

pytest_plugins = ["shape_checks"]

# A slow machine fails no test, and a run can be repeated; `make faults` draws new examples.
settings.register_profile("house", deadline=None, derandomize=not os.environ.get("CUESCOPE_FAULTS"))
settings.load_profile("house")
