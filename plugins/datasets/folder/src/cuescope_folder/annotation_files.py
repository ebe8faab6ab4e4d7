"""XML and text of labelling tools: a file a picture, a line a box, or lists of classes."""

from collections.abc import Callable, Sequence
from math import isfinite
from pathlib import Path, PurePosixPath
from typing import Any
from xml.etree import ElementTree

from cuescope_folder.answers import read_names
from cuescope_folder.export import (
    Export,
    Picture,
    corners_of,
    files_below,
    number_of,
    parse_xml,
    refusal,
    region,
    size_of,
    split_of,
    text_of,
)
from cuescope_folder.layout import canonical_split, split_in
from cuescope_sdk import Detection, UserError, inside
from cuescope_sdk.data import TextFile, load_yaml, picture_shape

# the folder of the text about pictures of a folder
LABELS = {"images": "labels", "image_2": "label_2", "data": "labels"}
KITTI_NUMBERS = 14  # behind the name (Geiger et al., 2012, the devkit's readme)


def read_voc(export: Export) -> bool:
    """XML of Pascal VOC, of LabelMe's web page and of Roboflow: a file a picture."""
    root = export.root
    splits, classes = _image_sets(root)
    masks = {}
    for outline in export.names.files:
        if outline.parent.name == "SegmentationClass":
            masks[outline.stem] = root / outline
    export.layout = "Pascal VOC"
    found = sorted(files_below(root, "*.xml"))
    for file in found:
        tree = parse_xml(file)
        if tree.tag != "annotation":
            return False
        if tree.find("imagesize") is not None:
            export.layout = "LabelMe"
        name = text_of(tree, "filename")
        image = export.names.find(name, "JPEGImages") or export.names.find(file.stem)
        folders = () if image is None else image.relative_to(root).parts[:-1]
        shown = Picture(
            labels=classes.get(file.stem, ()),
            regions=[_voc_box(thing, file) for thing in tree.iter("object")],
            mask=masks.get(file.stem),
            split=splits.get(file.stem) or split_of(folders),
            size=_voc_size(tree),
        )
        export.add(name if image is None else image.relative_to(root), "", shown)
    # lists of classes or masks alone, without boxes
    if not found:
        for stem in {**classes, **splits}:
            labels = classes.get(stem, ())
            picture = Picture(labels, mask=masks.get(stem), split=splits.get(stem))
            export.add(stem, "JPEGImages", picture)
    return bool(found or export.pictures)


def _image_sets(root: Path) -> tuple[dict[str, str], dict[str, list[str]]]:
    """The split of each picture, and its classes, by stem: ImageSets/Main/cat_train.txt."""
    splits: dict[str, str] = {}
    classes: dict[str, list[str]] = {}
    for file in files_below(root, "ImageSets/*/*.txt"):
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
        text_of(box, name) for name in ("xmin", "ymin", "xmax", "ymax")
    ]
    if box is None:
        points = [(text_of(p, "x"), text_of(p, "y")) for p in thing.iter("pt")]
        corners = corners_of(points) or corners
    return region(text_of(thing, "name"), corners, file)


def _voc_size(tree: ElementTree.Element) -> tuple[int, int] | None:
    size = tree.find("size")
    if size is not None:
        return size_of(text_of(size, "width"), text_of(size, "height"))
    size = tree.find("imagesize")
    return (
        None
        if size is None
        else size_of(text_of(size, "ncols"), text_of(size, "nrows"))
    )


def read_yolo(export: Export) -> bool:
    """YOLO: a line a box with a class and parts of the picture's sides, and a list of classes."""
    export.layout = "YOLO"
    classes = _yolo_classes(export.root)
    if classes is None:
        return False
    return _read_notes(export, lambda notes, image: _yolo_boxes(notes, image, classes))


def read_kitti(export: Export) -> bool:
    """KITTI: a line a box with a name and fourteen numbers or more."""
    export.layout = "KITTI"
    notes = (_notes_of(export.root, image) for image in export.names.files)
    first = next((file for file in notes if file.is_file()), None)
    if first is None:
        return False
    lines = TextFile(first, "folder").text().splitlines()
    if not lines or len(_kitti_numbers(lines[0])) < KITTI_NUMBERS:
        return False
    return _read_notes(export, _kitti_boxes)


def _kitti_numbers(line: str) -> list[float]:
    numbers = [number_of(word) for word in line.split()[1:]]
    return [number for number in numbers if isfinite(number)]


