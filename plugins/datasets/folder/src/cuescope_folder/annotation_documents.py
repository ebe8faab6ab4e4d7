"""JSON of labelling tools, and Label Studio's tables.

Each reader adds what a document tells to an `Export`, and returns True; of another one it returns
False.
"""

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path, PurePosixPath
from typing import Any

from cuescope_folder.export import (
    Export,
    Picture,
    box_beyond,
    corners_of,
    files_below,
    has_fields,
    number_of,
    objects_of,
    only_word,
    region as region_of,
    size_of,
    values_of,
)
from cuescope_folder.layout import split_in
from cuescope_sdk import Detection, UserError, inside
from cuescope_sdk.data import kind_of, printable_name
from cuescope_sdk.logs import LogFile, parse_json


def _coco(document: Any, file: Path, export: Export) -> bool:
    if not has_fields(document, "images", "annotations"):
        return False
    export.layout = "COCO"
    categories = objects_of(document.get("categories"))
    kinds = {entry.get("id"): str(entry.get("name")) for entry in categories}
    regions: dict[Any, list[Detection]] = {}
    labels: dict[Any, list[str]] = {}
    for entry in objects_of(document["annotations"]):
        export.left_out["outlines, of which the boxes are shown"] += bool(
            entry.get("segmentation")
        )
        image = entry.get("image_id")
        name = kinds.get(entry.get("category_id"), "")
        box = entry.get("bbox")
        for segment in objects_of(entry.get("segments_info")):  # of a panoptic file
            export.left_out["outlines, of which the boxes are shown"] += 1
            kind = kinds.get(segment.get("category_id"), "")
            corners = box_beyond(*segment.get("bbox", ()))
            regions.setdefault(image, []).append(region_of(kind, corners, file))
        if isinstance(box, list) and len(box) == 4:
            regions.setdefault(image, []).append(
                region_of(name, box_beyond(*box), file)
            )
        elif name:
            labels.setdefault(image, []).append(name)
    # "train/_annotations.coco.json" is Roboflow's, "annotations/instances_val2017.json" COCO's own
    split = split_in(file.parent.name) or split_in(file.stem)
    for entry in objects_of(document["images"]):
        picture = Picture(
            labels=labels.get(entry.get("id"), ()),
            regions=regions.get(entry.get("id"), ()),
            split=split,
            size=size_of(entry.get("width"), entry.get("height")),
        )
        export.add(entry.get("file_name", ""), file.parent, picture)
    return True


def _label_me(document: Any, file: Path, export: Export) -> bool:
    if not has_fields(document, "shapes", "imagePath"):
        return False
    export.layout = "LabelMe"
    regions = []
    for shape in objects_of(document["shapes"]):
        box = corners_of(
            [point for point in shape.get("points", ()) if len(point) == 2]
        )
        if box is not None:
            regions.append(region_of(str(shape.get("label", "")), box, file))
    flags = document.get("flags")
    flags = flags if isinstance(flags, dict) else {}
    picture = Picture(
        labels=[name for name, value in flags.items() if value is True],
        regions=regions,
        size=size_of(document.get("imageWidth"), document.get("imageHeight")),
    )
    export.add(document["imagePath"], file.parent, picture)
    return True


def _datumaro(document: Any, file: Path, export: Export) -> bool:
    if not has_fields(document, "categories", "items"):
        return False
    export.layout = "Datumaro"
    categories = document["categories"]
    label = categories.get("label", {}) if isinstance(categories, dict) else {}
    kinds = [str(kind.get("name", "")) for kind in objects_of(label.get("labels"))]
    split = split_in(file.stem)
    for item in objects_of(document["items"]):
        labels = []
        regions = []
        for entry in objects_of(item.get("annotations")):
            code = entry.get("label_id")
            box = entry.get("bbox")
            if not isinstance(code, int) or not 0 <= code < len(kinds):
                export.left_out["annotations without a class"] += 1
            elif entry.get("type") == "bbox" and isinstance(box, list):
                regions.append(region_of(kinds[code], box_beyond(*box[:4]), file))
            elif entry.get("type") == "label":
                labels.append(kinds[code])
            else:
                export.left_out["annotations of other kinds"] += 1
        about = item.get("image") or item.get("media") or {}
        height, width, *_ = [*list(about.get("size") or ()), None, None]
        picture = Picture(labels, regions, split=split, size=size_of(width, height))
        export.add(about.get("path") or item.get("id"), split or "", picture)
    return True


