"""Hard ImageNet (Moayeri et al., 2022): 15 classes with strong cues, outlined and ranked.

The authors' folder has masks, `train/WNID_WNID_NUMBER.JPEG` and `val/WNID_FILE.JPEG`, and
`meta/paths_by_rank.pkl`; the images themselves are those of ImageNet, in a folder of their own.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import ClassVar

from pydantic import Field

from cuescope_hard_imagenet.classes import CLASSES
from cuescope_hard_imagenet.plain_pickle import read_plain_pickle
from cuescope_sdk import Options, UserError, nearest
from cuescope_sdk.data import (
    ImageFolder,
    ImageFolderOptions,
    ImageItem,
    Listing,
    first_place,
    images_in,
    required_place,
)

RANKINGS = ("meta/paths_by_rank.pkl", "paths_by_rank.pkl", "paths_by_rank2.pkl")


class HardImageNetOptions(ImageFolderOptions):
    """Those of every image folder, and where ImageNet is."""

    images: Path | None = Field(
        None, description="ImageNet's folder, with train/WNID and val; default PATH/images"
    )


class HardImageNet(ImageFolder):
    """A sample an image that has a mask.

    "spuriosity" is the authors' rank of a training image within its class, from 0 (the weakest
    cues) to 1 (the strongest); it is no answer sheet, as nothing says which cues those are.
    """

    Options: ClassVar[type[Options]] = HardImageNetOptions
    options: HardImageNetOptions
    title: ClassVar[str] = "hard-imagenet"

    def read(self, split: str) -> Listing:
        """The images of a split; raises UserError for a mask of another class."""
        names = {one.wnid: one.name for one in CLASSES}
        masks = images_in(self.place(split))
        images = self._images(split)
        ranks = self._ranks()
        items = []
        for mask in masks:
            wnid, _, file = mask.name.partition("_")
            if wnid not in names:
                raise UserError(f"{self.title}: {split}/{mask.name} is of no class",
                                expected="WNID_FILE.JPEG", remedy=nearest(wnid, names))  # fmt: skip
            inner = images / wnid if (images / wnid).is_dir() else images
            known: dict[str, object] = {"wnid": wnid}
            if file in ranks:
                known["spuriosity"] = ranks[file]
            items.append(
                ImageItem(
                    f"{split}/{wnid}/{file}", inner / file, (names[wnid],), label=names[wnid],
                    annotations=known, masks={names[wnid]: mask},
                )
            )  # fmt: skip
        return Listing(tuple(names.values()), items)

    def _images(self, split: str) -> Path:
        """Where the images of a split, or their folders of classes, are."""
        named = self.options.images
        folder = self.root / "images" if named is None else named.expanduser()
        return required_place(folder, self.title, split, f"ILSVRC/Data/CLS-LOC/{split}")

    def _ranks(self) -> Mapping[str, float]:
        """The spuriosity of each training image by its file's name; none without the ranking."""
        table = first_place(self.root, *RANKINGS)
        if table is None:
            self.facts["ranking"] = f"none: there is no {RANKINGS[0]}"
            return {}
        ranking = read_plain_pickle(table, self.title)
        if not isinstance(ranking, Mapping):
            raise UserError(f"{self.title}: {table.name}", expected="a list of paths a class",
                            got=type(ranking).__name__)  # fmt: skip
        wanted = {one.number for one in CLASSES}
        ranks: dict[str, float] = {}
        for number, paths in ranking.items():
            if number in wanted:
                ranks |= spuriosity([str(path) for path in paths])
        return ranks


def spuriosity(paths: Sequence[str]) -> dict[str, float]:
    """From 0 for the first path to 1 for the last: the authors rank from weak cues to strong."""
    last = max(1, len(paths) - 1)
    return {path.rpartition("/")[2]: rank / last for rank, path in enumerate(paths)}
