"""ImageNet (Russakovsky et al., 2015): the images of ILSVRC 2012 by class, with all their names.

`train/WNID/*.JPEG` and `val/`, either with WNID folders or flat as it is unpacked; in PATH itself
or in the `ILSVRC/Data/CLS-LOC` of the competition's download.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import ClassVar

from pydantic import Field

from cuescope_imagenet.layout import (
    WNID,
    Labelled,
    devkit_labels,
    labels_of,
    read_names,
    solution_labels,
)
from cuescope_sdk import Detection, UserError, nearest
from cuescope_sdk.data import (
    ImageFolder,
    ImageFolderOptions,
    ImageItem,
    MediaFolder,
    TextFile,
)

NAMES = (
    "LOC_synset_mapping.txt",
    "synset_words.txt",
    "words.txt",
    "imagenet_class_index.json",
)
DEVKIT = ("ILSVRC2012_devkit_t12/data/", "data/", "")


class ImageNetOptions(ImageFolderOptions):
    """Those of every image folder, and where the names of the classes are."""

    names: Path | None = Field(
        None,
        description=f"names by wnid, text or JSON; default PATH/{NAMES[0]} or the like",
    )


class ImageNet(ImageFolder):
    """A sample an image, labelled with the first name of its class; "synonyms" has the others.

    No group: no file of ImageNet says which images are of one source.
    """

    Options = ImageNetOptions
    options: ImageNetOptions
    title: ClassVar[str] = "imagenet"
    benchmark: str | None = "ImageNet"

    def read(self, split: str) -> Iterator[ImageItem]:
        """The images of a split; raises UserError for a class without a name."""
        file = self.options.names or self.place(*NAMES)
        names = read_names(TextFile(file.expanduser(), self.title))
        folder = self.place(split, f"ILSVRC/Data/CLS-LOC/{split}")
        images = self._sorted_images(folder) or self._flat_images(folder, split)
        # the order of ImageNet's class numbers
        wnids = sorted({labelled.wnid for labelled in images.values()})
        for wnid in wnids:
            if wnid not in names:
                raise UserError(
                    f"{self.title}: no name for {wnid}", remedy=nearest(wnid, names)
                )
        labels = labels_of({wnid: names[wnid] for wnid in wnids})
        self.labels = tuple(labels.values())
        for path, (wnid, boxes) in images.items():
            label = labels[wnid]
            annotations: dict[str, object] = {"wnid": wnid, "synonyms": names[wnid]}
            if boxes:
                detections = [
                    Detection(name=label, score=1.0, box=box) for box in boxes
                ]
                annotations["boxes"] = tuple(detections)
            key = f"{split}/{path.relative_to(folder).as_posix()}"
            yield ImageItem(key, path, (label,), label, annotations)

    def _sorted_images(self, folder: Path) -> dict[Path, Labelled]:
        """The images of WNID folders, none where there are no such folders."""
        images: dict[Path, Labelled] = {}
        for class_folder in MediaFolder(folder).folders():
            # other folders may lie beside those of the classes
            if WNID.fullmatch(class_folder.name):
                label = Labelled(class_folder.name)
                images |= dict.fromkeys(MediaFolder(class_folder).images(), label)
        return images

    def _flat_images(self, folder: Path, split: str) -> Mapping[Path, Labelled]:
        """The images of a folder without classes, by a table of their labels."""
        table = self.find(f"LOC_{split}_solution.csv")
        # the competition's table has boxes too
        if table is not None:
            return solution_labels(table, folder)
        truths = map("{}ILSVRC2012_validation_ground_truth.txt".format, DEVKIT)
        truth = self.file(*truths, f"LOC_{split}_solution.csv")
        synsets = self.place(*map("{}meta.mat".format, DEVKIT))
        return devkit_labels(truth, synsets, MediaFolder(folder).images())
