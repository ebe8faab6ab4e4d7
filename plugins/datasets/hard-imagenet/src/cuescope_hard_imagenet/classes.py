"""The fifteen classes, in the order of the authors, and the ImageNet numbers that they rank by."""

import csv
from importlib.resources import files
from typing import NamedTuple


class HardClass(NamedTuple):
    """`number` counts ImageNet's classes by wnid from 0."""

    wnid: str
    number: int
    name: str


_TABLE = csv.DictReader(files(__package__).joinpath("classes.csv").read_text("utf-8").splitlines())
CLASSES = tuple(HardClass(row["wnid"], int(row["number"]), row["name"]) for row in _TABLE)
