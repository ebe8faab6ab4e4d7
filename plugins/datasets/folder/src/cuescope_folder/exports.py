"""Layouts of data sets and exports of labelling tools: Pascal VOC, COCO, YOLO, CVAT, and others.

Each reader adds what a tool tells of pictures, with boxes, labels and masks, to an `Export`, and
returns True; of another layout it returns False. What has a known name and no reader is refused.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import isfinite
from pathlib import Path, PurePosixPath
from typing import Any
from xml.etree import ElementTree

from cuescope_folder.answers import read_names, shorten_list
from cuescope_folder.layout import (
    RUN_FILES,
    Item,
    canonical_split,
    has_classes,
    is_part,
)
from cuescope_folder.spelling import Names
from cuescope_sdk import Detection, UserError, inside
from cuescope_sdk.data import (
    TextFile,
    kind_of,
    load_yaml,
    picture_shape,
    printable_name,
)
from cuescope_sdk.logs import LogFile
from cuescope_sdk.report import count_of

TABLE = "a table with columns path, label and boxes will do (-O data.manifest=FILE)"
MASKS = frozenset(("masks", "mask", "segmentationclass", "segmentation"))
# layouts that have no reader here, by a file or folder that shows each
REFUSED = {
    "KITTI": ("label_2", "*/label_2"),
    "Cityscapes": ("gtFine",),
    "CamVid": ("label_colors.txt",),
    "Open Images": ("*class-descriptions.csv", "annotations/*class-descriptions.csv"),
    "MOT": ("gt/gt.txt", "*/gt/gt.txt"),
    "MOTS": ("instances/*", "*/instances/*"),
    "WIDER Face": ("WIDER_*", "wider_face_split"),
    "Market-1501": ("bounding_box_train",),
    "ImageNet with a list of classes": ("synsets.txt",),
    "TFRecord": ("*.tfrecord", "*/*.tfrecord"),
    "Datumaro's binary form": ("annotations/*.datum",),
    "Arrow": ("*.arrow", "*/*.arrow"),
    "MNIST": ("*-idx3-ubyte*",),
    "pickled batches, as CIFAR's": ("batches.meta", "data_batch*"),
}
# what lies beside pictures where something is said of them
NOTES = (".json", ".xml", ".txt", ".csv", ".yaml", ".yml", ".mat", ".npy")
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


def find_export(root: Path, files: Sequence[PurePosixPath]) -> Export | None:
    """The export that a folder holds; None for class folders and loose files.

    Raises UserError for a layout that has a name and no reader here.
    """
    names = Names(root, files)
    for layout, marks in REFUSED.items():
        if any(next(root.glob(mark), None) for mark in marks):
            raise _refusal(layout, str(root))
    tops = {file.parts[0] for file in files if len(file.parts) > 1}
    are_parts = all(is_part(top) or _split_in(top) for top in tops)
    for read in FOLDER_READERS:
        export = Export(names)
        # notes on a few pictures of class folders are no layout
        if read(export) and (are_parts or 2 * len(export.pictures) >= len(files)):
            return export
    return None


def read_export(file: Path, names: Names) -> Export | None:
    """A single file that a labelling tool wrote; None for one that no reader knows."""
    export = Export(names)
    if file.suffix.lower() == ".xml":
        return export if _cvat(_xml(file), file, export) else None
    if file.suffix.lower() == ".json":
        document = LogFile(file, "folder").json_document()
        if any(read(document, file, export) for read in JSON_READERS):
            return export
    return None


def _refusal(layout: str, place: str) -> UserError:
    return UserError(
        f"folder: {place} looks like {layout}",
        expected="a layout that is read here: class folders, Pascal VOC, COCO, YOLO, CVAT, "
        "LabelMe, VIA, Label Studio, Roboflow",
        got="one that is not",
        remedy=TABLE[0].upper() + TABLE[1:],
    )


def _files(root: Path, pattern: str) -> Iterator[Path]:
    """The files of a pattern in a folder and up to two folders below."""
    for below in ("", "*/", "*/*/"):
        yield from sorted(root.glob(below + pattern))


# ------------------------------------------------------------------------------------ Pascal VOC


def _voc(export: Export) -> bool:
    """XML of Pascal VOC, of LabelMe's web page and of Roboflow: a file a picture."""
    root = export.root
    splits, classes = _image_sets(root)
    masks = {}
    for outline in export.names.files:
        if outline.parent.name == "SegmentationClass":
            masks[outline.stem] = root / outline
    export.layout = "Pascal VOC"
    found = sorted(_files(root, "*.xml"))
    for file in found:
        tree = _xml(file)
        if tree.tag != "annotation":
            return False
        if tree.find("imagesize") is not None:
            export.layout = "LabelMe"
        name = _text(tree, "filename")
        image = export.names.find(name, "JPEGImages") or export.names.find(file.stem)
        folders = () if image is None else image.relative_to(root).parts[:-1]
        shown = Picture(
            labels=classes.get(file.stem, ()),
            regions=[_voc_box(thing, file) for thing in tree.iter("object")],
            mask=masks.get(file.stem),
            split=splits.get(file.stem) or _split_of(folders),
            size=_voc_size(tree),
        )
        export.add(name if image is None else image.relative_to(root), "", shown)
    # lists of classes alone, without boxes
    if not found:
        for stem, labels in classes.items():
            picture = Picture(labels=labels, split=splits.get(stem))
            export.add(stem, "JPEGImages", picture)
    return bool(found or export.pictures)