def _via(document: Any, file: Path, export: Export) -> bool:
    if not isinstance(document, dict):
        return False
    entries = objects_of(values_of(document.get("_via_img_metadata", document)))
    if not entries or not all(
        has_fields(entry, "filename", "regions") for entry in entries
    ):
        return False
    export.layout = "VIA"
    for entry in entries:
        regions = []
        # VIA 1 has an object of regions
        for region in objects_of(values_of(entry["regions"])):
            name = only_word(region.get("region_attributes"))
            box = _via_box(region.get("shape_attributes") or {})
            if box is None or not name:
                export.left_out["regions without a name or a box"] += 1
            else:
                regions.append(region_of(name, box, file))
        label = only_word(entry.get("file_attributes"))
        picture = Picture(labels=[label] if label else (), regions=regions)
        export.add(entry["filename"], file.parent, picture)
    return True


def _via_box(shape: Mapping[str, Any]) -> Sequence[Any] | None:
    if shape.get("name") == "rect":
        return box_beyond(*map(shape.get, ("x", "y", "width", "height")))
    across, down = shape.get("all_points_x"), shape.get("all_points_y")
    if isinstance(across, list) and isinstance(down, list):
        return corners_of(list(zip(across, down, strict=False)))
    return None


def _fifty_one(document: Any, file: Path, export: Export) -> bool:
    if not has_fields(document, "classes", "labels"):
        return False
    export.layout = "FiftyOne"
    classes = document["classes"] or []
    labels = document["labels"]

    def name_of(code: Any) -> str:
        is_number = isinstance(code, int) and 0 <= code < len(classes)
        return str(classes[code]) if is_number else str(code)

    for stem, told in labels.items() if isinstance(labels, dict) else ():
        if not isinstance(told, list):
            named = [name_of(told)] if told is not None else []
            export.add(stem, "data", Picture(labels=named))
            continue
        regions = []
        for entry in objects_of(told):
            box = box_beyond(*entry.get("bounding_box", ()))
            if corners := export.corners(stem, "data", box):
                name = name_of(entry.get("label"))
                regions.append(region_of(name, corners, file))
        export.add(stem, "data", Picture(regions=regions))
    return True


def _bdd(document: Any, file: Path, export: Export) -> bool:
    entries = objects_of(document)
    if not entries or not all(has_fields(entry, "name", "labels") for entry in entries):
        return False
    export.layout = "BDD"
    for entry in entries:
        regions = []
        for label in objects_of(entry["labels"]):
            box = label.get("box2d")
            if not isinstance(box, dict):
                export.left_out["labels without a box"] += 1
                continue
            corners = [box.get(name) for name in ("x1", "y1", "x2", "y2")]
            regions.append(region_of(str(label.get("category", "")), corners, file))
        export.add(entry["name"], file.parent, Picture(regions=regions))
    return True


def _create_ml(document: Any, file: Path, export: Export) -> bool:
    entries = objects_of(document)
    if not entries or not all(
        has_fields(entry, "image", "annotations") for entry in entries
    ):
        return False
    export.layout = "CreateML"
    for entry in entries:
        regions = []
        for label in objects_of(entry["annotations"]):
            box = label.get("coordinates") or {}
            x, y, width, height = (
                number_of(box.get(name)) for name in ("x", "y", "width", "height")
            )
            # it counts from the middle
            corners = box_beyond(x - width / 2, y - height / 2, width, height)
            regions.append(region_of(str(label.get("label", "")), corners, file))
        export.add(entry["image"], file.parent, Picture(regions=regions))
    return True


