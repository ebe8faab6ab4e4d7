"""The files that name the classes, by WordNet id (wnid), and that label a flat val folder."""

import json
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from operator import itemgetter
from pathlib import Path
from typing import NamedTuple

from pydantic import BaseModel

from cuescope_sdk import UserError
from cuescope_sdk.data import TextFile
from cuescope_sdk.report import count_of

WNID = re.compile(r"n\d{8}")
MOST_DIGITS = 9
Box = tuple[float, float, float, float]


class Labelled(NamedTuple):
    """The class of an image, and the boxes (x0, y0, x1, y1) of its objects where they are known."""

    wnid: str
    boxes: tuple[Box, ...] = ()


class SolutionRow(BaseModel):
    """A row of `LOC_val_solution.csv`: "n01978287 85 1 499 272" once an object."""

    ImageId: str
    PredictionString: str


# ---------------------------------------------------------------------------- names of classes


def read_names(file: TextFile) -> dict[str, tuple[str, ...]]:
    """The names of each wnid, the most common one first.

    From lines ("n01440764 tench, Tinca tinca", apart by a space or tab) or a JSON object: {"0":
    ["n01440764", "tench"]} as Keras has it, or {"n01440764": "tench, Tinca tinca"}.
    """
    if file.path.suffix.lower() == ".json":
        return _names_from_json(file)
    names = {}
    for location, line in file.lines():
        wnid, *words = line.split(maxsplit=1)
        if not words or not WNID.fullmatch(wnid):
            expected = "'n01440764 tench, Tinca tinca'"
            raise UserError(location, expected=expected, got=f"'{line[:60]}'")
        names[wnid] = _synonyms(words[0])
    return names


def labels_of(names: Mapping[str, tuple[str, ...]]) -> dict[str, str]:
    """One label a wnid: its first name, with the wnid behind it where two classes share it.

    There are two such names in ImageNet, "crane" and "maillot".
    """
    firsts = Counter(map(itemgetter(0), names.values()))
    return {
        wnid: synonyms[0] if firsts[synonyms[0]] == 1 else f"{synonyms[0]} ({wnid})"
        for wnid, synonyms in names.items()
    }


def _names_from_json(file: TextFile) -> dict[str, tuple[str, ...]]:
    try:
        names = {}
        for wnid, words in dict(json.loads(file.text())).items():
            # Keras counts the classes, and has the wnid in the value
            if wnid.isdecimal():
                wnid, words = words
            names[wnid] = (
                _synonyms(words) if isinstance(words, str) else tuple(map(str, words))
            )
    except RecursionError:
        raise UserError(f"{file.name} is nested too deeply") from None
    except (ValueError, TypeError) as error:
        got = str(error).splitlines()[0]
        raise UserError(
            f"{file.title}: cannot read names from {file.path.name}", got=got
        ) from None
    for wnid, synonyms in names.items():
        if not WNID.fullmatch(wnid) or not synonyms:
            raise UserError(
                f"{file.name} entry '{wnid}'",
                expected='{"n01440764": "tench, Tinca tinca"}',
            )
    return names


def _synonyms(words: str) -> tuple[str, ...]:
    """The names between commas, each once."""
    names = map(str.strip, words.replace("_", " ").split(","))
    return tuple(dict.fromkeys(filter(None, names)))


# ------------------------------------------------------------------- labels of a flat folder


def solution_labels(table: TextFile, folder: Path) -> dict[Path, Labelled]:
    """The images of the competition's table."""
    labelled = {}
    # line 1 is the header
    for line, row in enumerate(table.csv_rows(SolutionRow), start=2):
        words = row.PredictionString.split()
        wnids = set(words[::5])  # several objects of one class, never of two
        try:
            # each fifth word is a wnid
            numbers = [float(word) for index, word in enumerate(words) if index % 5]
        except ValueError:
            numbers = []
        if (
            len(wnids) != 1
            or len(numbers) * 5 != len(words) * 4
            or not WNID.fullmatch(words[0])
        ):
            raise UserError(
                f"{table.name} line {line}",
                expected="a wnid and four numbers, once an object",
                got=f"'{row.PredictionString[:60]}'",
            )
        corners = iter(numbers)
        boxes = tuple(zip(corners, corners, corners, corners, strict=True))
        labelled[folder / f"{row.ImageId}.JPEG"] = Labelled(words[0], boxes)
    return labelled


def devkit_labels(
    truth: TextFile,
    synsets: Path,
    images: Sequence[Path],
) -> dict[Path, Labelled]:
    """The images in the order of their names, a line of the ground truth each.

    Its numbers are those of `meta.mat`, which are in no order of names or wnids.
    """
    wnids = _numbered_wnids(synsets, truth.title)
    labels = []
    for location, line in truth.lines():
        # a number of thousands of digits is none that Python turns into one
        if not line.isdecimal() or len(line) > MOST_DIGITS or int(line) not in wnids:
            expected = f"the number of a class of {synsets.name}"
            raise UserError(location, expected=expected, got=f"'{line[:60]}'")
        labels.append(Labelled(wnids[int(line)]))
    # One missing image would shift the labels of all that follow, without any other sign of it.
    if len(labels) != len(images):
        raise UserError(
            f"{truth.name} has {count_of(len(labels), 'lines')}",
            expected="one an image",
            got=(
                f"{count_of(len(images), 'images')} in "
                f"{images[0].parent if images else 'no folder'}"
            ),
            remedy="Labels go by order, so no image may be missing",
        )
    return dict(zip(images, labels, strict=True))


def _numbered_wnids(path: Path, title: str) -> dict[int, str]:
    """The wnid of each number of the development kit's `meta.mat`."""
    from scipy.io import loadmat

    try:
        synsets = loadmat(path, squeeze_me=True)["synsets"]
        return {int(row["ILSVRC2012_ID"]): str(row["WNID"]) for row in synsets}
    except Exception as error:
        # scipy raises anything for a file that is no such matrix
        raise UserError(
            f"{title}: {path.name} is not the development kit's",
            got=type(error).__name__,
        ) from None