def _image_sets(root: Path) -> tuple[dict[str, str], dict[str, list[str]]]:
    """The split of each picture, and its classes, by stem: ImageSets/Main/cat_train.txt."""
    splits: dict[str, str] = {}
    classes: dict[str, list[str]] = {}
    for file in _files(root, "ImageSets/*/*.txt"):
        name, _, split = file.stem.rpartition("_")
        for line in TextFile(file, "folder").text().splitlines():
            stem, *mark = line.split() or [""]
            if stem and not mark and file.stem in ("train", "val", "test"):
                splits[stem] = canonical_split(file.stem)
            elif stem and mark == ["1"] and name:
                classes.setdefault(stem, []).append(name)
                splits.setdefault(stem, canonical_split(split))
    return splits, classes


def _voc_box(thing: ElementTree.Element, file: Path) -> Detection:
    box = thing.find("bndbox")
    corners: Sequence[Any] = [
        _text(box, name) for name in ("xmin", "ymin", "xmax", "ymax")
    ]
    if box is None:
        points = [(_text(p, "x"), _text(p, "y")) for p in thing.iter("pt")]
        corners = _corners(points) or corners
    return _region(_text(thing, "name"), corners, file)


def _voc_size(tree: ElementTree.Element) -> tuple[int, int] | None:
    size = tree.find("size")
    if size is not None:
        return _size(_text(size, "width"), _text(size, "height"))
    size = tree.find("imagesize")
    return None if size is None else _size(_text(size, "ncols"), _text(size, "nrows"))


# ------------------------------------------------------------------------------------------ COCO


def _coco(document: Any, file: Path, export: Export) -> bool:
    if not _has(document, "images", "annotations"):
        return False
    export.layout = "COCO"
    categories = _objects(document.get("categories"))
    kinds = {entry.get("id"): str(entry.get("name")) for entry in categories}
    regions: dict[Any, list[Detection]] = {}
    labels: dict[Any, list[str]] = {}
    for entry in _objects(document["annotations"]):
        export.left_out["outlines, of which the boxes are shown"] += bool(
            entry.get("segmentation")
        )
        image = entry.get("image_id")
        name = kinds.get(entry.get("category_id"), "")
        box = entry.get("bbox")
        if isinstance(box, list) and len(box) == 4:
            regions.setdefault(image, []).append(_region(name, _beyond(*box), file))
        elif name:
            labels.setdefault(image, []).append(name)
    # "train/_annotations.coco.json" is Roboflow's, "annotations/instances_val2017.json" COCO's own
    split = _split_in(file.parent.name) or _split_in(file.stem)
    for entry in _objects(document["images"]):
        picture = Picture(
            labels=labels.get(entry.get("id"), ()),
            regions=regions.get(entry.get("id"), ()),
            split=split,
            size=_size(entry.get("width"), entry.get("height")),
        )
        export.add(entry.get("file_name", ""), file.parent, picture)
    return True


# ------------------------------------------------------------------------------------------ YOLO


def _yolo(export: Export) -> bool:
    export.layout = "YOLO"
    root = export.root
    classes = _yolo_classes(root)
    if classes is None:
        return False
    unnoted = 0
    for image in export.names.files:
        # in labels/ where the picture is in images/, or beside it, as darknet has them
        parts = ["labels" if part == "images" else part for part in image.parts]
        notes = root.joinpath(*parts).with_suffix(".txt")
        regions: list[Detection] = []
        if notes.is_file():
            inside(root, notes, f"folder: {notes.name}")
            regions = _yolo_boxes(notes, root / image, classes)
        else:
            unnoted += 1
        picture = Picture(regions=regions, split=_split_of(image.parts[:-1]))
        export.pictures[root / image] = picture
    export.left_out["pictures without a file of labels"] = unnoted
    return unnoted < len(export.pictures)


