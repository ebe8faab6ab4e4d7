"""Photos of an example as a folder with a manifest: path, label and mask."""

import csv
import io
import re
import tarfile
import zipfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from PIL import Image, ImageDraw

from cuescope.application import write_atomically
from cuescope_commands.example._download import Source
from cuescope_sdk import Context, Frame, UserError

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
        if (name, number) not in outlines:
            continue
        path, mask = f"{name}/{number}.jpg", f"masks/{name}-{number}.png"
        for part in (path, mask):
            (folder / part).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(content)
        with Image.open(io.BytesIO(content)) as image:
            outline_mask(outlines[name, number], image.size).save(folder / mask)
        rows.append((path, name.replace("_", " "), mask))
    if missing := set(source.classes) - {name for name, _ in photos}:
        raise UserError(f"{archive} has no class {', '.join(sorted(missing))}")
    _write(folder, rows)
    return len(rows)


def _members(
    whole: zipfile.ZipFile, archive: str, pattern: re.Pattern[str], source: Source
) -> Iterator[tuple[Key, bytes]]:
    """Files of the wanted classes by class and number; a name that does not fit is passed over."""
    (member,) = [name for name in whole.namelist() if name.endswith(f"/{archive}")] or [archive]
    counts: Counter[str] = Counter()
    with whole.open(member) as file, tarfile.open(fileobj=file, mode="r|*") as inner:
        for item in inner:
            found = pattern.search(item.name)
            if not (found and item.isfile() and found[1] in source.classes):
                continue
            if int(found[2]) <= source.each and (stream := inner.extractfile(item)):
                counts[found[1]] += 1
                yield (found[1], found[2]), stream.read()


def outline_mask(annotation: bytes, size: tuple[int, int]) -> Image.Image:
    """White within the outline, black elsewhere, of an image of this size (width, height).

    `box_coord` is (top, bottom, left, right) from 1; `obj_contour` (x and y, point) from the box's
    left top (show_annotation.m of the data set).
    """
    from scipy.io import loadmat

    values = loadmat(io.BytesIO(annotation), variable_names=("box_coord", "obj_contour"))
    top, _, left, _ = np.asarray(values["box_coord"], dtype=float).ravel()[:4]
    x, y = np.asarray(values["obj_contour"], dtype=float)[:2]
    points = list(zip((x + left - 1).tolist(), (y + top - 1).tolist(), strict=True))
    mask = Image.new("L", size)
    ImageDraw.Draw(mask).polygon(points, fill=255)
    return mask


def draw_toy(context: Context, folder: Path) -> int:
    """The toy scenes as such a folder; how many there are."""
    data = context.build("dataset", "scenes")
    rows = []
    for index in range(len(data)):
        sample = data[index]
        label, mask = str(sample.label), f"masks/{index:04d}.png"
        path = f"{label}/{index:04d}.png"
        for part in (path, mask):
            (folder / part).parent.mkdir(parents=True, exist_ok=True)
        sample.frames[0].load().save(folder / path)
        foreground = sample.annotations["foreground"]
        if isinstance(foreground, Frame):
            foreground.load().save(folder / mask)
        else:
            Image.fromarray(np.asarray(foreground)).save(folder / mask)
        rows.append((path, label, mask))
    _write(folder, rows)
    return len(rows)


def _write(folder: Path, rows: list[tuple[str, str, str]]) -> None:
    # last, and at once: a folder with a manifest is whole
    text = io.StringIO(newline="")
    csv.writer(text).writerows([("path", "label", "mask"), *rows])
    write_atomically(folder / MANIFEST, text.getvalue())
