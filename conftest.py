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


# Many audits of each method; the methods' own tests have nulls of fewer draws.
LONG_CHECKS = {"test_finds_nothing_where_there_is_nothing"}


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Marks checks of the contract suites that take long, where a plugin of ours inherits them."""
    for item in items:
        if item.name in LONG_CHECKS and "plugins" in item.path.parts:
            item.add_marker(pytest.mark.long)


@pytest.fixture(autouse=True, scope="module")
def unread(request: pytest.FixtureRequest) -> Generator[None]:
    """Audits here do not start Tesseract for each cue, where it is installed; its own tests do."""
    with pytest.MonkeyPatch.context() as patch:
        if request.node.path.name != "test_written.py":
            from cuescope_sdk.locating import _written

            patch.setattr(_written, "installed_reader", lambda: None)
        yield


@pytest.fixture(autouse=True, scope="module")
def coarse(request: pytest.FixtureRequest) -> Generator[None]:
    """Pictures of reports have few dots here, where no test looks at them."""
    with pytest.MonkeyPatch.context() as patch:
        if request.node.path.name != "test_figures.py":
            from cuescope_sdk.report import _figures

            patch.setattr(_figures, "DENSITY", 40)
        yield


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