def _yolo_classes(root: Path) -> Sequence[str] | None:
    for file in sorted(root.glob("*.y*ml")):
        content = load_yaml(TextFile(file, "folder").text())
        named = content.get("names") if isinstance(content, dict) else None
        if isinstance(named, dict):
            named = [named[number] for number in sorted(named)]
        if isinstance(named, list):
            return list(map(str, named))
    for name in ("classes.txt", "obj.names", "labels/classes.txt"):
        if (root / name).is_file():
            return read_names(root / name, name)
    return None


def _yolo_boxes(notes: Path, image: Path, classes: Sequence[str]) -> list[Detection]:
    # of the picture as it is shown: its trainers turn it by its EXIF
    width, height = picture_shape(image).shown
    regions = []
    lines = TextFile(notes, "folder").text().splitlines()
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        code, *numbers = line.split()
        if not code.isdecimal() or code not in map(str, range(len(classes))):
            raise UserError(
                f"folder: {notes.name} line {number}",
                expected=f"a class from 0 to {len(classes) - 1}",
                got=code[:40],
            )
        values = [_number(cell) for cell in numbers]
        # an outline, or an oriented box: its corners in turn
        corners = _corners(list(zip(values[::2], values[1::2], strict=False)))
        if len(values) == 4:
            x, y, w, h = values
            corners = (x - w / 2, y - h / 2, x + w / 2, y + h / 2)
        elif len(values) < 6 or corners is None:
            raise UserError(
                f"folder: {notes.name} line {number}",
                expected="a class and 4 numbers",
                got=line[:40],
            )
        left, top, right, bottom = corners
        box = (left * width, top * height, right * width, bottom * height)
        regions.append(_region(classes[int(code)], box, notes))
    return regions


# ------------------------------------------------------------------------------- labelling tools


def _cvat_files(export: Export) -> bool:
    known = False
    for file in sorted(export.root.glob("*.xml")):
        known = _cvat(_xml(file), file, export) or known
    return known


def _cvat(tree: ElementTree.Element, file: Path, export: Export) -> bool:
    if tree.tag != "annotations":
        return False
    if tree.find("track") is not None and tree.find("image") is None:
        raise _refusal("CVAT for video", file.name)
    export.layout = "CVAT"
    for entry in tree.iter("image"):
        regions = []
        for box in entry.iter("box"):
            corners = [box.get(name) for name in ("xtl", "ytl", "xbr", "ybr")]
            regions.append(_region(box.get("label", ""), corners, file))
        for outline in (*entry.iter("polygon"), *entry.iter("mask")):
            export.left_out[f"outlines ({outline.tag})"] += 1
        tags = [tag.get("label", "") for tag in entry.iter("tag")]
        picture = Picture(
            labels=list(filter(None, tags)),
            regions=regions,
            split=_split_in(entry.get("subset", "")) or _split_in(file.stem),
            size=_size(entry.get("width"), entry.get("height")),
        )
        export.add(entry.get("name", ""), "images", picture)
    return True


def _label_me(document: Any, file: Path, export: Export) -> bool:
    if not _has(document, "shapes", "imagePath"):
        return False
    export.layout = "LabelMe"
    regions = []
    for shape in _objects(document["shapes"]):
        box = _corners([point for point in shape.get("points", ()) if len(point) == 2])
        if box is not None:
            regions.append(_region(str(shape.get("label", "")), box, file))
    flags = document.get("flags")
    flags = flags if isinstance(flags, dict) else {}
    picture = Picture(
        labels=[name for name, value in flags.items() if value is True],
        regions=regions,
        size=_size(document.get("imageWidth"), document.get("imageHeight")),
    )
    export.add(document["imagePath"], file.parent, picture)
    return True


def _datumaro(document: Any, file: Path, export: Export) -> bool:
    if not _has(document, "categories", "items"):
        return False
    export.layout = "Datumaro"
    categories = document["categories"]
    label = categories.get("label", {}) if isinstance(categories, dict) else {}
    kinds = [str(kind.get("name", "")) for kind in _objects(label.get("labels"))]
    split = _split_in(file.stem)
    for item in _objects(document["items"]):
        labels = []
        regions = []
        for entry in _objects(item.get("annotations")):
            code = entry.get("label_id")
            box = entry.get("bbox")
            if not isinstance(code, int) or not 0 <= code < len(kinds):
                export.left_out["annotations without a class"] += 1
            elif entry.get("type") == "bbox" and isinstance(box, list):
                regions.append(_region(kinds[code], _beyond(*box[:4]), file))
            elif entry.get("type") == "label":
                labels.append(kinds[code])
            else:
                export.left_out["annotations of other kinds"] += 1
        about = item.get("image") or item.get("media") or {}
        height, width, *_ = [*list(about.get("size") or ()), None, None]
        picture = Picture(labels, regions, split=split, size=_size(width, height))
        export.add(about.get("path") or item.get("id"), split or "", picture)
    return True


