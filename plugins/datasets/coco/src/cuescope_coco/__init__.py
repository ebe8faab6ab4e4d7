"""COCO (Lin et al., 2014): everyday scenes, each with many objects, outlines and captions.

The official layout: `annotations/instances_SPLIT.json` and `captions_SPLIT.json` beside the
folder SPLIT of images (or `images/SPLIT`), where SPLIT is train2014, val2014, train2017, val2017.
Karpathy's splits (2015), karpathy-val and karpathy-test, are parts of val2014 that
`dataset_coco.json` names, in PATH or `annotations/`.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import chain
from operator import attrgetter
from typing import Annotated, Any, ClassVar, Self

from pydantic import Field

from cuescope_coco.layout import Thing, read_captions, read_instances, read_karpathy
from cuescope_coco.masks import mask_image
from cuescope_sdk import Detection, Frame, Names, Words, digest
from cuescope_sdk.data import ImageFolder, ImageFolderOptions, ImageItem
from cuescope_sdk.models import refuse_unknown

KARPATHY = ("karpathy-val", "karpathy-test")
# They are often in the picture without being annotated (SpurLens, section 5.2).
UNRELIABLE = ("keyboard", "dining table", "sports ball")


class CocoOptions(ImageFolderOptions):
    """Those of every image folder, and the classes that are no labels."""

    split: Annotated[str, Names.part()] = Field(
        "val2017",
        description="train2014, val2014, train2017, val2017, karpathy-val or karpathy-test",
    )
    classes: Annotated[tuple[str, ...] | None, Words()] = Field(
        None,
        description="only these labels: NAME,NAME; images of their supercategories are opened",
    )
    exclude: Annotated[tuple[str, ...], Words()] = Field(
        UNRELIABLE,
        description="classes that are annotated but no labels; empty: all are labels",
    )


class Coco(ImageFolder):
    """A sample an image, without label or choices: `objects` says what of `labels` is in it.

    Of the annotations, "supercategories" goes with "objects", one by one; "boxes" and "masks" are
    of every object and crowd, "crowds" names what is there as a crowd. Excluded classes are no
    labels, unless `classes` names them, and are annotated all the same. No group: every image is
    there once, and no file says which are of one photographer or place.
    """

    Options = CocoOptions
    options: CocoOptions
    title: ClassVar[str] = "coco"
    # boxes and outlines are of the stored pixels, which EXIF would turn
    turned: ClassVar[bool] = False
    benchmark: str | None = "COCO"
    split_names: ClassVar[tuple[str, ...]] = (
        *("train2014", "val2014", "train2017", "val2017"),
        *KARPATHY,
    )

    def read(self, split: str) -> Iterator[ImageItem]:
        """The images of a split, those without any object among them."""
        official = "val2014" if split in KARPATHY else split
        file = self.file(f"annotations/instances_{official}.json")
        self.supercategories, images, things = read_instances(file)
        captions: Mapping[int, Sequence[str]]
        if split in KARPATHY:
            table = self.file("dataset_coco.json", "annotations/dataset_coco.json")
            by_name = read_karpathy(table, split.removeprefix("karpathy-"))
            images = [image for image in images if image.file_name in by_name]
            captions = {image.id: by_name[image.file_name] for image in images}
        else:
            captions = self._captions(official)
        split = official
        names = tuple(self.supercategories)
        self.labels = self._choose_objects(names)
        folder = self.place(split, f"images/{split}")
        for image in images:
            of_image = tuple(things.get(image.id, ()))
            yield ImageItem(
                f"{split}/{image.file_name}",
                folder / image.file_name,
                _names_shown(names, of_image),
                annotations={
                    "image_id": image.id,
                    "size": (image.height, image.width),
                    "things": of_image,
                    # an image without captions is shown all the same
                    "captions": tuple(captions.get(image.id, ())),
                },
            )

    @property
    def choices(self) -> tuple[str, ...]:
        """None: an image shows many things."""
        return ()

    def split(self, name: str) -> Self:
        """The other split; "train" and "val" are those of the same year."""
        if name not in ("train", "val"):
            return super().split(name)
        current = self.options.split
        # 2014 and 2017 part the same images otherwise
        year = "2014" if current in KARPATHY else current[-4:]
        return super().split(f"{name}{year}")

    def concerns(self, item: ImageItem, classes: frozenset[str]) -> bool:
        """An image with a class is compared with those of its supercategory that are without."""
        wanted = set(self._supercategories(classes))
        return not wanted.isdisjoint(self._supercategories(item.classes))

    def annotations(self, item: ImageItem) -> Mapping[str, Any]:
        """The boxes in their own words, and the masks ready to be drawn."""
        height, width = item.annotations["size"]
        things: tuple[Thing, ...] = item.annotations["things"]
        boxes = []
        crowds = []
        for shown in things:
            # annotated, so certain
            boxes.append(Detection(name=shown.name, score=1.0, box=shown.box))
            if shown.crowd:
                crowds.append(shown)
        return {
            "image_id": item.annotations["image_id"],
            "captions": item.annotations["captions"],
            "supercategories": self._supercategories(item.classes),
            "crowds": _names_shown(item.classes, crowds),
            "boxes": tuple(boxes),
            # Drawn only where a method looks at one: an image has many, most are never seen.
            "masks": {
                name: _mask(name, things, height, width) for name in item.classes
            },
        }

    def _supercategories(self, names: Iterable[str]) -> tuple[str, ...]:
        return tuple(map(self.supercategories.__getitem__, names))

    def _captions(self, split: str) -> Mapping[int, Sequence[str]]:
        name = f"annotations/captions_{split}.json"
        # captions are a file of their own, without which much can be audited
        file = self.find(name)
        if file is None:
            self.facts["captions"] = f"none: there is no {name}"
            return {}
        return read_captions(file)

    def _choose_objects(self, names: tuple[str, ...]) -> tuple[str, ...]:
        """The classes that are labels."""
        excluded = self.options.exclude
        # The default names classes that a part of COCO need not have; a person's own list must fit.
        if "exclude" in self.options.model_fields_set:
            for name in excluded:
                refuse_unknown(self.title, "class", name, names)
        # classes that a person names are labels, whatever is excluded
        if self.options.classes is not None:
            return names
        left_out = [name for name in names if name in excluded]
        if left_out:
            self.facts["excluded"] = (
                f"{', '.join(left_out)} (-O data.exclude= makes labels of all)"
            )
        return tuple(name for name in names if name not in excluded)


def _names_shown(names: Sequence[str], things: Sequence[Thing]) -> tuple[str, ...]:
    """The names of the things, each once, in the order of `names`."""
    shown = set(map(attrgetter("name"), things))
    return tuple(filter(shown.__contains__, names))


def _mask(name: str, things: Sequence[Thing], height: int, width: int) -> Frame:
    """Everything of this name, white on black; its key is that of the outlines."""
    of_name = (shown.outlines for shown in things if shown.name == name)
    outlines = tuple(chain.from_iterable(of_name))
    key = digest("coco-mask", 1, height, width, outlines)
    return Frame(key, partial(mask_image, outlines, height, width))
