"""An image before it is opened, and which of many are opened."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple


@dataclass(frozen=True, slots=True)
class ImageItem:
    """A sample to be.

    `classes` are those of the data set that the image belongs to, or that it shows; they are its
    annotation "objects" where `annotations` gives no other. `masks` are image files by the name
    of what is not black in them. `annotations` are plain values, which enter the fingerprint.
    """

    key: str
    path: Path
    classes: tuple[str, ...]
    label: str | None = None
    annotations: Mapping[str, Any] = field(default_factory=dict)
    masks: Mapping[str, Path] = field(default_factory=dict)


class Listing(NamedTuple):
    """What a layout holds: the names of the classes, and the images in a fixed order."""

    labels: tuple[str, ...]
    items: Sequence[ImageItem]


def sample_evenly(items: Sequence[ImageItem], per_class: int) -> list[ImageItem]:
    """So many items of each class, evenly over all that it has; their order stays.

    An image of several classes may be there for another one's sake.
    """
    places: dict[str, list[int]] = {}
    for place, item in enumerate(items):
        for name in item.classes or ("",):
            places.setdefault(name, []).append(place)
    kept = {place for of_class in places.values() for place in _evenly(of_class, per_class)}
    return [items[place] for place in sorted(kept)]


def _evenly(places: Sequence[int], wanted: int) -> Sequence[int]:
    """The middle one of each of `wanted` equal parts."""
    if len(places) <= wanted:
        return places
    return [places[(2 * part + 1) * len(places) // (2 * wanted)] for part in range(wanted)]
