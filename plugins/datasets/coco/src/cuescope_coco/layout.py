"""COCO's annotation files, checked as they are read."""

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
from pydantic import BaseModel, Field

from cuescope_coco.masks import decoded_counts
from cuescope_sdk import UserError
from cuescope_sdk.data import read_json_object


class ImageRow(BaseModel):
    """An entry of "images"; sizes in pixels."""

    id: int
    file_name: str
    width: int = Field(gt=0)
    height: int = Field(gt=0)


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
    bbox: tuple[float, float, float, float]
    iscrowd: int = 0
    segmentation: list[list[float]] | RunLengths


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


class Thing(NamedTuple):
    """An annotated object, or a crowd of them: its box (x0, y0, x1, y1), and its outlines."""

    name: str
    box: tuple[float, float, float, float]
    crowd: bool
    outlines: tuple[np.ndarray, ...]


def read_instances(
    path: Path, title: str
) -> tuple[list[CategoryRow], list[ImageRow], dict[int, tuple[Thing, ...]]]:
    """The categories in order, the images, and the things of each by its id.

    Raises UserError with the entry that does not fit.
    """
    content = read_json_object(path, InstancesFile, title)
    categories = {row.id: row for row in content.categories}
    images = {row.id: row for row in content.images}
    things: dict[int, list[Thing]] = {}
    for number, row in enumerate(content.annotations, start=1):
        location = f"{title}: {path.name} 'annotations' entry {number}"
        for kind, key, known in (
            ("image", row.image_id, images),
            ("category", row.category_id, categories),
        ):
            if key not in known:
                expected = f"the id of one {kind} of this file"
                raise UserError(location, expected=expected, got=str(key))
        x, y, width, height = row.bbox
        thing = Thing(
            categories[row.category_id].name,
            (x, y, x + width, y + height),
            bool(row.iscrowd),
            tuple(_outlines(row, images[row.image_id], location)),
        )
        things.setdefault(row.image_id, []).append(thing)
    # the order of the labels, whatever the file's
    ordered = sorted(content.categories, key=lambda row: row.id)
    return ordered, content.images, {image: tuple(own) for image, own in things.items()}


def read_captions(path: Path, title: str) -> dict[int, tuple[str, ...]]:
    """The captions of each image, by its id."""
    captions: dict[int, list[str]] = {}
    for row in read_json_object(path, CaptionsFile, title).annotations:
        # some captions hold line breaks
        captions.setdefault(row.image_id, []).append(" ".join(row.caption.split()))
    return {image: tuple(of_image) for image, of_image in captions.items()}


def read_karpathy(path: Path, split: str, title: str) -> dict[str, tuple[str, ...]]:
    """The captions of the images of one of Karpathy's splits, by file name."""
    rows = read_json_object(path, KarpathyFile, title).images
    return {
        row.filename: tuple(" ".join(sentence.raw.split()) for sentence in row.sentences)
        for row in rows
        if row.split == split
    }


def _outlines(row: ObjectRow, image: ImageRow, location: str) -> Iterator[np.ndarray]:
    """Polygons (point, 2) of (x, y), or one array of run lengths."""
    if not isinstance(row.segmentation, RunLengths):
        for polygon in row.segmentation:
            if len(polygon) < 6 or len(polygon) % 2:
                expected = "polygons of three points or more, x and y each"
                raise UserError(location, expected=expected, got=f"{len(polygon)} numbers")
            yield np.array(polygon).reshape(-1, 2)
        return
    counts = row.segmentation.counts
    try:
        runs = decoded_counts(counts) if isinstance(counts, str) else counts
    except ValueError as error:
        raise UserError(location, expected="run lengths", got=str(error)) from None
    size = (image.height, image.width)
    if row.segmentation.size != size or sum(runs) != image.height * image.width or min(runs) < 0:
        raise UserError(
            location,
            expected=f"run lengths of {size[0]} x {size[1]} pixels",
            got=f"{sum(runs)} pixels of size {row.segmentation.size}",
        )
    yield np.array(runs)  # one-dimensional, which tells it from a polygon
