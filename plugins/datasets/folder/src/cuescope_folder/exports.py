"""Layouts of data sets and exports of labelling tools: Pascal VOC, COCO, YOLO, CVAT, and others.

What has a known name and no reader is refused.
"""

from collections.abc import Callable, Sequence
from pathlib import Path, PurePosixPath

from cuescope_folder.annotation_documents import (
    JSON_READERS,
    is_studio_table,
    read_json_files,
    read_studio_table,
    read_studio_tables,
)
from cuescope_folder.annotation_files import (
    read_class_lists,
    read_cvat,
    read_cvat_files,
    read_kitti,
    read_open_images,
    read_voc,
    read_yolo,
)
from cuescope_folder.export import (
    Export,
    Picture,
    files_below,
    parse_xml,
    refusal,
    split_of,
)
from cuescope_folder.layout import RUN_FILES, has_classes, is_note, is_part, split_in
from cuescope_folder.spelling import Names
from cuescope_sdk.data import printable_name
from cuescope_sdk.logs import LogFile

# layouts that have no reader here, by a file or folder that shows each
REFUSED = {
    "Cityscapes": ("gtFine",),
    "KITTI's segmentation": ("*/semantic_rgb", "semantic_rgb"),
    "CamVid": ("label_colors.txt",),
    "MOT": ("gt/gt.txt", "*/gt/gt.txt"),
    "MOTS": ("instances/*", "*/instances/*"),
    "WIDER Face": ("WIDER_*", "wider_face_split"),
    "Market-1501": ("bounding_box_train",),
    "MVTec": ("ground_truth", "*/ground_truth"),
    "DOTA": ("labelTxt", "*/labelTxt"),
    "TFRecord": ("*.tfrecord", "*/*.tfrecord"),
    "Datumaro's binary form": ("annotations/*.datum",),
    "Arrow": ("*.arrow", "*/*.arrow"),
    "MNIST": ("*-idx3-ubyte*",),
    "pickled batches, as CIFAR's": ("batches.meta", "data_batch*"),
}
# what lies beside pictures where something is said of them
NOTE_SUFFIXES = (".json", ".xml", ".txt", ".csv", ".yaml", ".yml", ".mat", ".npy")


def find_export(root: Path, files: Sequence[PurePosixPath]) -> Export | None:
    """The export that a folder holds; None for class folders and loose files.

    Raises UserError for a layout that has a name and no reader here.
    """
    names = Names(root, files)
    for layout, marks in REFUSED.items():
        if any(next(root.glob(mark), None) for mark in marks):
            raise refusal(layout, str(root))
    tops = {file.parts[0] for file in files if len(file.parts) > 1}
    are_parts = all(is_part(top) or split_in(top) for top in tops)
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
        return export if read_cvat(parse_xml(file), file, export) else None
    if is_studio_table(file):
        return export if read_studio_table(file, export) else None
    if file.suffix.lower() == ".json":
        document = LogFile(file, "folder").json_document()
        if any(read(document, file, export) for read in JSON_READERS):
            return export
    return None


def _masks_beside(export: Export) -> bool:
    """images/NAME and masks/NAME: pictures with their masks, without a label."""
    export.layout = "pictures with masks"
    files = export.names.files
    tops = {file.parts[0] for file in files if len(file.parts) > 1}
    masks = list(filter(is_note, tops))
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
    are_splits = all(len(folder) == 1 and split_in(folder[0]) for folder in folders)
    if not folders or (has_classes(files) and not are_splits):
        return False
    for file in files_below(export.root, "*.*"):
        if file.suffix.lower() in NOTE_SUFFIXES and not _is_readme(file):
            tops = sorted({folder[0] for folder in folders})
            listed = ", ".join(f"'{printable_name(top)}'" for top in tops[:4])
            raise refusal(
                f"a layout of the folders {listed}, which are no classes, with "
                f"{printable_name(file.name)} beside them,",
                str(export.root),
            )
    for image in files:
        split = split_of(image.parts[:-1])
        export.pictures[export.root / image] = Picture(split=split)
    return True


def _is_readme(file: Path) -> bool:
    """True for what is written about a folder, and says nothing of its pictures."""
    return file.name in RUN_FILES or file.name.lower().startswith(("readme", "license"))


# the more particular first: Roboflow's COCO and YOLO are these with a folder a split
FOLDER_READERS: tuple[Callable[[Export], bool], ...] = (
    read_voc,
    read_json_files,
    read_studio_tables,
    read_kitti,
    read_yolo,
    read_cvat_files,
    read_open_images,
    read_class_lists,
    _masks_beside,
    _without_classes,
)