def _kitti_boxes(notes: Path, _: Path) -> list[Detection]:
    # regions of which nothing is said are called DontCare
    lines = TextFile(notes, "folder").text().splitlines()
    told = [line.split() for line in lines if line.strip() and line[:8] != "DontCare"]
    return [region(words[0], words[4:8], notes) for words in told]


def _notes_of(root: Path, image: PurePosixPath) -> Path:
    """The text about a picture: in labels/ where that is in images/, or beside it, as darknet."""
    parts = [LABELS.get(part, part) for part in image.parts]
    apart = root.joinpath(*parts).with_suffix(".txt")
    return apart if apart.is_file() else (root / image).with_suffix(".txt")


def _read_notes(
    export: Export, read: Callable[[Path, Path], Sequence[Detection]]
) -> bool:
    """Add each picture with the boxes of its text; False where none has one."""
    root = export.root
    unnoted = 0
    for image in export.names.files:
        notes = _notes_of(root, image)
        regions: Sequence[Detection] = ()
        if notes.is_file():
            inside(root, notes, f"folder: {notes.name}")
            regions = read(notes, root / image)
        else:
            unnoted += 1
        picture = Picture(regions=regions, split=split_of(image.parts[:-1]))
        export.pictures[root / image] = picture
    export.left_out["pictures without a file of labels"] = unnoted
    return unnoted < len(export.pictures)


def read_class_lists(export: Export) -> bool:
    """Lists "PICTURE CLASS", a line a picture, as ImageNet's: train.txt, val.txt."""
    export.layout = "lists of classes"
    classes = []
    for name in ("synsets.txt", "classes.txt", "labels.txt"):
        if (export.root / name).is_file():
            classes = read_names(export.root / name, name)
    for file in sorted(export.root.glob("*.txt")):
        split = split_in(file.stem)
        for line in read_names(file, file.name) if split else ():
            name, _, label = line.rpartition(" ")
            if not name or export.names.find(name) is None:
                return False
            if label.isdecimal() and int(label) < len(classes):
                label = classes[int(label)]
            export.add(name, "", Picture(labels=[label], split=split))
    return bool(export.pictures)


def read_open_images(export: Export) -> bool:
    """Open Images: tables of boxes in parts of the picture's sides, and of names of classes."""
    export.layout = "Open Images"
    tables = list(files_below(export.root, "*annotations-bbox.csv"))
    described = list(files_below(export.root, "*class-descriptions*.csv"))
    names = {}
    for file in described[:1]:
        for line in read_names(file, file.name):
            code, _, name = line.partition(",")
            names[code] = name
    for table in tables:
        split = split_in(table.name)
        for _, row in TextFile(table, "folder").table():
            box = [
                number_of(row.get(name)) for name in ("XMin", "YMin", "XMax", "YMax")
            ]
            code, image = row.get("LabelName", ""), row.get("ImageID", "")
            corners = export.corners(image, split or "", box)
            found = [region(names.get(code, code), corners, table)] if corners else []
            export.add(image, split or "", Picture(regions=found, split=split))
    return bool(tables)


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
        values = [number_of(cell) for cell in numbers]
        # an outline, or an oriented box: its corners in turn
        corners = corners_of(list(zip(values[::2], values[1::2], strict=False)))
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
        regions.append(region(classes[int(code)], box, notes))
    return regions


def read_cvat_files(export: Export) -> bool:
    known = False
    for file in sorted(export.root.glob("*.xml")):
        known = read_cvat(parse_xml(file), file, export) or known
    return known


def read_cvat(tree: ElementTree.Element, file: Path, export: Export) -> bool:
    if tree.tag != "annotations":
        return False
    if tree.find("track") is not None and tree.find("image") is None:
        raise refusal("CVAT for video", file.name)
    export.layout = "CVAT"
    for entry in tree.iter("image"):
        regions = []
        for box in entry.iter("box"):
            corners = [box.get(name) for name in ("xtl", "ytl", "xbr", "ybr")]
            regions.append(region(box.get("label", ""), corners, file))
        for outline in (*entry.iter("polygon"), *entry.iter("mask")):
            export.left_out[f"outlines ({outline.tag})"] += 1
        tags = [tag.get("label", "") for tag in entry.iter("tag")]
        picture = Picture(
            labels=list(filter(None, tags)),
            regions=regions,
            split=split_in(entry.get("subset", "")) or split_in(file.stem),
            size=size_of(entry.get("width"), entry.get("height")),
        )
        export.add(entry.get("name", ""), "images", picture)
    return True
