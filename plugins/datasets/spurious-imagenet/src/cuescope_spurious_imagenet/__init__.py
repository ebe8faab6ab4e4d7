"""Spurious ImageNet (Neuhaus et al., 2023): the cue of a class, and no object of the class.

The authors' `images`, a folder a class: `..._class_NUMBER_..._COMPONENT`, with the class's number
in ImageNet and that of the component of its neural PCA that the cue was found by.
"""

import csv
import re
from importlib.resources import files
from typing import ClassVar

from pydantic import Field

from cuescope_sdk import UserError
from cuescope_sdk.data import (
    ImageFolder,
    ImageFolderOptions,
    ImageItem,
    Listing,
    folders_in,
    images_in,
)

# The hundred classes, by number in ImageNet (by wnid, from 0): the authors' folders give no more.
# Wnids tell classes apart that share a name.
_TABLE = csv.DictReader(files(__package__).joinpath("classes.csv").read_text("utf-8").splitlines())
CLASSES = {int(row["number"]): (row["wnid"], row["name"]) for row in _TABLE}
# the last number is the component; names of classes stand between
_FOLDER = re.compile(r".*class_(\d+)_(?:.*_)?(\d+)")


class SpuriousImageNetOptions(ImageFolderOptions):
    """Those of every image folder; there is one split."""

    split: str = Field("test", description="test, the only one")


class SpuriousImageNet(ImageFolder):
    """A sample an image, without a label: its choices are the classes, and it shows none of them.

    "spurious_class" is the class whose cue it shows, and for which a model may take it. No group:
    every image is there once, and no file says which are of one source.
    """

    Options = SpuriousImageNetOptions
    title: ClassVar[str] = "spurious-imagenet"
    benchmark: str | None = "Spurious ImageNet"
    split_names: ClassVar[tuple[str, ...]] = ("test",)

    def read(self, split: str) -> Listing:
        """The images by class; raises UserError for a folder that is of no class."""
        root = self.place("images", "dataset/spurious_imagenet/images", ".")
        # A class may have several folders, one for each of its components.
        items: dict[int, list[ImageItem]] = {}  # by number, as folders are in no order
        for folder in folders_in(root):
            fields = _FOLDER.fullmatch(folder.name)
            if fields is None or int(fields[1]) not in CLASSES:
                raise UserError(
                    f"{self.title}: folder '{folder.name}'",
                    expected="..._class_NUMBER_..._COMPONENT, with the number of one of the "
                    f"{len(CLASSES)} classes",
                )
            number, component = int(fields[1]), int(fields[2])
            wnid, name = CLASSES[number]
            known = {
                "objects": (),  # it shows none: what is in it is the cue alone
                "spurious_class": name,
                "wnid": wnid,
                "component": component,
                "subgroup": f"cue of {name}",
            }
            items.setdefault(number, []).extend(
                ImageItem(f"{folder.name}/{photo.name}", photo, (name,), annotations=known)
                for photo in images_in(folder)
            )
        # only classes with images are choices
        labels = tuple(CLASSES[number][1] for number in sorted(items))
        return Listing(labels, [item for number in sorted(items) for item in items[number]])
