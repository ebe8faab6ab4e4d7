"""The old name of `cuescope_testing`, which stands in the dist cuescope-testing."""

from importlib import import_module
from typing import Any
from warnings import warn

__all__: list[str] = []


def __getattr__(name: str) -> Any:
    """A name of `cuescope_testing`, with a warning."""
    if name.startswith("__"):
        raise AttributeError(name)
    try:
        testing = import_module("cuescope_testing")
    except ModuleNotFoundError as error:
        raise ImportError(
            "contract suites: cuescope plugins install cuescope-testing"
        ) from error
    warn(
        "use cuescope_testing, cuescope_sdk.testing ends in 0.3",
        DeprecationWarning,
        stacklevel=2,
    )
    return getattr(testing, name)