def _via(document: Any, file: Path, export: Export) -> bool:
    if not isinstance(document, dict):
        return False
    entries = _objects(_values(document.get("_via_img_metadata", document)))
    if not entries or not all(_has(entry, "filename", "regions") for entry in entries):
        return False
    export.layout = "VIA"
    for entry in entries:
        regions = []
        # VIA 1 has an object of regions
        for region in _objects(_values(entry["regions"])):
            name = _only_word(region.get("region_attributes"))
            box = _via_box(region.get("shape_attributes") or {})
            if box is None or not name:
                export.left_out["regions without a name or a box"] += 1
            else:
                regions.append(_region(name, box, file))
        label = _only_word(entry.get("file_attributes"))
        picture = Picture(labels=[label] if label else (), regions=regions)
        export.add(entry["filename"], file.parent, picture)
    return True


def _via_box(shape: Mapping[str, Any]) -> Sequence[Any] | None:
    if shape.get("name") == "rect":
        return _beyond(*map(shape.get, ("x", "y", "width", "height")))
    across, down = shape.get("all_points_x"), shape.get("all_points_y")
    if isinstance(across, list) and isinstance(down, list):
        return _corners(list(zip(across, down, strict=False)))
    return None


def _label_studio(document: Any, file: Path, export: Export) -> bool:
    tasks = _objects(document)
    if not tasks or not all(
        "annotations" in task or "annotation_id" in task for task in tasks
    ):
        return False
    export.layout = "Label Studio"
    for task in tasks:
        inner = task.get("data")
        data = inner if isinstance(inner, dict) else task
        cells = [value for value in data.values() if names_file(value)]
        cell = cells[0] if cells else ""
        labels: list[str] = []
        regions: list[Detection] = []
        size = None
        # one annotator's word, the last: several may disagree
        for annotation in _objects(task.get("annotations"))[-1:]:
            for result in _objects(annotation.get("result")):
                value = result.get("value") or {}
                labels += map(str, value.get("choices") or ())
                stated = _size(
                    result.get("original_width"), result.get("original_height")
                )
                if stated and {"x", "y", "width", "height"} <= value.keys():
                    size = stated
                    name = str((value.get("rectanglelabels") or [""])[0])
                    regions.append(_region(name, _studio_box(value, size), file))
        if "annotations" not in task:  # the short form: columns as in its CSV
            for name, value in task.items():
                is_label = isinstance(value, str) and value != cell
                if is_label and name not in STUDIO_COLUMNS:
                    labels.append(value)
        export.add(cell, "", Picture(labels, regions, size=size))
    return True


STUDIO_COLUMNS = frozenset(
    (
        "annotation_id",
        "annotator",
        "created_at",
        "updated_at",
        "lead_time",
        "id",
        "agreement",
    )
)


def names_file(value: object) -> bool:
    """True for a text that names a picture or video."""
    return (
        isinstance(value, str)
        and "." in value
        and kind_of(PurePosixPath(value)) is not None
    )


def _studio_box(value: Mapping[str, Any], size: tuple[int, int]) -> Sequence[float]:
    """A box that counts in percent of the picture."""
    corners = _beyond(value["x"], value["y"], value["width"], value["height"])
    return [corner * side / 100 for corner, side in zip(corners, size * 2, strict=True)]


JsonReader = Callable[[Any, Path, Export], bool]
JSON_READERS: Sequence[JsonReader] = (
    _coco,
    _datumaro,
    _via,
    _label_studio,
    _label_me,
)


def _json_files(export: Export) -> bool:
    """The JSON files of a folder, by the reader that knows the first of them."""
    readers: Sequence[JsonReader] = JSON_READERS
    for file in _files(export.root, "[!.]*.json"):
        inside(export.root, file, f"folder: {file.name}")
        try:
            document = LogFile(file, "folder").json_document()
        except UserError:  # somebody's notes
            continue
        for read in readers:
            if read(document, file, export):
                readers = (read,)
                break
    return len(readers) == 1


# --------------------------------------------------------------------------------- image and mask


