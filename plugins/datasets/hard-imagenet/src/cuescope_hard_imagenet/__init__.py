"""Hard ImageNet (Moayeri et al., 2022): 15 classes with strong cues, outlined and ranked.

The authors' folder has masks, `train/WNID_WNID_NUMBER.JPEG` and `val/WNID_FILE.JPEG`, and
`meta/paths_by_rank.pkl`; the images themselves are those of ImageNet, in a folder of their own.
"""

import csv
from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path
from typing import ClassVar

from pydantic import Field

from cuescope_hard_imagenet.layout import read_ranking
from cuescope_sdk import UserError, nearest
from cuescope_sdk.data import ImageFolder, ImageFolderOptions, ImageItem, MediaFolder

# Wnid -> number in ImageNet (by wnid, from 0) and name, in the order of the authors.
_TABLE = csv.DictReader(
    files(__package__).joinpath("classes.csv").read_text("utf-8").splitlines()
)
CLASSES = {row["wnid"]: (int(row["number"]), row["name"]) for row in _TABLE}
RANKINGS = ("meta/paths_by_rank.pkl", "paths_by_rank.pkl", "paths_by_rank2.pkl")


class HardImageNetOptions(ImageFolderOptions):
    """Those of every image folder, and where ImageNet is."""

    images: Path | None = Field(
        None,
        description="ImageNet's folder, with train/WNID and val; default PATH/images",
    )


class HardImageNet(ImageFolder):
    """A sample an image that has a mask.

    "spuriosity" is the authors' rank of a training image within its class, from 0 (the weakest
    cues) to 1 (the strongest); it is no answer sheet, as nothing says which cues those are. No
    group: every image is there once, and no file says which are of one source.
    """

    Options = HardImageNetOptions
    options: HardImageNetOptions
    title: ClassVar[str] = "hard-imagenet"
    benchmark: str | None = "HardImageNet"

    def read(self, split: str) -> Iterator[ImageItem]:
        """The images of a split; raises UserError for a mask of another class."""
        names = {wnid: name for wnid, (_, name) in CLASSES.items()}
        self.labels = tuple(names.values())
        masks = MediaFolder(self.place(split)).images()
        folder = (self.options.images or self.root / "images").expanduser()
        images = self.place(split, f"ILSVRC/Data/CLS-LOC/{split}", root=folder)
        ranks = self._ranks()
        for mask in masks:
            wnid, _, file = mask.name.partition("_")
            if wnid not in names:
                raise UserError(
                    f"{self.title}: {split}/{mask.name} is of no class",
                    expected="WNID_FILE.JPEG",
                    remedy=nearest(wnid, names),
                )
            name = names[wnid]
            # ImageNet's val folder is flat as it is unpacked, and has WNID folders once sorted.
            folder = images / wnid if (images / wnid).is_dir() else images
            known: dict[str, object] = {"wnid": wnid}
            if file in ranks:
                known["spuriosity"] = ranks[file]
            key = f"{split}/{wnid}/{file}"
            path = folder / file
            yield ImageItem(key, path, (name,), name, known, masks={name: mask})

    def _ranks(self) -> dict[str, float]:
        """The spuriosity of each training image by its file's name; none without the ranking."""
        table = self.find(*RANKINGS)
        if table is None:
            self.facts["ranking"] = f"none: there is no {RANKINGS[0]}"
            return {}
        return read_ranking(
            table.path, {number for number, _ in CLASSES.values()}, self.title
        )
