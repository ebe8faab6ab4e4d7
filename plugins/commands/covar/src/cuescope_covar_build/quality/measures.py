"""What the quality filter measures: a table that says of each measure what it counts for."""

import tomllib
from importlib.resources import files
from typing import NamedTuple


class Measure(NamedTuple):
    """The check that it counts for, the least rise that is one unit, and what a value says.

    A `blind` one compares an image with itself alone: its limits are of all subsets together.
    """

    check: str
    least: float
    sentence: str
    blind: bool = False


_TABLE = tomllib.loads(files(__package__).joinpath("measures.toml").read_text("utf-8"))
MEASURES = {name: Measure(**values) for name, values in _TABLE.items()}