def _masks_beside(export: Export) -> bool:
    """images/NAME and masks/NAME: pictures with their masks, without a label."""
    export.layout = "pictures with masks"
    files = export.names.files
    tops = {file.parts[0] for file in files if len(file.parts) > 1}
    masks = [top for top in tops if top.casefold() in MASKS]
    images = tops - set(masks)
    if len(masks) != 1 or len(images) != 1 or not is_part(next(iter(images))):
        return False
    by_stem = {}
    for file in files:
        if file.parts[0] == masks[0]:
            by_stem[file.with_suffix("").parts[1:]] = export.root / file
    for file in files:
        if file.parts[0] in images:
            mask = by_stem.get(file.with_suffix("").parts[1:])
            export.pictures[export.root / file] = Picture(mask=mask)
    return True


def _without_classes(export: Export) -> bool:
    """Pictures in folders that are splits or parts of a layout, and in none of a class.

    Raises UserError where files beside them say more, in a form that is not read here.
    """
    export.layout = "pictures without classes"
    files = export.names.files
    folders = {file.parts[:-1] for file in files if len(file.parts) > 1}
    # pictures may all lie in folders that are named by splits: obj_train_data
    are_splits = all(len(folder) == 1 and _split_in(folder[0]) for folder in folders)
    if not folders or (has_classes(files) and not are_splits):
        return False
    for file in _files(export.root, "*.*"):
        if file.suffix.lower() in NOTES and not _is_readme(file):
            tops = sorted({folder[0] for folder in folders})
            listed = ", ".join(f"'{printable_name(top)}'" for top in tops[:4])
            raise _refusal(
                f"a layout of the folders {listed}, which are no classes, with "
                f"{printable_name(file.name)} beside them,",
                str(export.root),
            )
    for image in files:
        split = _split_of(image.parts[:-1])
        export.pictures[export.root / image] = Picture(split=split)
    return True


def _is_readme(file: Path) -> bool:
    """True for what is written about a folder, and says nothing of its pictures."""
    return file.name in RUN_FILES or file.name.lower().startswith(("readme", "license"))


# the more particular first: Roboflow's COCO and YOLO are these with a folder a split
FOLDER_READERS: tuple[Callable[[Export], bool], ...] = (
    _voc,
    _json_files,
    _yolo,
    _cvat_files,
    _masks_beside,
    _without_classes,
)

# ---------------------------------------------------------------------------------------- values


def _xml(file: Path) -> ElementTree.Element:
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


def _text(element: ElementTree.Element | None, name: str) -> str:
    found = None if element is None else element.find(name)
    return (found.text or "").strip() if found is not None else ""


def _has(value: Any, *names: str) -> bool:
    return isinstance(value, dict) and all(name in value for name in names)


def _values(value: Any) -> Any:
    return list(value.values()) if isinstance(value, dict) else value


def _objects(value: Any) -> list[dict[str, Any]]:
    entries = value if isinstance(value, list) else []
    return [entry for entry in entries if isinstance(entry, dict)]


def _only_word(attributes: Any) -> str:
    """The one text of an object of attributes; "" where there are none, or several."""
    words = attributes.values() if isinstance(attributes, dict) else ()
    texts = [word for word in words if isinstance(word, str) and word.strip()]
    return texts[0].strip() if len(texts) == 1 else ""


def _number(value: Any) -> float:
    try:
        return float(value)
    except (TypeError, ValueError, OverflowError):
        return float("nan")


def _size(width: Any, height: Any) -> tuple[int, int] | None:
    sides = _number(width), _number(height)
    if all(0 < side < 2**24 for side in sides):
        return int(sides[0]), int(sides[1])
    return None


def _corners(points: Sequence[Sequence[Any]]) -> tuple[float, ...] | None:
    """The box round points; None where there are none."""
    if not points:
        return None
    across, down = zip(*points, strict=True)
    xs = [_number(x) for x in across]
    ys = [_number(y) for y in down]
    return min(xs), min(ys), max(xs), max(ys)


def _beyond(x: Any, y: Any, width: Any, height: Any) -> tuple[float, ...]:
    """The corners of a box that is stated by its first corner and its sides."""
    left, top = _number(x), _number(y)
    return left, top, left + _number(width), top + _number(height)


def _region(name: str, corners: Sequence[Any], file: Path) -> Detection:
    left, top, right, bottom = map(_number, corners)
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


def _split_of(folders: Sequence[str]) -> str | None:
    """The split that one of some folders is."""
    return next(filter(None, map(_split_in, folders)), None)


def _split_in(name: str) -> str | None:
    """The split that a name is, or begins or ends with: "train", "instances_val2017"."""
    for word in re.findall(r"[^\W\d_]+", name.casefold()):
        split = canonical_split(word)
        if split in ("train", "val", "test"):
            return split
    return None
