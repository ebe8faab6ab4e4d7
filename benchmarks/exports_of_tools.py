"""Exports that labelling tools write themselves, read by `folder:`.

    python benchmarks/exports_of_tools.py write TOOL FOLDER    where TOOL is installed
    python benchmarks/exports_of_tools.py read FOLDER          where cuescope is installed

TOOL is datumaro, fiftyone, label-studio-converter or supervision. Each writes six photos of a
cat or a dog, four to train and two to val, in every form that it has for boxes, classes or masks
of photos. An export is read right where all photos are there, each with its class and, where the
form has them, its box and mask; it is refused by name, or it is silently wrong.
"""

import contextlib
import io
import json
import re
import shutil
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

COUNT = 6
SIZE = (64, 48)
NAMES = ("cat", "dog")


def name_of(number: int) -> str:
    return f"shot_{number:02}.png"


def label_of(number: int) -> int:
    return number % 2


def box_of(number: int) -> tuple[int, int, int, int]:
    """The left, top, right and bottom of the box of a photo, in pixels."""
    return 4 + number, 6, 34 + number, 30


def split_of(number: int) -> str:
    return "train" if number < 4 else "val"


def mask_of(number: int) -> np.ndarray:
    left, top, right, bottom = box_of(number)
    mask = np.zeros(SIZE[::-1], bool)
    mask[top:bottom, left:right] = True
    return mask


def draw_photos(folder: Path) -> list[Path]:
    folder.mkdir(parents=True, exist_ok=True)
    files = []
    for number in range(COUNT):
        rng = np.random.default_rng(number)
        pixels = rng.integers(0, 255, (SIZE[1], SIZE[0], 3), dtype=np.uint8)
        file = folder / name_of(number)
        Image.fromarray(pixels).save(file)
        files.append(file)
    return files


# ------------------------------------------------------------------------------------------ writers


DATUMARO = {
    "boxes": """voc voc_detection coco coco_instances yolo yolo_ultralytics cvat label_me datumaro
        datumaro_binary kitti_detection open_images mot_seq_gt wider_face dota vgg_face2 arrow
        segment_anything mvtec_detection""",
    "classes": """voc_classification imagenet imagenet_txt imagenet_with_subset_dirs cifar
        coco_labels market1501 lfw""",
    "masks": """voc_segmentation coco_panoptic coco_stuff camvid cityscapes kitti_segmentation
        mots_png mvtec_segmentation""",
    "photos": "image_dir coco_image_info",
}


def write_datumaro(folder: Path, photos: list[Path]) -> None:
    import datumaro as dm

    for kind, formats in DATUMARO.items():
        items = []
        for number, photo in enumerate(photos):
            left, top, right, bottom = box_of(number)
            annotations: list[Any] = []
            if kind == "boxes":
                box = (left, top, right - left, bottom - top)
                annotations = [dm.Bbox(*box, label=label_of(number), id=1, group=1)]
            if kind == "classes":
                annotations = [dm.Label(label_of(number))]
            if kind == "masks":
                mask = mask_of(number)
                annotations = [dm.Mask(mask, label=label_of(number), id=1, group=1)]
            items.append(
                dm.DatasetItem(
                    photo.stem,
                    subset=split_of(number),
                    media=dm.Image.from_file(str(photo)),
                    annotations=annotations,
                )
            )
        data = dm.Dataset.from_iterable(items, categories=list(NAMES))
        for form in formats.split():
            with attempt(folder, form, kind) as target:
                data.export(str(target), form, save_media=True)


