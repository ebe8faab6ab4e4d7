"""Photos of an example as a folder with a manifest: path, label and mask."""

import io
import re
import tarfile
import zipfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from PIL import Image, ImageDraw

from cuescope.application import write_csv
from cuescope_commands.example._download import Source
from cuescope_sdk import Context, UserError

PHOTO = re.compile(r"101_ObjectCategories/([\w ]+)/image_(\d{4})\.jpg$")
OUTLINE = re.compile(r"Annotations/([\w ]+)/annotation_(\d{4})\.mat$")
MANIFEST = "manifest.csv"
Key = tuple[str, str]  # class, number


def unpack_caltech(archive: Path, source: Source, folder: Path) -> int:
    """The first `each` photos of each class, with masks of their outlines; how many there are."""
    try:
        with zipfile.ZipFile(archive) as whole:
            photos = dict(_members(whole, "101_ObjectCategories.tar.gz", PHOTO, source))
            outlines = dict(_members(whole, "Annotations.tar", OUTLINE, source))
    except (zipfile.BadZipFile, tarfile.TarError, KeyError) as error:
        raise UserError(f"{archive} is no Caltech-101", got=str(error)) from error
    rows = []
    for (name, number), content in sorted(photos.items()):
        # a photo without an outline has no mask to be audited with
        if outline := outlines.get((name, number)):
            with Image.open(io.BytesIO(content)) as image:
                mask = outline_mask(outline, image.size)
            label = name.replace("_", " ")
            row = _row(folder, label, f"{name}/{number}.jpg", f"{name}-{number}")
            # as it is: a second JPEG would lose something
            (folder / row["path"]).write_bytes(content)
            mask.save(folder / row["mask"])
            rows.append(row)
    if missing := set(source.classes) - {name for name, _ in photos}:
        raise UserError(f"{archive} has no class {', '.join(sorted(missing))}")
    write_csv(folder / MANIFEST, rows)  # last: a folder with a manifest is whole
    return len(rows)


def _members(
    whole: zipfile.ZipFile,
    archive: str,
    pattern: re.Pattern[str],
    source: Source,
) -> Iterator[tuple[Key, bytes]]:
    """Files of the wanted classes by class and number; a name that does not fit is passed over."""
    able = (name for name in whole.namelist() if name.endswith(f"/{archive}"))
    # a name that is not there is told by open(), as a KeyError
    member = next(able, archive)
    # as a stream: the members of a zip file are not gone back in
    with whole.open(member) as file, tarfile.open(fileobj=file, mode="r|*") as inner:
        for item in inner:
            match = pattern.search(item.name)
            if match is None or match[1] not in source.classes:
                continue
            stream = inner.extractfile(item) if item.isfile() else None
            if stream is not None and int(match[2]) <= source.each:
                yield (match[1], match[2]), stream.read()


def outline_mask(annotation: bytes, size: tuple[int, int]) -> Image.Image:
    """White within the outline, black elsewhere, of an image of this size (width, height).

    `box_coord` is (top, bottom, left, right) from 1; `obj_contour` (x and y, point) from the box's
    left top (show_annotation.m of the data set).
    """
    from scipy.io import loadmat

    values = loadmat(
        io.BytesIO(annotation), variable_names=("box_coord", "obj_contour")
    )
    box = np.asarray(values["box_coord"], dtype=float).ravel()
    contour = np.asarray(values["obj_contour"], dtype=float)[:2]
    # - 1: the annotations count from 1
    points = contour.T + box[[2, 0]] - 1
    mask = Image.new("L", size)
    ImageDraw.Draw(mask).polygon(points.ravel().tolist(), fill=255)
    return mask


def draw_toy(context: Context, folder: Path) -> int:
    """The toy scenes as such a folder; how many there are."""
    data = context.build("dataset", "scenes")
    rows = []
    for index in range(len(data)):
        sample = data[index]
        label = str(sample.label)
        row = _row(folder, label, f"{label}/{index:04d}.png", f"{index:04d}")
        sample.frames[0].load().save(folder / row["path"])
        mask = Image.fromarray(sample.annotations["foreground"])
        mask.save(folder / row["mask"])
        rows.append(row)
    write_csv(folder / MANIFEST, rows)  # last: a folder with a manifest is whole
    return len(rows)


def _row(folder: Path, label: str, path: str, mask: str) -> dict[str, str]:
    """A photo and its mask in the manifest; their folders are made."""
    row = {"path": path, "label": label, "mask": f"masks/{mask}.png"}
    for column in ("path", "mask"):
        (folder / row[column]).parent.mkdir(parents=True, exist_ok=True)
    return row
