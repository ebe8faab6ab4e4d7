"""ImageNet (Russakovsky et al., 2015): the images of ILSVRC 2012 by class, with all their names.

`train/WNID/*.JPEG` and `val/`, either with WNID folders or flat as it is unpacked; in PATH itself
or in the `ILSVRC/Data/CLS-LOC` of the competition's download.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import ClassVar

from pydantic import Field

from cuescope_imagenet.flat import Labelled, devkit_labels, solution_labels
from cuescope_sdk import Detection, Options, UserError, nearest
from cuescope_sdk.data import (
    WNID,
    ImageFolder,
    ImageFolderOptions,
    ImageItem,
    Listing,
    first_place,
    folders_in,
    images_in,
    labels_of,
    read_names,
)

NAME_FILES = (
    "LOC_synset_mapping.txt", "synset_words.txt", "words.txt", "imagenet_class_index.json",
)  # fmt: skip


class ImageNetOptions(ImageFolderOptions):
    """Those of every image folder, and where the names of the classes are."""

    names: Path | None = Field(
        None, description=f"names by wnid, text or JSON; default PATH/{NAME_FILES[0]} or the like"
    )


class ImageNet(ImageFolder):
    """A sample an image, labelled with the first name of its class; "synonyms" has the others."""

    Options: ClassVar[type[Options]] = ImageNetOptions
    options: ImageNetOptions
    title: ClassVar[str] = "imagenet"

    def read(self, split: str) -> Listing:
        """The images of a split; raises UserError for a class without a name."""
        known = read_names(self._names_file(), self.title)
        folder = self.place(split, f"ILSVRC/Data/CLS-LOC/{split}")
        found = self._in_folders(folder) or self._flat(folder, split)
        wnids = sorted({labelled.wnid for labelled in found.values()})
        for wnid in wnids:
            if wnid not in known:
                raise UserError(f"{self.title}: no name for {wnid}",
                                remedy=nearest(wnid, known))  # fmt: skip
        names = {wnid: known[wnid] for wnid in wnids}
        labels = labels_of(names)
        items = []
        for path, (wnid, boxes) in found.items():
            label = labels[wnid]
            annotations: dict[str, object] = {"wnid": wnid, "synonyms": names[wnid]}
            if boxes:
                annotations["boxes"] = tuple(
                    Detection(name=label, score=1.0, box=box) for box in boxes
                )
            key = f"{split}/{path.relative_to(folder).as_posix()}"
            items.append(ImageItem(key, path, (label,), label=label, annotations=annotations))
        return Listing(tuple(labels[wnid] for wnid in wnids), items)

    def _names_file(self) -> Path:
        if self.options.names is not None:
            return self.options.names.expanduser()
        return self.place(*NAME_FILES)

    def _in_folders(self, folder: Path) -> dict[Path, Labelled]:
        """The images of WNID folders, none where there are no such folders."""
        return {
            path: Labelled(inner.name)
            for inner in folders_in(folder)
            if WNID.fullmatch(inner.name)
            for path in images_in(inner)
        }

    def _flat(self, folder: Path, split: str) -> Mapping[Path, Labelled]:
        """The images of a folder without classes, by a table of their labels."""
        table = first_place(self.root, f"LOC_{split}_solution.csv")
        if table is not None:
            return solution_labels(table, folder, self.title)
        truth = self.place(
            *(f"{place}ILSVRC2012_validation_ground_truth.txt" for place in _DEVKIT),
            f"LOC_{split}_solution.csv",
        )
        synsets = self.place(*(f"{place}meta.mat" for place in _DEVKIT))
        return devkit_labels(truth, synsets, images_in(folder), self.title)


_DEVKIT = ("ILSVRC2012_devkit_t12/data/", "data/", "")