def _label_studio(document: Any, file: Path, export: Export) -> bool:
    tasks = objects_of(document)
    if not tasks or not all(
        has_fields(task, "annotations", "data") or "annotation_id" in task
        for task in tasks
    ):
        return False
    export.layout = "Label Studio"
    named = set[str]()
    for task in tasks:
        data = task["data"] if "annotations" in task else task
        cells = [value for value in data.values() if names_file(value)]
        results: list[tuple[dict[str, Any], dict[str, Any]]] = []
        labels: list[str] = []
        # one annotator's word, the last: several may disagree
        for annotation in objects_of(task.get("annotations"))[-1:]:
            found = objects_of(annotation.get("result"))
            results += [(result, result.get("value") or {}) for result in found]
        if "annotations" not in task:
            # the short form: a column a control, as in its CSV
            for name, cell in task.items():
                value = _cell(cell)
                results += [(region, region) for region in objects_of(value)]
                if name in STUDIO_COLUMNS or names_file(cell):
                    continue
                if isinstance(value, str) and value:
                    named.add(name)
                    labels.append(value)
        regions: list[Detection] = []
        size = None
        for result, value in results:
            labels += map(str, value.get("choices") or ())
            stated = size_of(
                result.get("original_width"), result.get("original_height")
            )
            if stated and {"x", "y", "width", "height"} <= value.keys():
                size = stated
                name = str((value.get("rectanglelabels") or [""])[0])
                regions.append(region_of(name, _studio_box(value, size), file))
            elif "choices" not in value:
                export.left_out["regions that are no boxes"] += 1
        if len(named) > 1:
            raise UserError(
                f"folder: {printable_name(file.name)}: which column is the label?",
                expected="-O data.label=COLUMN -O data.image=COLUMN",
                got=f"columns {', '.join(sorted(named))}",
            )
        export.add(cells[0] if cells else "", "", Picture(labels, regions, size=size))
    return True


def _cell(cell: Any) -> Any:
    """A cell of a table; what is written there as JSON, as what it is."""
    if isinstance(cell, str) and cell.startswith(("[", "{")):
        with suppress(UserError):
            return parse_json(cell, "a cell")
    return cell


def is_studio_table(file: Path) -> bool:
    """True if the header is that of a table which Label Studio wrote."""
    if file.suffix.lower() not in (".csv", ".tsv"):
        return False
    header = LogFile(file, "folder").first_bytes().partition(b"\n")[0]
    marks = (b"annotation_id", b"annotator", b"lead_time")
    return all(mark in header for mark in marks)


def read_studio_table(file: Path, export: Export) -> bool:
    rows = [row for _, row in LogFile(file, "folder").rows()]
    return _label_studio(rows, file, export)


def read_studio_tables(export: Export) -> bool:
    tables = filter(is_studio_table, sorted(export.root.glob("[!.]*.[ct]sv")))
    read = [read_studio_table(table, export) for table in tables]
    return any(read)


# what Label Studio writes beside the data and the label
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
    corners = box_beyond(value["x"], value["y"], value["width"], value["height"])
    return [corner * side / 100 for corner, side in zip(corners, size * 2, strict=True)]


JsonReader = Callable[[Any, Path, Export], bool]
JSON_READERS: Sequence[JsonReader] = (
    _coco,
    _datumaro,
    _via,
    _fifty_one,
    _bdd,
    _create_ml,
    _label_studio,
    _label_me,
)


def read_json_files(export: Export) -> bool:
    """The JSON files of a folder, by the reader that knows the first of them."""
    readers: Sequence[JsonReader] = JSON_READERS
    for file in files_below(export.root, "[!.]*.json"):
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