def write_fiftyone(folder: Path, photos: list[Path]) -> None:
    import fiftyone as fo
    from fiftyone.utils import bdd, coco, cvat, data, kitti, voc, yolo

    def detections(number: int) -> Any:
        left, top, right, bottom = box_of(number)
        width, height = SIZE
        box = [left / width, top / height]
        box += [(right - left) / width, (bottom - top) / height]
        name = NAMES[label_of(number)]
        found = fo.Detection(label=name, bounding_box=box)
        return fo.Detections(detections=[found])

    def classification(number: int) -> Any:
        return fo.Classification(label=NAMES[label_of(number)])

    def segmentation(number: int) -> Any:
        return fo.Segmentation(mask=mask_of(number).astype(np.uint8) * 255)

    def nothing(number: int) -> None:
        return None

    def split_by(make: Callable[[str, str], Any]) -> list[tuple[Any, str]]:
        return [(make(split, split), split) for split in ("train", "val")]

    classes = list(NAMES)
    forms: dict[str, tuple[str, Callable[[int], Any], Callable[[Path], Any]]] = {
        "VOCDetection": (
            "boxes",
            detections,
            lambda p: voc.VOCDetectionDatasetExporter(export_dir=p),
        ),
        "COCODetection": (
            "boxes",
            detections,
            lambda p: coco.COCODetectionDatasetExporter(export_dir=p, classes=classes),
        ),
        "YOLOv4": (
            "boxes",
            detections,
            lambda p: yolo.YOLOv4DatasetExporter(export_dir=p, classes=classes),
        ),
        "YOLOv5": (
            "boxes",
            detections,
            lambda p: yolo.YOLOv5DatasetExporter(export_dir=p, classes=classes),
        ),
        "CVATImage": (
            "boxes",
            detections,
            lambda p: cvat.CVATImageDatasetExporter(export_dir=p),
        ),
        "KITTIDetection": (
            "boxes",
            detections,
            lambda p: kitti.KITTIDetectionDatasetExporter(export_dir=p),
        ),
        "BDD": ("boxes", detections, lambda p: bdd.BDDDatasetExporter(export_dir=p)),
        "FiftyOneImageDetection": (
            "boxes",
            detections,
            lambda p: data.FiftyOneImageDetectionDatasetExporter(
                export_dir=p, classes=classes
            ),
        ),
        "FiftyOneImageClassification": (
            "classes",
            classification,
            lambda p: data.FiftyOneImageClassificationDatasetExporter(
                export_dir=p, classes=classes
            ),
        ),
        "ImageClassificationDirectoryTree": (
            "classes",
            classification,
            lambda p: data.ImageClassificationDirectoryTreeExporter(export_dir=p),
        ),
        "ImageSegmentationDirectory": (
            "masks",
            segmentation,
            lambda p: data.ImageSegmentationDirectoryExporter(export_dir=p),
        ),
        "ImageDirectory": (
            "photos",
            nothing,
            lambda p: data.ImageDirectoryExporter(export_dir=p),
        ),
    }
    for form, (kind, label, make) in forms.items():
        with attempt(folder, form, kind) as target:
            exporter = make(str(target))
            with exporter:
                for number, photo in enumerate(photos):
                    about = fo.ImageMetadata.build_for(str(photo))
                    if kind == "photos":
                        exporter.export_sample(str(photo), metadata=about)
                    else:
                        exporter.export_sample(
                            str(photo), label(number), metadata=about
                        )


STUDIO = {
    "boxes": (
        '<View><Image name="image" value="$image"/><RectangleLabels name="label" toName="image">'
        '<Label value="cat"/><Label value="dog"/></RectangleLabels></View>',
        "JSON JSON_MIN CSV TSV COCO VOC YOLO",
    ),
    "classes": (
        '<View><Image name="image" value="$image"/><Choices name="label" toName="image">'
        '<Choice value="cat"/><Choice value="dog"/></Choices></View>',
        "JSON JSON_MIN CSV TSV",
    ),
}


def write_studio(folder: Path, photos: list[Path]) -> None:
    from label_studio_converter import Converter

    for kind, (config, formats) in STUDIO.items():
        uploads = folder / "uploads"
        tasks = []
        for number, photo in enumerate(photos):
            left, top, right, bottom = box_of(number)
            width, height = SIZE
            name = NAMES[label_of(number)]
            result: dict[str, Any] = {
                "from_name": "label",
                "to_name": "image",
                "id": "r",
            }
            result |= {"original_width": width, "original_height": height}
            if kind == "boxes":
                value: dict[str, Any] = {
                    "x": 100 * left / width,
                    "y": 100 * top / height,
                    "width": 100 * (right - left) / width,
                    "height": 100 * (bottom - top) / height,
                    "rotation": 0,
                    "rectanglelabels": [name],
                }
                result |= {"type": "rectanglelabels", "value": value}
            else:
                result |= {"type": "choices", "value": {"choices": [name]}}
            upload = uploads / "upload" / "3" / f"4f2a{number:04}-{photo.name}"
            upload.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(photo, upload)
            annotation = {"id": number, "completed_by": 1, "result": [result]}
            annotation |= {"lead_time": 2.5, "was_cancelled": False}
            tasks.append(
                {
                    "id": number,
                    "data": {"image": f"/data/upload/3/{upload.name}"},
                    "annotations": [annotation],
                    "predictions": [],
                }
            )
        source = folder / f"{kind}.json"
        source.write_text(json.dumps(tasks))
        for form in formats.split():
            with attempt(folder, f"{form}-{kind}", kind) as target:
                converter = Converter(
                    config, str(folder), upload_dir=str(uploads / "upload")
                )
                converter.convert(str(source), str(target), form, is_dir=False)
                if form in ("JSON", "JSON_MIN", "CSV", "TSV"):
                    # a table alone: people put the media beside it
                    media = target / "media" if target.is_dir() else None
                    if media is None:
                        table = target.rename(target.with_suffix(".part"))
                        target.mkdir()
                        table.rename(target / f"project.{form.lower()}")
                        media = target / "media"
                    shutil.copytree(uploads / "upload" / "3", media)
        shutil.rmtree(uploads)
        source.unlink()


