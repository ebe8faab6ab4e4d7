"""What a labelling tool tells of pictures: boxes, labels, masks and splits, and their values."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from math import isfinite
from pathlib import Path, PurePosixPath
from typing import Any
from xml.etree import ElementTree

from cuescope_folder.answers import shorten_list
from cuescope_folder.layout import Item, split_in
from cuescope_folder.spelling import Names
from cuescope_sdk import Detection, UserError
from cuescope_sdk.data import TextFile, picture_shape, printable_name
from cuescope_sdk.report import count_of

TABLE = "a table with columns path, label and boxes will do (-O data.manifest=FILE)"
NOT_HERE = "pictures that are not here"


@dataclass(frozen=True)
class Picture:
    """What an export tells of a picture, and its size as the export states it."""

    labels: Sequence[str] = ()
    regions: Sequence[Detection] = ()
    mask: Path | None = None
    split: str | None = None
    size: tuple[int, int] | None = None

    @property
    def classes(self) -> list[str]:
        """The classes that it shows, each once."""
        named = [*self.labels, *(region.name for region in self.regions)]
        return list(dict.fromkeys(named))


class Export:
    """What was read, of which layout; `left_out` counts what is not shown, by reason."""

    def __init__(self, names: Names) -> None:
        self.names = names
        self.root = names.root
        self.layout = ""
        self.pictures: dict[Path, Picture] = {}
        self.left_out: Counter[str] = Counter()

    def add(self, name: object, beside: str | Path, picture: Picture) -> None:
        """Add the picture of a name, or count that it is not here."""
        file = self.names.find(str(name), beside)
        if file is None:
            self.left_out[NOT_HERE] += 1
            return
        known = self.pictures.get(file)
        if known is not None:  # what several files say of one picture is put together
            labels = dict.fromkeys((*known.labels, *picture.labels))
            regions = dict.fromkeys((*known.regions, *picture.regions))
            picture = replace(known, labels=list(labels), regions=list(regions))
        self.pictures[file] = picture

    def corners(
        self, name: str, beside: str | Path, box: Sequence[float]
    ) -> tuple[float, ...]:
        """The corners in pixels of a box that counts in parts of a picture as it is shown.

        () where there is no such picture.
        """
        file = self.names.find(name, beside)
        if file is None:
            return ()
        # as it is shown: trainers turn a photo by its EXIF
        sides = picture_shape(file).shown * 2
        return tuple(part * side for part, side in zip(box, sides, strict=True))

    def items(self) -> list[Item]:
        """The samples to be: the label is the one class that a picture shows, if it is one."""
        items = []
        for file, picture in self.pictures.items():
            classes = picture.classes
            key = printable_name(str(PurePosixPath(file.relative_to(self.root))))
            annotations: dict[str, Any] = {}
            if picture.regions:
                annotations["boxes"] = tuple(picture.regions)
            if len(classes) > 1:
                annotations["objects"] = tuple(classes)
            if picture.size:
                annotations["stated_size"] = picture.size
            items.append(
                Item(
                    key=key,
                    files=(file,),
                    label=classes[0] if len(classes) == 1 else None,
                    mask=picture.mask,
                    split=picture.split,
                    annotations={**annotations, "path": key},
                    location=key,
                )
            )
        return items

    def facts(self) -> dict[str, str]:
        """Which layout was read, and what of it is not shown."""
        several = sum(len(picture.classes) > 1 for picture in self.pictures.values())
        words = f"{self.layout}: {count_of(len(self.pictures), 'pictures')}"
        if several:
            words += f", {several:,} of several classes and without a label"
        facts = {"layout": words}
        if reasons := self.reasons():
            facts["not shown of it"] = reasons
        return facts

    def reasons(self) -> str:
        """What is not shown, in words."""
        reasons = []
        for why, count in self.left_out.items():
            if count:
                reasons.append(f"{count:,} {why}")
        return ", ".join(reasons)


def files_below(root: Path, pattern: str) -> Iterator[Path]:
    """The files of a pattern in a folder and up to two folders below."""
    for below in ("", "*/", "*/*/"):
        yield from sorted(root.glob(below + pattern))


def refusal(layout: str, place: str) -> UserError:
    return UserError(
        f"folder: {place} looks like {layout}",
        expected="a layout that is read here: class folders, Pascal VOC, COCO, YOLO, CVAT, "
        "KITTI, LabelMe, VIA, Label Studio, Roboflow and others",
        got="one that is not",
        remedy=TABLE[0].upper() + TABLE[1:],
    )


def parse_xml(file: Path) -> ElementTree.Element:
    text = TextFile(file, "folder").text()
    # no entity is needed in an export, and each may unfold to any size
    if "<!ENTITY" in text or "<!DOCTYPE" in text:
        raise UserError(
            f"folder: {file.name}", expected="XML without entities", got="some"
        )
    try:
        return ElementTree.fromstring(text)
    except (ElementTree.ParseError, ValueError) as error:
        raise UserError(f"folder: {file.name} is no XML", got=str(error)[:60]) from None


def text_of(element: ElementTree.Element | None, name: str) -> str:
    found = None if element is None else element.find(name)
    return (found.text or "").strip() if found is not None else ""


def has_fields(value: Any, *names: str) -> bool:
    return isinstance(value, dict) and all(name in value for name in names)


def values_of(value: Any) -> Any:
    return list(value.values()) if isinstance(value, dict) else value


def objects_of(value: Any) -> list[dict[str, Any]]:
    entries = value if isinstance(value, list) else []
    return [entry for entry in entries if isinstance(entry, dict)]


def only_word(attributes: Any) -> str:
    """The one text of an object of attributes; "" where there are none, or several."""
    words = attributes.values() if isinstance(attributes, dict) else ()
    texts = [word for word in words if isinstance(word, str) and word.strip()]
    return texts[0].strip() if len(texts) == 1 else ""


def number_of(value: Any) -> float:
    try:
        return float(value)
    except (TypeError, ValueError, OverflowError):
        return float("nan")


def size_of(width: Any, height: Any) -> tuple[int, int] | None:
    sides = number_of(width), number_of(height)
    if all(0 < side < 2**24 for side in sides):
        return int(sides[0]), int(sides[1])
    return None


def corners_of(points: Sequence[Sequence[Any]]) -> tuple[float, ...] | None:
    """The box round points; None where there are none."""
    if not points:
        return None
    across, down = zip(*points, strict=True)
    xs = [number_of(x) for x in across]
    ys = [number_of(y) for y in down]
    return min(xs), min(ys), max(xs), max(ys)


def box_beyond(x: Any, y: Any, width: Any, height: Any) -> tuple[float, ...]:
    """The corners of a box that is stated by its first corner and its sides."""
    left, top = number_of(x), number_of(y)
    return left, top, left + number_of(width), top + number_of(height)


def region(name: str, corners: Sequence[Any], file: Path) -> Detection:
    left, top, right, bottom = map(number_of, corners)
    is_box = left < right and top < bottom  # NaN fails every comparison
    if (
        not name.strip()
        or not is_box
        or not all(map(isfinite, (left, top, right, bottom)))
    ):
        raise UserError(
            f"folder: {printable_name(file.name)}",
            expected="a name and a box whose right is beyond its left",
            got=f"'{name:.30}' {shorten_list([str(corner)[:12] for corner in corners])}",
        )
    # annotated, so certain
    box = (left, top, right, bottom)
    return Detection(name=printable_name(name.strip()), score=1.0, box=box)


def split_of(folders: Sequence[str]) -> str | None:
    """The split that one of some folders is."""
    return next(filter(None, map(split_in, folders)), None)
