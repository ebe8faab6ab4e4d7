"""COCO's annotation files, checked as they are read."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, NamedTuple, Self

import numpy as np
from pydantic import BaseModel, Field, FiniteFloat, model_validator

from cuescope_coco.masks import decoded_counts
from cuescope_sdk import UserError
from cuescope_sdk.data import TextFile

MOST_PIXELS = 10**8  # of an image: its masks are drawn as large as the file says
LARGEST = 1e6  # pixels from the origin that anything lies
# a stranger's numbers may be NaN, infinite, or their sum be so
Pixel = Annotated[FiniteFloat, Field(ge=-LARGEST, le=LARGEST)]
Length = Annotated[FiniteFloat, Field(ge=0, le=LARGEST)]


class ImageRow(BaseModel):
    """An entry of "images"; sizes in pixels."""

    id: int
    file_name: str
    width: int = Field(gt=0)
    height: int = Field(gt=0)

    @model_validator(mode="after")
    def _is_an_image(self) -> Self:
        if self.width * self.height > MOST_PIXELS:
            size = f"{self.width:,} x {self.height:,} pixels"
            raise ValueError(f"{size}, more than any image")
        return self


class CategoryRow(BaseModel):
    """An entry of "categories"."""

    id: int
    name: str
    supercategory: str


class RunLengths(BaseModel):
    """The outline of a crowd; `size` is (height, width)."""

    size: tuple[int, int]
    counts: list[int] | str


class ObjectRow(BaseModel):
    """An entry of "annotations"; `bbox` is (x, y, width, height) in pixels."""

    image_id: int
    category_id: int
    bbox: tuple[Pixel, Pixel, Length, Length]
    iscrowd: int = 0
    segmentation: list[list[Pixel]] | RunLengths


class InstancesFile(BaseModel):
    """`instances_SPLIT.json`."""

    images: list[ImageRow]
    annotations: list[ObjectRow]
    categories: list[CategoryRow]


class CaptionRow(BaseModel):
    """An entry of "annotations" of the captions."""

    image_id: int
    caption: str


class CaptionsFile(BaseModel):
    """`captions_SPLIT.json`."""

    annotations: list[CaptionRow]


class Sentence(BaseModel):
    """A caption in Karpathy's table."""

    raw: str


class KarpathyRow(BaseModel):
    """An image in Karpathy's table."""

    filename: str
    split: str
    sentences: list[Sentence]


class KarpathyFile(BaseModel):
    """`dataset_coco.json` (Karpathy and Fei-Fei, 2015)."""

    images: list[KarpathyRow]


Things = Mapping[int, Sequence["Thing"]]  # by the id of their image


class Thing(NamedTuple):
    """An annotated object, or a crowd of them: its box (x0, y0, x1, y1), and its outlines."""

    name: str
    box: tuple[float, float, float, float]
    crowd: bool
    outlines: tuple[np.ndarray, ...]


def read_instances(file: TextFile) -> tuple[dict[str, str], list[ImageRow], Things]:
    """The supercategory of each class, the images, and the things of each.

    Raises UserError with the entry that does not fit.
    """
    content = file.json_object(InstancesFile)
    categories = {row.id: row for row in content.categories}
    images = {row.id: row for row in content.images}
    things = defaultdict[int, list[Thing]](list)
    for number, row in enumerate(content.annotations, start=1):
        location = f"{file.name} 'annotations' entry {number}"
        image = images.get(row.image_id)
        if image is None:
            expected = "the id of one image of this file"
            raise UserError(location, expected=expected, got=str(row.image_id))
        category = categories.get(row.category_id)
        if category is None:
            expected = "the id of one category of this file"
            raise UserError(location, expected=expected, got=str(row.category_id))
        x, y, width, height = row.bbox
        box = (x, y, x + width, y + height)
        outlines = tuple(_outlines(row, image, location))
        thing = Thing(category.name, box, bool(row.iscrowd), outlines)
        things[image.id].append(thing)
    supercategories = {}
    for number in sorted(categories):  # the order of the labels, whatever the file's
        category = categories[number]
        supercategories[category.name] = category.supercategory
    return supercategories, content.images, things


def read_captions(file: TextFile) -> Mapping[int, Sequence[str]]:
    """The captions of each image, by its id."""
    captions = defaultdict[int, list[str]](list)
    for row in file.json_object(CaptionsFile).annotations:
        # an image has several captions, a row each
        captions[row.image_id].append(_one_line(row.caption))
    return captions


def read_karpathy(file: TextFile, split: str) -> dict[str, tuple[str, ...]]:
    """The captions of the images of one of Karpathy's splits, by file name."""
    captions = {}
    for row in file.json_object(KarpathyFile).images:
        if row.split == split:
            captions[row.filename] = tuple(
                _one_line(sentence.raw) for sentence in row.sentences
            )
    return captions


def _one_line(text: str) -> str:
    """Some captions hold line breaks."""
    return " ".join(text.split())


def _outlines(row: ObjectRow, image: ImageRow, location: str) -> Iterator[np.ndarray]:
    """Polygons (point, 2) of (x, y), or one array of run lengths."""
    if not isinstance(row.segmentation, RunLengths):
        for polygon in row.segmentation:
            if len(polygon) < 6 or len(polygon) % 2:
                expected = "polygons of three points or more, x and y each"
                raise UserError(
                    location,
                    expected=expected,
                    got=f"{len(polygon)} numbers",
                )
            yield np.array(polygon).reshape(-1, 2)
        return
    counts = row.segmentation.counts
    try:
        runs = decoded_counts(counts) if isinstance(counts, str) else counts
    except ValueError as error:
        raise UserError(location, expected="run lengths", got=str(error)) from None
    size = (image.height, image.width)
    # negative runs could add up to the size as well
    covers_image = sum(runs) == image.height * image.width and min(runs) >= 0
    if row.segmentation.size != size or not covers_image:
        raise UserError(
            location,
            expected=f"run lengths of {size[0]} x {size[1]} pixels",
            got=f"{sum(runs)} pixels of size {row.segmentation.size}",
        )
    yield np.array(runs)  # one-dimensional, which tells it from a polygon