def write_supervision(folder: Path, photos: list[Path]) -> None:
    import supervision as sv

    images, boxes, classes = [], {}, {}
    for number, photo in enumerate(photos):
        images.append(str(photo))
        boxes[str(photo)] = sv.Detections(
            xyxy=np.array([box_of(number)], float),
            class_id=np.array([label_of(number)]),
        )
        classes[str(photo)] = sv.Classifications(class_id=np.array([label_of(number)]))
    data = sv.DetectionDataset(list(NAMES), images, boxes)
    with attempt(folder, "coco", "boxes") as target:
        data.as_coco(str(target / "images"), str(target / "annotations.json"))
    with attempt(folder, "yolo", "boxes") as target:
        data.as_yolo(
            str(target / "images"), str(target / "labels"), str(target / "data.yaml")
        )
    with attempt(folder, "pascal_voc", "boxes") as target:
        data.as_pascal_voc(str(target / "images"), str(target / "annotations"))
    with attempt(folder, "labelme", "boxes") as target:
        data.as_labelme(str(target / "images"), str(target / "annotations"))
    with attempt(folder, "createml", "boxes") as target:
        data.as_createml(str(target / "images"), str(target / "annotations.json"))
    with attempt(folder, "folder_structure", "classes") as target:
        sv.ClassificationDataset(list(NAMES), images, classes).as_folder_structure(
            str(target)
        )


WRITERS: dict[str, Callable[[Path, list[Path]], None]] = {
    "datumaro": write_datumaro,
    "fiftyone": write_fiftyone,
    "label-studio-converter": write_studio,
    "supervision": write_supervision,
}


@contextlib.contextmanager
def attempt(folder: Path, form: str, kind: str) -> Iterator[Path]:
    """The folder of one export; one that its tool cannot write is said and leaves nothing."""
    target = folder / form
    shutil.rmtree(target, ignore_errors=True)
    try:
        yield target
    except Exception as error:
        shutil.rmtree(target, ignore_errors=True)
        words = " ".join(f"{type(error).__name__}: {error}".split())[:100]
        sys.stderr.write(f"{form} cannot be written: {words}\n")
        return
    if not target.is_dir() or any(file.is_file() for file in target.rglob("*")):
        (folder / f"{form}.kind").write_text(kind)


# ------------------------------------------------------------------------------------------ reading


def judge(export: Path, kind: str) -> tuple[str, str]:
    """ "right", "refused" or "WRONG", and why."""
    from cuescope_sdk import Context, UserError

    try:
        with contextlib.redirect_stderr(io.StringIO()):
            data = Context().build("dataset", f"folder:{export}", {})
    except UserError as error:
        return "refused", str(error).splitlines()[0]
    faults: Counter[str] = Counter()
    seen = set()
    for sample in data:
        found = re.search(r"shot_(\d\d)", sample.key)
        if found is None:
            faults["pictures that are none of the photos"] += 1
            continue
        number = int(found[1])
        seen.add(number)
        has_class = kind in ("boxes", "classes")
        if has_class and sample.label != NAMES[label_of(number)]:
            faults[f"label {sample.label}"] += 1
        if not has_class and sample.label not in (None, NAMES[label_of(number)]):
            faults[f"label {sample.label}"] += 1
        if kind == "boxes":
            boxes = [box.box for box in sample.annotations.get("boxes", ())]
            # some count corners from 1, some the last pixel of a box
            if (
                len(boxes) != 1
                or np.abs(np.subtract(boxes[0], box_of(number))).max() > 1
            ):
                faults[f"box {boxes}"] += 1
        if kind == "masks":
            mask = sample.annotations.get("foreground")
            shown = None if mask is None else np.asarray(mask.load()).any(axis=2)
            if shown is None or (shown != mask_of(number)).mean() > 0.01:
                faults["mask"] += 1
    if len(seen) < COUNT or len(data) != COUNT:
        faults[f"{len(data)} samples of {len(seen)} photos"] += 1
    words = data.facts.get("layout", "class folders")
    said = data.facts.get("not shown of it") or data.facts.get("left out")
    if faults and said and faults.keys() <= {"mask", "box []"}:
        return "in part", said
    if faults:
        return "WRONG", "; ".join(f"{n} x {what}" for what, n in faults.most_common(3))
    return "right", words


def main() -> None:
    """Write the exports of a tool, or print how each that was written is read."""
    what, *words = sys.argv[1:]
    if what == "write":
        tool, root = words[0], Path(words[1])
        folder = root / tool
        WRITERS[tool](folder, draw_photos(root / "photos"))
        return
    total: Counter[str] = Counter()
    for note in sorted(Path(words[0]).glob("*/*.kind")):
        verdict, why = judge(note.with_suffix(""), note.read_text())
        total[verdict] += 1
        sys.stdout.write(
            f"| {note.parent.name} | {note.stem} | {note.read_text()} | {verdict} | {why} |\n"
        )
    sys.stdout.write(f"{dict(total)}\n")


if __name__ == "__main__":
    main()
