"""Layouts of data sets and exports of labelling tools: Pascal VOC, COCO, YOLO, CVAT, and others.

Each reader takes what a tool wrote and gives pictures with boxes, labels and masks; which layout a
folder has shows in its names. What has a known name and no reader is refused by that name.
"""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePosixPath
from typing import Any
from xml.etree import ElementTree

from cuescope_folder.answers import shorten_list
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

MOST_XML = 2**26  # bytes
MOST_UNKNOWN = (
    20  # JSON files of no known form, after which a folder is taken to have no other
)
TABLE = "a table with columns path, label and boxes will do (-O data.manifest=FILE)"
VOC_MASKS = ("SegmentationClass",)
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


@dataclass(frozen=True)
class Region:
    """A box in pixels: left, top, right and bottom."""

    name: str
    box: tuple[float, float, float, float]


@dataclass(frozen=True)
class Picture:
    """A picture of an export: its file, what it shows, and its size as the export states it."""

    file: Path
    labels: Sequence[str] = ()
    regions: Sequence[Region] = ()
    mask: Path | None = None
    split: str | None = None
    size: tuple[int, int] | None = None
    annotations: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Export:
    """What was read, and of which layout; `left_out` counts what is not shown, by reason."""

    layout: str
    pictures: Sequence[Picture]
    left_out: Mapping[str, int] = field(default_factory=dict)

    def items(self, root: Path) -> list[Item]:
        """The samples to be: the label is the one class that a picture shows, if it is one."""
        items = []
        for picture in self.pictures:
            named = [*picture.labels, *(region.name for region in picture.regions)]
            classes = list(dict.fromkeys(named))
            annotations = dict(picture.annotations)
            if picture.regions:
                annotations["boxes"] = tuple(
                    Detection(name=region.name, score=1.0, box=region.box)
                    for region in picture.regions
                )
            if len(classes) > 1:
                annotations["objects"] = tuple(classes)
            if picture.size:
                annotations["stated_size"] = picture.size
            key = printable_name(str(PurePosixPath(picture.file.relative_to(root))))
            items.append(
                Item(
                    key=key,
                    files=(picture.file,),
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
        several = sum(
            len({*p.labels, *(region.name for region in p.regions)}) > 1
            for p in self.pictures
        )
        words = f"{self.layout}: {count_of(len(self.pictures), 'pictures')}"
        if several:
            words += f", {several:,} of several classes and without a label"
        facts = {"layout": words}
        if self.left_out:
            reasons = [f"{count:,} {why}" for why, count in self.left_out.items()]
            facts["not shown of it"] = ", ".join(reasons)
        return facts


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
    for find in FINDERS:
        export = find(root, names)
        # notes on a few pictures of class folders are no layout
        if export is not None and (are_parts or 2 * len(export.pictures) >= len(files)):
            return export
    return None


def read_export(file: Path, names: Names) -> Export | None:
    """A single file that a labelling tool wrote; None for one that no reader knows."""
    if file.suffix.lower() == ".xml":
        return _cvat(_xml(file), file, names)
    if file.suffix.lower() == ".json":
        document = LogFile(file, "folder").json_document()
        for read in JSON_READERS:
            export = read(document, file, names)
            if export is not None:
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


# ------------------------------------------------------------------------------------ Pascal VOC


def _voc(root: Path, names: Names) -> Export | None:
    """XML of Pascal VOC, of LabelMe's web page and of Roboflow: a file a picture."""
    pictures = []
    left_out: Counter[str] = Counter()
    splits, classes = _image_sets(root)
    masks = {
        file.stem: root / file for file in names.files if file.parent.name in VOC_MASKS
    }
    found = sorted(
        file
        for pattern in ("*.xml", "*/*.xml", "*/*/*.xml")
        for file in root.glob(pattern)
    )
    layout = "Pascal VOC"
    for file in found:
        tree = _xml(file)
        if tree.tag != "annotation":
            return None
        image = names.find(_text(tree, "filename"), "JPEGImages") or names.find(
            file.stem
        )
        if image is None:
            left_out["annotations without a picture"] += 1
            continue
        if tree.find("imagesize") is not None:
            layout = "LabelMe"
        split = splits.get(file.stem) or _split_of(image.relative_to(root).parts[:-1])
        pictures.append(
            Picture(
                image,
                labels=classes.get(file.stem, ()),
                regions=[_voc_box(thing, file) for thing in tree.iter("object")],
                mask=masks.get(file.stem),
                split=split,
                size=_voc_size(tree),
            )
        )
    # lists of classes alone, without boxes
    if not found and classes:
        for stem, labels in classes.items():
            image = names.find(stem, "JPEGImages")
            if image is not None:
                pictures.append(Picture(image, labels=labels, split=splits.get(stem)))
    return Export(layout, pictures, left_out) if found or pictures else None


def _image_sets(root: Path) -> tuple[dict[str, str], dict[str, list[str]]]:
    """The split of each picture, and its classes, by stem: ImageSets/Main/cat_train.txt."""
    splits: dict[str, str] = {}
    classes: dict[str, list[str]] = {}
    for file in sorted(
        (*root.glob("ImageSets/*/*.txt"), *root.glob("*/*/ImageSets/*/*.txt"))
    ):
        name, _, split = file.stem.rpartition("_")
        for line in TextFile(file, "folder").text().splitlines():
            stem, *mark = line.split() or [""]
            if stem and not mark and file.stem in ("train", "val", "test"):
                splits[stem] = canonical_split(file.stem)
            elif stem and mark == ["1"] and name:
                classes.setdefault(stem, []).append(name)
                splits.setdefault(stem, canonical_split(split))
    return splits, classes


def _voc_box(thing: ElementTree.Element, file: Path) -> Region:
    box = thing.find("bndbox")
    corners: list[Any] = [_text(box, name) for name in ("xmin", "ymin", "xmax", "ymax")]
    points = [
        (_number(_text(p, "x")), _number(_text(p, "y"))) for p in thing.iter("pt")
    ]
    if box is None and points:
        across, down = zip(*points, strict=True)
        corners = [min(across), min(down), max(across), max(down)]
    return _region(_text(thing, "name"), corners, file)


def _voc_size(tree: ElementTree.Element) -> tuple[int, int] | None:
    size = tree.find("size")
    if size is not None:
        return _size(_text(size, "width"), _text(size, "height"))
    size = tree.find("imagesize")
    return None if size is None else _size(_text(size, "ncols"), _text(size, "nrows"))


# ------------------------------------------------------------------------------------------ COCO


def _coco(document: Any, file: Path, names: Names) -> Export | None:
    if (
        not isinstance(document, dict)
        or not {"images", "annotations"} <= document.keys()
    ):
        return None
    kinds = {
        entry.get("id"): str(entry.get("name"))
        for entry in _objects(document.get("categories"))
    }
    by_image: dict[Any, list[Region]] = {}
    labels: dict[Any, list[str]] = {}
    left_out: Counter[str] = Counter()
    for entry in _objects(document["annotations"]):
        left_out["outlines, of which the boxes are shown"] += bool(
            entry.get("segmentation")
        )
        box = entry.get("bbox")
        name = kinds.get(entry.get("category_id"), "")
        if not isinstance(box, list) or len(box) != 4:
            if name:
                labels.setdefault(entry.get("image_id"), []).append(name)
            continue
        x, y, width, height = map(_number, box)
        by_image.setdefault(entry.get("image_id"), []).append(
            _region(name, (x, y, x + width, y + height), file)
        )
    pictures = []
    # "train/_annotations.coco.json" is Roboflow's, "annotations/instances_val2017.json" COCO's own
    split = _split_in(file.parent.name) or _split_in(file.stem)
    for entry in _objects(document["images"]):
        image = names.find(str(entry.get("file_name", "")), file.parent)
        if image is None:
            left_out["pictures that are not here"] += 1
            continue
        pictures.append(
            Picture(
                image,
                labels=labels.get(entry.get("id"), ()),
                regions=by_image.get(entry.get("id"), ()),
                split=split,
                size=_size(entry.get("width"), entry.get("height")),
            )
        )
    return Export("COCO", pictures, +left_out)


# ------------------------------------------------------------------------------------------ YOLO


def _yolo(root: Path, names: Names) -> Export | None:
    classes = _yolo_classes(root)
    if classes is None:
        return None
    pictures = []
    left_out: Counter[str] = Counter()
    for image in names.files:
        # in labels/ where the picture is in images/, or beside it, as darknet has them
        parts = ["labels" if part == "images" else part for part in image.parts]
        notes = root.joinpath(*parts).with_suffix(".txt")
        regions: list[Region] = []
        if notes.is_file():
            inside(root, notes, f"folder: {notes.name}")
            regions = _yolo_boxes(notes, root / image, classes)
        else:
            left_out["pictures without a file of labels"] += 1
        split = _split_of(image.parts[:-1])
        pictures.append(Picture(root / image, regions=regions, split=split))
    if left_out.total() == len(pictures):
        return None
    return Export("YOLO", pictures, +left_out)


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
            lines = TextFile(root / name, "folder").text().splitlines()
            return [line.strip() for line in lines if line.strip()]
    return None


def _yolo_boxes(notes: Path, image: Path, classes: Sequence[str]) -> list[Region]:
    # of the picture as it is shown: its trainers turn it by its EXIF
    width, height = picture_shape(image).shown
    regions = []
    for number, line in enumerate(
        TextFile(notes, "folder").text().splitlines(), start=1
    ):
        cells = line.split()
        if not cells:
            continue
        place = f"{notes.name} line {number}"
        code, *numbers = cells
        if not code.isdecimal() or int(code) >= len(classes):
            raise UserError(
                f"folder: {place}",
                expected=f"a class from 0 to {len(classes) - 1}",
                got=code[:40],
            )
        values = [_number(cell) for cell in numbers]
        if len(values) == 4:
            x, y, w, h = values
            corners = (x - w / 2, y - h / 2, x + w / 2, y + h / 2)
        elif len(values) >= 6:  # an outline, or an oriented box: its corners in turn
            corners = (
                min(values[::2]), min(values[1::2]), max(values[::2]), max(values[1::2])
            )  # fmt: skip
        else:
            raise UserError(
                f"folder: {place}", expected="a class and 4 numbers", got=line[:40]
            )
        scaled = [
            c * side for c, side in zip(corners, (width, height) * 2, strict=True)
        ]
        regions.append(_region(classes[int(code)], scaled, notes))
    return regions


# ------------------------------------------------------------------------------- labelling tools


def _cvat_files(root: Path, names: Names) -> Export | None:
    exports = [_cvat(_xml(file), file, names) for file in sorted(root.glob("*.xml"))]
    return _joined([export for export in exports if export is not None])


def _cvat(tree: ElementTree.Element, file: Path, names: Names) -> Export | None:
    if tree.tag != "annotations":
        return None
    if tree.find("track") is not None and tree.find("image") is None:
        raise _refusal("CVAT for video", file.name)
    pictures = []
    left_out: Counter[str] = Counter()
    for entry in tree.iter("image"):
        image = names.find(entry.get("name", ""), "images")
        if image is None:
            left_out["pictures that are not here"] += 1
            continue
        regions = []
        for box in entry.iter("box"):
            corners = [box.get(name) for name in ("xtl", "ytl", "xbr", "ybr")]
            regions.append(_region(box.get("label", ""), corners, file))
        for outline in (*entry.iter("polygon"), *entry.iter("mask")):
            left_out[f"outlines ({outline.tag})"] += 1
        tags = [tag.get("label", "") for tag in entry.iter("tag")]
        pictures.append(
            Picture(
                image,
                labels=list(filter(None, tags)),
                regions=regions,
                split=_split_in(entry.get("subset", "")) or _split_in(file.stem),
                size=_size(entry.get("width"), entry.get("height")),
            )
        )
    return Export("CVAT", pictures, left_out)


def _label_me(document: Any, file: Path, names: Names) -> Export | None:
    if not isinstance(document, dict) or not {"shapes", "imagePath"} <= document.keys():
        return None
    image = names.find(str(document["imagePath"]), file.parent)
    if image is None:
        return Export("LabelMe", (), {"pictures that are not here": 1})
    regions = []
    for shape in _objects(document["shapes"]):
        points = [point for point in shape.get("points", ()) if len(point) == 2]
        if points:
            across, down = zip(*points, strict=True)
            box = (min(across), min(down), max(across), max(down))
            regions.append(_region(str(shape.get("label", "")), box, file))
    flags = document.get("flags")
    flags = flags if isinstance(flags, dict) else {}
    return Export(
        "LabelMe",
        [
            Picture(
                image,
                labels=[name for name, value in flags.items() if value is True],
                regions=regions,
                size=_size(document.get("imageWidth"), document.get("imageHeight")),
            )
        ],
    )


def _datumaro(document: Any, file: Path, names: Names) -> Export | None:
    if not isinstance(document, dict) or not {"categories", "items"} <= document.keys():
        return None
    categories = document["categories"]
    label = categories.get("label", {}) if isinstance(categories, dict) else {}
    kinds = [str(kind.get("name", "")) for kind in _objects(label.get("labels"))]
    pictures = []
    left_out: Counter[str] = Counter()
    for item in _objects(document["items"]):
        about = item.get("image") or item.get("media") or {}
        image = names.find(
            str(about.get("path") or item.get("id")), _split_in(file.stem) or ""
        )
        if image is None:
            left_out["pictures that are not here"] += 1
            continue
        labels = []
        regions = []
        for entry in _objects(item.get("annotations")):
            code = entry.get("label_id")
            if not isinstance(code, int) or not 0 <= code < len(kinds):
                left_out["annotations without a class"] += 1
            elif entry.get("type") == "bbox" and isinstance(entry.get("bbox"), list):
                x, y, width, height = map(_number, entry["bbox"][:4])
                box = (x, y, x + width, y + height)
                regions.append(_region(kinds[code], box, file))
            elif entry.get("type") == "label":
                labels.append(kinds[code])
            else:
                left_out["annotations of other kinds"] += 1
        height_width = about.get("size") or (None, None)
        size = _size(*height_width[::-1]) if len(height_width) == 2 else None
        pictures.append(
            Picture(
                image,
                labels=labels,
                regions=regions,
                split=_split_in(file.stem),
                size=size,
            )
        )
    return Export("Datumaro", pictures, +left_out)


def _via(document: Any, file: Path, names: Names) -> Export | None:
    if not isinstance(document, dict):
        return None
    entries = _objects(list(document.get("_via_img_metadata", document).values()))
    if not entries or not all(
        {"filename", "regions"} <= entry.keys() for entry in entries
    ):
        return None
    pictures = []
    left_out: Counter[str] = Counter()
    for entry in entries:
        image = names.find(str(entry["filename"]), file.parent)
        if image is None:
            left_out["pictures that are not here"] += 1
            continue
        given = entry["regions"]
        regions = []
        # VIA 1 has an object of regions
        for region in _objects(
            list(given.values()) if isinstance(given, dict) else given
        ):
            shape = region.get("shape_attributes") or {}
            name = _only_word(region.get("region_attributes"))
            box = _via_box(shape)
            if box is None or not name:
                left_out["regions without a name or a box"] += 1
                continue
            regions.append(_region(name, box, file))
        label = _only_word(entry.get("file_attributes"))
        pictures.append(
            Picture(image, labels=[label] if label else (), regions=regions)
        )
    return Export("VIA", pictures, left_out)


def _via_box(shape: Mapping[str, Any]) -> Sequence[Any] | None:
    if shape.get("name") == "rect":
        x, y = _number(shape.get("x")), _number(shape.get("y"))
        return (x, y, x + _number(shape.get("width")), y + _number(shape.get("height")))
    across, down = shape.get("all_points_x"), shape.get("all_points_y")
    if isinstance(across, list) and isinstance(down, list) and across and down:
        return (min(across), min(down), max(across), max(down))
    return None


def _label_studio(document: Any, file: Path, names: Names) -> Export | None:
    tasks = _objects(document) if isinstance(document, list) else []
    if not tasks or not all(
        "annotations" in task or "annotation_id" in task for task in tasks
    ):
        return None
    pictures = []
    left_out: Counter[str] = Counter()
    for task in tasks:
        inner = task.get("data")
        data = inner if isinstance(inner, dict) else task
        cell, image = _studio_file(data, names)
        if image is None:
            left_out["tasks whose picture is not here"] += 1
            continue
        labels: list[str] = []
        regions: list[Region] = []
        size = None
        # one annotator's word, the last: several may disagree
        for annotation in _objects(task.get("annotations"))[-1:]:
            for result in _objects(annotation.get("result")):
                value = result.get("value") or {}
                labels += map(str, value.get("choices") or ())
                box = _studio_box(result)
                if box is not None:
                    size = box[1]
                    regions.append(
                        _region(
                            str((value.get("rectanglelabels") or [""])[0]), box[0], file
                        )
                    )
        if "annotations" not in task:  # the short form: columns as in its CSV
            labels += [
                str(value)
                for name, value in task.items()
                if name not in STUDIO_COLUMNS
                and isinstance(value, str)
                and value != cell
            ]
        pictures.append(Picture(image, labels=labels, regions=regions, size=size))
    return Export("Label Studio", pictures, left_out)


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


def _studio_file(
    data: Mapping[str, Any], names: Names
) -> tuple[str | None, Path | None]:
    for value in data.values():
        if isinstance(value, str) and kind_of(PurePosixPath(value)) and "." in value:
            return value, names.find(value)
    return None, None


def _studio_box(
    result: Mapping[str, Any],
) -> tuple[Sequence[float], tuple[int, int] | None] | None:
    value = result.get("value") or {}
    size = _size(result.get("original_width"), result.get("original_height"))
    if size is None or not {"x", "y", "width", "height"} <= value.keys():
        return None
    # in percent of the picture
    x, y, w, h = (_number(value[name]) / 100 for name in ("x", "y", "width", "height"))
    width, height = size
    return (x * width, y * height, (x + w) * width, (y + h) * height), size


Reader = Callable[[Any, Path, Names], Export | None]
JSON_READERS: tuple[Reader, ...] = (
    _coco,
    _datumaro,
    _via,
    _label_studio,
    _label_me,
)


def _json_files(root: Path, names: Names) -> Export | None:
    """The JSON files of a folder, up to two below, by the reader that knows the first of them."""
    readers = JSON_READERS
    exports: list[Export] = []
    unknown = 0
    for pattern in ("*.json", "*/*.json", "*/*/*.json"):
        for file in sorted(root.glob(pattern)):
            if file.name.startswith(".") or (not exports and unknown >= MOST_UNKNOWN):
                continue
            inside(root, file, f"folder: {file.name}")
            export = _by_first_reader(file, names, readers)
            unknown += export is None
            if export is not None:
                exports.append(export[1])
                readers = (export[0],)
    return _joined(exports)


def _by_first_reader(
    file: Path,
    names: Names,
    readers: Sequence[Reader],
) -> tuple[Reader, Export] | None:
    try:
        document = LogFile(file, "folder").json_document()
    except UserError:  # somebody's notes
        return None
    for read in readers:
        export = read(document, file, names)
        if export is not None:
            return read, export
    return None


# --------------------------------------------------------------------------------- image and mask


def _masks_beside(root: Path, names: Names) -> Export | None:
    """images/NAME and masks/NAME: pictures with their masks, without a label."""
    tops = {file.parts[0] for file in names.files if len(file.parts) > 1}
    masks = [top for top in tops if top.casefold() in MASKS]
    images = tops - set(masks)
    if len(masks) != 1 or len(images) != 1 or not is_part(next(iter(images))):
        return None
    by_stem = {
        file.with_suffix("").parts[1:]: file
        for file in names.files
        if file.parts[0] == masks[0]
    }
    pictures = []
    for file in names.files:
        if file.parts[0] in images:
            mask = by_stem.get(file.with_suffix("").parts[1:])
            found = None if mask is None else root / mask
            pictures.append(Picture(root / file, mask=found))
    return Export("pictures with masks", pictures)


def _without_classes(root: Path, names: Names) -> Export | None:
    """Pictures in folders that are splits or parts of a layout, and in none of a class.

    Raises UserError where files beside them say more, in a form that is not read here.
    """
    if all(len(file.parts) < 2 for file in names.files):
        return None
    if has_classes(names.files) and not _are_split_names(names.files):
        return None
    notes = next(
        (
            file
            for pattern in ("*.*", "*/*.*", "*/*/*.*")
            for file in sorted(root.glob(pattern))
            if file.suffix.lower() in NOTES and not _is_readme(file)
        ),
        None,
    )
    folders = {file.parts[0] for file in names.files if len(file.parts) > 1}
    listed = ", ".join(f"'{printable_name(folder)}'" for folder in sorted(folders)[:4])
    if notes is not None:
        raise _refusal(
            f"a layout of the folders {listed}, which are no classes, with "
            f"{printable_name(notes.name)} beside them,",
            str(root),
        )
    pictures = [
        Picture(root / file, split=_split_of(file.parts[:-1])) for file in names.files
    ]
    return Export("pictures without classes", pictures)


def _is_readme(file: Path) -> bool:
    """True for what is written about a folder, and says nothing of its pictures."""
    return file.name in RUN_FILES or file.name.lower().startswith(("readme", "license"))


def _are_split_names(files: Sequence[PurePosixPath]) -> bool:
    """True if all pictures lie in folders that are named by splits: obj_train_data."""
    folders = {file.parts[:-1] for file in files if len(file.parts) > 1}
    return all(len(folder) == 1 and _split_in(folder[0]) for folder in folders)


# the more particular first: Roboflow's COCO and YOLO are these with a folder a split
FINDERS: tuple[Callable[[Path, Names], Export | None], ...] = (
    _voc,
    _json_files,
    _yolo,
    _cvat_files,
    _masks_beside,
    _without_classes,
)

# ---------------------------------------------------------------------------------------- values


def _joined(exports: Sequence[Export]) -> Export | None:
    """The exports as one; what several say of one picture is put together."""
    pictures: dict[Path, Picture] = {}
    left_out: Counter[str] = Counter()
    for export in exports:
        left_out.update(export.left_out)
        for picture in export.pictures:
            known = pictures.get(picture.file)
            if known is not None:
                picture = replace(
                    known,
                    labels=list(dict.fromkeys((*known.labels, *picture.labels))),
                    regions=list(dict.fromkeys((*known.regions, *picture.regions))),
                )
            pictures[picture.file] = picture
    if not exports:
        return None
    return Export(exports[0].layout, list(pictures.values()), left_out)


def _xml(file: Path) -> ElementTree.Element:
    text = TextFile(file, "folder").text(MOST_XML)
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
        number = float(value)
    except (TypeError, ValueError, OverflowError):
        return float("nan")
    return number


def _size(width: Any, height: Any) -> tuple[int, int] | None:
    sides = _number(width), _number(height)
    if all(0 < side < 2**24 for side in sides):
        return int(sides[0]), int(sides[1])
    return None


def _region(name: str, corners: Sequence[Any], file: Path) -> Region:
    left, top, right, bottom = map(_number, corners)
    is_box = left < right and top < bottom  # NaN fails every comparison
    if (
        not name.strip()
        or not is_box
        or max(map(abs, (left, top, right, bottom))) > 2**24
    ):
        raise UserError(
            f"folder: {printable_name(file.name)}",
            expected="a name and a box whose right is beyond its left",
            got=f"'{name:.30}' {shorten_list([str(corner)[:12] for corner in corners])}",
        )
    return Region(printable_name(name.strip()), (left, top, right, bottom))


def _split_of(folders: Sequence[str]) -> str | None:
    """The split that one of some folders is."""
    return next(filter(None, map(_split_in, folders)), None)


def _split_in(name: str) -> str | None:
    """The split that a name is, or begins or ends with: "train", "instances_val2017"."""
    plain = "".join(
        letter if letter.isalpha() else " " for letter in name.casefold()
    ).split()
    for word in plain:
        split = canonical_split(word)
        if split in ("train", "val", "test"):
            return split
    return None


__all__ = ["Export", "Picture", "Region", "find_export", "read_export"]
