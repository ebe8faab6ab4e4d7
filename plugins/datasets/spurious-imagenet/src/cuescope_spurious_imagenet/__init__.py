"""Spurious ImageNet (Neuhaus et al., 2023): the cue of a class, and no object of the class.

The authors' `images`, a folder a class: `..._class_NUMBER_..._COMPONENT`, with the class's number
in ImageNet and that of the component of its neural PCA that the cue was found by.
"""

import csv
import re
from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path
from typing import Annotated, ClassVar

from pydantic import Field, PositiveInt

from cuescope_sdk import Names, UserError
from cuescope_sdk.data import ImageFolder, ImageFolderOptions, ImageItem, MediaFolder

# The hundred classes, by number in ImageNet (by wnid, from 0): the authors' folders give no more.
# Wnids tell classes apart that share a name.
_TABLE = csv.DictReader(
    files(__package__).joinpath("classes.csv").read_text("utf-8").splitlines()
)
CLASSES = {int(row["number"]): (row["wnid"], row["name"]) for row in _TABLE}
# the last number is the component; names of classes stand between
_FOLDER = re.compile(r".*class_(\d+)_(?:.*_)?(\d+)")


class SpuriousImageNetOptions(ImageFolderOptions):
    """Those of every image folder; there is one split."""

    split: Annotated[str, Names.part()] = Field(
        "test", description="test, the only one"
    )
    images: Path | None = Field(
        None,
        description="ImageNet's folder, with train/WNID or val/WNID: photos of the classes stand "
        "beside, as images with the object and without the cue",
    )
    beside: PositiveInt = Field(
        75, description="photos of each class that `images` gives (paper)"
    )


class SpuriousImageNet(ImageFolder):
    """A sample an image, without a label: its choices are the classes, and it shows none of them.

    With `images`, photos of the classes from ImageNet are samples with their label.

    "spurious_class" is the class whose cue it shows, and for which a model may take it. No group:
    every image is there once, and no file says which are of one source.
    """

    Options = SpuriousImageNetOptions
    options: SpuriousImageNetOptions
    title: ClassVar[str] = "spurious-imagenet"
    benchmark: str | None = "Spurious ImageNet"
    split_names: ClassVar[tuple[str, ...]] = ("test",)

    def read(self, split: str) -> Iterator[ImageItem]:
        """The images by class; raises UserError for a folder that is of no class."""
        root = self.place("images", "dataset/spurious_imagenet/images", ".")
        # A class may have several folders, one for each of its components.
        items: dict[int, list[ImageItem]] = {}  # by number, as folders are in no order
        for folder in MediaFolder(root).folders():
            fields = _FOLDER.fullmatch(folder.name)
            if fields is None or int(fields[1]) not in CLASSES:
                raise UserError(
                    f"{self.title}: folder '{folder.name}'",
                    expected="..._class_NUMBER_..._COMPONENT, with the number of one of the "
                    f"{len(CLASSES)} classes",
                )
            number = int(fields[1])
            component = int(fields[2])
            wnid, name = CLASSES[number]
            known = {
                "objects": (),  # it shows none: what is in it is the cue alone
                "spurious_class": name,
                "wnid": wnid,
                "component": component,
                "subgroup": f"cue of {name}",
            }
            of_class = items.setdefault(number, [])
            for photo in MediaFolder(folder).images():
                key = f"{folder.name}/{photo.name}"
                of_class.append(ImageItem(key, photo, (name,), annotations=known))
        # only classes with images are choices
        numbers = sorted(items)
        self.labels = tuple(CLASSES[number][1] for number in numbers)
        for number in numbers:
            yield from items[number]
        yield from self._photos(numbers)

    def _photos(self, numbers: list[int]) -> Iterator[ImageItem]:
        """ImageNet's own photos of the classes, spread evenly over its files."""
        if self.options.images is None:
            return
        root = self.options.images.expanduser()
        folder = self.place(
            "train",
            "val",
            "ILSVRC/Data/CLS-LOC/train",
            "ILSVRC/Data/CLS-LOC/val",
            root=root,
        )
        for number in numbers:
            wnid, name = CLASSES[number]
            photos = MediaFolder(self.place(wnid, root=folder)).images()
            known = {"wnid": wnid, "subgroup": f"photo of {name}"}
            # not the first ones alone
            step = max(1, len(photos) // self.options.beside)
            for photo in photos[::step][: self.options.beside]:
                yield ImageItem(
                    f"{wnid}/{photo.name}",
                    photo,
                    (name,),
                    name,
                    annotations=known,
                )
