"""The labels of a flat validation folder: from the development kit, or the competition's table."""

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from pydantic import BaseModel

from cuescope_sdk import UserError
from cuescope_sdk.data import WNID, read_csv, read_lines

Box = tuple[float, float, float, float]


class Labelled(NamedTuple):
    """The class of an image, and the boxes (x0, y0, x1, y1) of its objects where they are known."""

    wnid: str
    boxes: tuple[Box, ...] = ()


class SolutionRow(BaseModel):
    """A row of `LOC_val_solution.csv`: "n01978287 85 1 499 272" once an object."""

    ImageId: str
    PredictionString: str


def solution_labels(table: Path, folder: Path, title: str) -> dict[Path, Labelled]:
    """The images of the competition's table."""
    found = {}
    for line, row in enumerate(read_csv(table, SolutionRow, title), start=2):
        words = row.PredictionString.split()
        wnids = set(words[::5])
        try:
            numbers = [float(word) for place, word in enumerate(words) if place % 5]
        except ValueError:
            numbers = []
        if len(wnids) != 1 or len(numbers) * 5 != len(words) * 4 or not WNID.fullmatch(words[0]):
            raise UserError(f"{title}: {table.name} line {line}",
                            expected="a wnid and four numbers, once an object",
                            got=f"'{row.PredictionString[:60]}'")  # fmt: skip
        corners = [numbers[place : place + 4] for place in range(0, len(numbers), 4)]
        boxes = tuple((x0, y0, x1, y1) for x0, y0, x1, y1 in corners)
        found[folder / f"{row.ImageId}.JPEG"] = Labelled(words[0], boxes)
    return found


def devkit_labels(
    truth: Path, synsets: Path, images: Sequence[Path], title: str
) -> dict[Path, Labelled]:
    """The images in the order of their names, a line of the ground truth each.

    Its numbers are those of `meta.mat`, which are in no order of names or wnids.
    """
    wnids = _numbered(synsets, title)
    found = []
    for place, line in read_lines(truth, title):
        if not line.isdecimal() or int(line) not in wnids:
            raise UserError(place, expected=f"the number of a class of {synsets.name}",
                            got=f"'{line[:60]}'")  # fmt: skip
        found.append(Labelled(wnids[int(line)]))
    if len(found) != len(images):
        raise UserError(
            f"{title}: {truth.name} has {len(found):,} lines", expected="one an image",
            got=f"{len(images):,} images in {images[0].parent if images else 'no folder'}",
            remedy="Labels go by order, so no image may be missing",
        )  # fmt: skip
    return dict(zip(images, found, strict=True))


def _numbered(path: Path, title: str) -> dict[int, str]:
    """The wnid of each number of the development kit's `meta.mat`."""
    from scipy.io import loadmat

    try:
        synsets = loadmat(path, squeeze_me=True)["synsets"]
        return {int(row["ILSVRC2012_ID"]): str(row["WNID"]) for row in synsets}
    except Exception as error:  # scipy raises anything for a file that is no such matrix
        raise UserError(f"{title}: {path.name} is not the development kit's",
                        got=type(error).__name__) from None  # fmt: skip
