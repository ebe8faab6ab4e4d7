"""Numbers of drawings, from tables beside the code."""

import tomllib
from importlib.resources import files
from typing import Any


def read_numbers(file: str) -> dict[str, Any]:
    """A TOML file of this package."""
    text = files(__package__).joinpath(file).read_text("utf-8")
    return tomllib.loads(text)
