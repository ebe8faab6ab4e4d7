"""The fifteen classes, in the order of the authors, and the ImageNet numbers that they rank by."""

from typing import NamedTuple


class HardClass(NamedTuple):
    """`number` counts ImageNet's classes by wnid from 0."""

    wnid: str
    number: int
    name: str


CLASSES = (
    HardClass("n03218198", 537, "dog sled"),
    HardClass("n02492660", 379, "howler monkey"),
    HardClass("n04162706", 785, "seat belt"),
    HardClass("n04228054", 795, "ski"),
    HardClass("n04356056", 837, "sunglasses"),
    HardClass("n02807133", 433, "swimming cap"),
    HardClass("n02777292", 416, "balance beam"),
    HardClass("n03535780", 602, "gymnastic horizontal bar"),
    HardClass("n03899768", 706, "patio"),
    HardClass("n04019541", 746, "hockey puck"),
    HardClass("n03770439", 655, "miniskirt"),
    HardClass("n04264628", 810, "keyboard space bar"),
    HardClass("n04540053", 890, "volleyball"),
    HardClass("n09835506", 981, "baseball player"),
    HardClass("n04251144", 801, "snorkel"),
)
