"""What every test of the workspace runs under."""

import gc
import os
from collections.abc import Generator

import pytest
from hypothesis import settings

pytest_plugins = ["shape_checks"]

# A slow machine fails no test, and a run can be repeated; `make faults` draws new examples.
settings.register_profile(
    "house", deadline=None, derandomize=not os.environ.get("CUESCOPE_FAULTS")
)
settings.load_profile("house")


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Twelve thousand tests and torch stay until the end: looking for garbage among them takes
    half of the time of collecting."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.enable()
        gc.freeze()
