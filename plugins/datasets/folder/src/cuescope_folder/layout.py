"""What a folder holds, before any file is opened: where it is, its splits, its class folders.

PATH/CLASS/file, PATH/CLASS/CLIP/frame and PATH/SPLIT/CLASS/... have their labels from folder names.
Files that lie loose in PATH, and no folders with any, are samples without labels.
"""

import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePosixPath
from typing import Any, Literal

from cuescope_sdk import UserError, inside, nearest
from cuescope_sdk.data import PictureShape, Unread, kind_of, printable_name
from cuescope_sdk.report import count_of

MANIFEST_SUFFIXES = (".csv", ".tsv", ".jsonl", ".parquet")
MANIFESTS = tuple(map("manifest{}".format, MANIFEST_SUFFIXES))  # where none is named
_ALIASES = {
    "training": "train",
    "validation": "val",
    "valid": "val",
    "dev": "val",
    "testing": "test",
}
LINKS = (
    "Where the files are links into a store (a cache of the hub, DVC, git-annex, datalad), name "
    "that: -O data.links=FOLDER"
)
# of a run, whose pictures are no data
RUN_FILES = frozenset({"report.json", "report.html"})
# "1_mask", "benign (1)_mask_2": a picture's stem and a word
_NOTE = re.compile(r"(.+)[\W_]([A-Za-z]+)[\W_]?\d*")
SPLITS = frozenset({"train", "val", "test", *_ALIASES})


# folders of what is said of pictures, masks among it
NOTES = frozenset(
    (
        *("labels", "annotations", "annotation", "imagesets", "meta", "metadata"),
        *("masks", "mask", "segmentationclass", "segmentationobject", "segmentation"),
        "groundtruth",
    )
)
# names of folders that hold a part of a layout: none of them is a class
PARTS = NOTES | {
    *("images", "image", "imgs", "img", "jpegimages", "photos", "pictures", "frames"),
    *("blobs", "snapshots", "refs", "data", "dataset"),
}


@dataclass(frozen=True, slots=True)
class Item:
    """One sample to be: a file, or with `folder` the frames of a folder in natural order.

    `key` is the path inside the data set, `mask` an image of the foreground, which is turned as
    `turns` says; `actions` are (name, start, end) in seconds; `choices` are its own, if it has any;
    `group` is its source, where a column names it; `location` says where the item was named
    ("manifest.csv line 4"); `path` is that of its file inside the data set, where several items may
    be about one. Of an item that is not located yet, the row of this `number` says the rest.
    """

    key: str
    files: tuple[Path, ...]
    label: str | None
    choices: tuple[str, ...] = ()
    mask: Path | None = None
    turns: PictureShape | None = None
    folder: bool = False
    split: str | None = None
    group: str | None = None
    question: str | None = None
    actions: tuple[tuple[str, float, float], ...] = ()
    annotations: Mapping[str, Any] = field(default_factory=dict)
    location: str = ""
    path: str = ""
    number: int = 0


def locate(path: Path, manifest: Path | None) -> tuple[Path, Path | None]:
    """The folder, and the manifest that describes it (given, being `path` itself, or found)."""
    root = path.expanduser()
    if not root.exists():
        raise UserError(
            "folder: no such path",
            expected="a folder or a manifest",
            got=f"'{path}'",
            remedy=_nearest_file(root),
        )
    if root.is_file():
        if manifest is None and root.suffix.lower() in MANIFEST_SUFFIXES:
            return root.parent.resolve(), root
        raise UserError(
            "folder: PATH is a file",
            expected=f"a folder or a manifest ({', '.join(MANIFEST_SUFFIXES)})",
            got=f"'{path}'",
        )
    if manifest is not None:
        # A manifest is named from where the command is run, or from within the folder.
        in_folder = root / manifest.expanduser()
        for candidate in (manifest.expanduser(), in_folder):
            if candidate.is_file():
                return root.resolve(), candidate
        raise UserError(
            "folder: no such manifest",
            expected="a CSV, TSV, JSONL or Parquet file",
            got=f"'{manifest}'",
            remedy=_nearest_file(in_folder),
        )
    manifests = [name for name in MANIFESTS if (root / name).is_file()]
    if len(manifests) > 1:
        raise UserError(
            f"folder: {root} has several manifests",
            got=", ".join(manifests),
            remedy=f"Choose one with -O data.manifest={manifests[0]}",
        )
    return root.resolve(), root / manifests[0] if manifests else None


def scan(root: Path, stores: Sequence[Path] = ()) -> tuple[list[PurePosixPath], Unread]:
    """Every image and video under the resolved folder `root`, relative to it, in natural order.

    Beside them, what is passed over: other files, hidden ones, and folders of runs. A link to a
    folder inside `root` is not followed, since what it names is read in its own place. Links to
    files may lead into one of the `stores`. Raises UserError for a link that leads elsewhere out of
    `root`, and for a folder that cannot be read.
    """
    unread = Unread()
    files = [
        PurePosixPath(name) for _, name in sorted(_walk(root, "", (), unread, stores))
    ]
    return files, unread


def hub_snapshot(path: Path) -> tuple[Path, Path | None]:
    """The folder to read, and the store of its links, where a path is in a cache of the hub.

    Raises UserError for a cache with several snapshots.
    """
    root = path.resolve()
    if (root / "snapshots").is_dir() and (root / "blobs").is_dir():
        found = sorted(
            entry for entry in (root / "snapshots").iterdir() if entry.is_dir()
        )
        if len(found) != 1:
            raise UserError(
                f"folder: {path} is a cache of the hub",
                expected="one snapshot in it",
                got=", ".join(entry.name for entry in found[:8]) or "none",
                remedy=f"Give the one that is meant: folder:{path}/snapshots/NAME",
            )
        root = found[0]
    for parent in root.parents:
        if parent.name == "snapshots" and (parent.parent / "blobs").is_dir():
            return root, parent.parent / "blobs"
    return path, None


Nested = Literal["auto", "clips", "photos"]


def class_items(
    root: Path,
    files: Sequence[PurePosixPath],
    nested: Nested = "clips",
) -> tuple[list[Item], int]:
    """The items of class folders, and how many files lie outside any class.

    Below CLASS, each video is an item, each image directly in CLASS is one, and the images of
    each deeper folder are together one clip. The label is the folder's name with spaces for
    underscores. With `nested` "photos" the images of a deeper folder are an item each, and the
    folder is their group. Where all files lie loose, each is an item without a label. Raises
    UserError where
    there is no file, or where a table beside loose files may describe them.
    """
    depth = leading(files)  # of the class's folder
    members: dict[PurePosixPath, list[PurePosixPath]] = {}
    outside = 0
    for file in files:
        below = len(file.parts) - depth
        if below < 2:
            outside += 1
        elif below > 2 and kind_of(file) == "image" and nested != "photos":
            members.setdefault(file.parent, []).append(file)
        else:
            members[file] = []
    if members:
        items = [_item(root, key, frames, depth) for key, frames in members.items()]
        if nested == "photos" and any(len(key.parts) > depth + 2 for key in members):
            items = [
                replace(item, group=printable_name(str(key.parent)))
                for item, key in zip(items, members, strict=True)
            ]
        return items, outside
    tables = tables_in(root)
    if not files or tables:
        got = f"{count_of(len(files), 'files')} (images or videos) outside any class folder"
        remedy = None
        if tables:
            remedy = (
                f"Does {tables[0]} list them? Then add -O data.manifest={tables[0]}"
            )
        raise UserError(
            f"folder: no classes in {root}",
            expected="PATH/CLASS/file, PATH/{train,val,test}/CLASS/file or PATH/manifest.csv",
            got=got if files else "no images or videos",
            remedy=remedy,
        )
    loose = [Item(printable_name(str(file)), (root / file,), None) for file in files]
    return loose, 0


def empty_classes(root: Path, items: Sequence[Item]) -> list[str]:
    """Folders beside the class folders without an image or video in them, hidden ones aside."""
    paths = [PurePosixPath(item.files[0].relative_to(root)) for item in items]
    depth = leading(paths)
    classes = {path.parts[: depth + 1] for path in paths}
    used = {root.joinpath(*parts) for parts in classes}
    beside: set[Path] = set()
    for parent in {folder.parent for folder in used}:
        beside |= set(parent.glob("[!._]*/"))
    return sorted(str(folder.relative_to(root)) for folder in beside - used)


def tables_in(root: Path) -> list[str]:
    """Files at the top that could be a manifest, by another name than that."""
    return sorted(
        printable_name(file.name)
        for file in root.iterdir()
        if file.suffix.lower() in MANIFEST_SUFFIXES and file.name[0] != "."
    )


def leading(files: Sequence[PurePosixPath]) -> int:
    """How many folders above the classes are splits or parts of a layout: "train/images/CLASS".

    So is a lone folder, as archives have it, unless those below it are only numbered.
    """
    deep = [file for file in files if len(file.parts) > 1]
    depth = 0
    # the last folder of a file is its class, whatever it is called
    while any(len(file.parts) > depth + 2 for file in deep):
        names = _folders_at(deep, depth)
        is_above = all(is_split(name) or is_part(name) for name in names)
        if not is_above and not _is_around_others(deep, depth):
            break
        depth += 1
    return depth


def _folders_at(files: Sequence[PurePosixPath], depth: int) -> set[str]:
    return {file.parts[depth] for file in files if len(file.parts) > depth + 1}


def _is_around_others(files: Sequence[PurePosixPath], depth: int) -> bool:
    """True if a folder is a lone one, in which there are several that are not only numbered."""
    names = _folders_at(files, depth)
    is_lone = len(names) == 1
    while len(names) == 1:
        depth += 1
        names = _folders_at(files, depth)
    # a split has classes in it: "fold_1/CLASS/1.png", but not "val-001/1.png"
    have_classes = any(len(file.parts) > depth + 2 for file in files)
    are_splits = have_classes and all(map(is_split, names))
    are_clips = _are_numbered(names) and not are_splits
    return is_lone and len(names) > 1 and not are_clips


def crossed_folders(files: Sequence[PurePosixPath]) -> tuple[list[str], list[str]]:
    """The class folders, and those in each of them, where all have the same and may be classes."""
    depth = leading(files)
    below: dict[str, set[str]] = {}
    for file in files:
        if len(file.parts) > depth + 2:
            below.setdefault(file.parts[depth], set()).add(file.parts[depth + 1])
    upper, inner = sorted(below), list(below.values())
    is_crossed = (
        len(upper) > 1 and len(inner[0]) > 1 and inner.count(inner[0]) == len(inner)
    )
    if not is_crossed or _are_numbered(inner[0]):
        return [], []
    return upper, sorted(inner[0])


def _are_numbered(names: Iterable[str]) -> bool:
    """True if names differ by their digits alone, as those of clips do."""
    return len({re.sub(r"\d+", "", name) for name in names}) == 1


def without_notes(
    files: Sequence[PurePosixPath],
) -> tuple[list[PurePosixPath], list[PurePosixPath]]:
    """The files, and those that are notes on a picture beside them: "1_mask.png" with "1.jpg"."""
    stems = {file.with_suffix("") for file in files}
    kept: list[PurePosixPath] = []
    notes: list[PurePosixPath] = []
    for file in files:
        match = _NOTE.fullmatch(file.stem)
        is_one = match and is_note(match[2]) and file.with_name(match[1]) in stems
        (notes if is_one else kept).append(file)
    return kept, notes


def is_split(name: str) -> bool:
    """True if a name is that of a split, or has it for a word: "train_images", "fold_1"."""
    return split_in(name) is not None


def split_in(name: str) -> str | None:
    """The split that a name is, or has for a word: "train", "instances_val2017", "fold_1"."""
    words = re.split(r"[\W\d_]+", name.lower())
    for word in words:
        if word in SPLITS:
            return canonical_split(word)
    return name if "fold" in words else None


def is_part(name: str) -> bool:
    """True if a folder's name is that of a part of a layout, as "image_2" and "JPEGImages" are."""
    return _letters(name) in PARTS


def is_note(name: str) -> bool:
    """True if a folder's name is that of notes on pictures, or of their masks."""
    return _letters(name) in NOTES


def _letters(name: str) -> str:
    return re.sub(r"[^a-z]", "", name.lower())


def has_classes(files: Sequence[PurePosixPath]) -> bool:
    """True unless all that would be classes are splits and parts of a layout."""
    depth = leading(files)
    classes = {file.parts[depth] for file in files if len(file.parts) > depth + 1}
    return not classes or not all(is_split(name) or is_part(name) for name in classes)


def frame_folders(
    files: Sequence[PurePosixPath],
) -> dict[PurePosixPath, list[PurePosixPath]]:
    """The folders below class folders that hold images, which may be frames of a clip or photos."""
    depth = leading(files)
    folders: dict[PurePosixPath, list[PurePosixPath]] = {}
    for file in files:
        if len(file.parts) - depth > 2 and kind_of(file) == "image":
            folders.setdefault(file.parent, []).append(file)
    return folders


def _item(
    root: Path,
    key: PurePosixPath,
    frames: Sequence[PurePosixPath],
    depth: int,
) -> Item:
    splits = filter(None, map(split_in, key.parts[:depth]))
    return Item(
        key=printable_name(str(key)),
        files=tuple(root / file for file in frames or (key,)),
        folder=bool(frames),
        label=printable_name(key.parts[depth].replace("_", " ").strip()),
        split=next(splits, None),
    )


_Key = tuple[tuple[tuple[tuple[int, str], ...], str], ...]


def _walk(
    root: Path,
    below: str,
    order: _Key,
    unread: Unread,
    stores: Sequence[Path],
) -> Iterator[tuple[_Key, str]]:
    """The sort key and the name, relative to `root`, of each file below the folder `below`."""
    folder = root / below
    try:
        # scandir: asking for each kind of entry would look at the disk again
        entries = list(os.scandir(folder))
    except OSError as error:
        raise UserError(f"folder: cannot read {folder}", got=error.strerror) from None
    if below and {entry.name for entry in entries} >= RUN_FILES:
        unread.add("folders of runs")
        return
    for entry in entries:
        is_folder = entry.is_dir()
        # macOS puts a shadow of every file into its archives; none of them is a picture.
        if entry.name.startswith(".") or entry.name == "__MACOSX":
            unread.add("hidden folders" if is_folder else "hidden")
            continue
        file = PurePosixPath(entry.name)
        readable = not is_folder and kind_of(file) is not None
        if entry.is_symlink():
            in_store = any(Path(entry.path).resolve().is_relative_to(s) for s in stores)
            if is_folder or (readable and not in_store):
                inside(root, entry.path, f"folder: {entry.path}", LINKS)
            if is_folder:
                continue
        key = (*order, natural(entry.name))
        name = f"{below}{entry.name}"
        if is_folder:
            yield from _walk(root, f"{name}/", key, unread, stores)
        elif readable and not (entry.is_file() or entry.is_symlink()):
            unread.add("pipes and devices")
        elif not below and file.suffix.lower() in MANIFEST_SUFFIXES:
            continue  # tables at the top have a sentence of their own
        elif (readable and file.suffix) or not unread.passes_over(Path(entry.path)):
            yield key, name


def canonical_split(name: str) -> str:
    """ "validation", "valid" and "dev" are "val", and so on; other names stay."""
    lower = name.lower()
    return _ALIASES.get(lower, lower if lower in SPLITS else name)


def natural(text: str) -> tuple[tuple[tuple[int, str], ...], str]:
    """Sort key that counts: "frame2" comes before "frame10"."""
    numbered: list[tuple[int, str]] = []
    for part in re.split(r"(\d+)", text.lower()):  # text and numbers take turns
        is_number = len(numbered) % 2 == 1
        numbered.append((int(part), "") if is_number else (0, part))
    return tuple(numbered), text


def _nearest_file(missing: Path) -> str | None:
    """A hint at what is there instead, for an error: the nearest name, or what there is at all."""
    path = missing.absolute()
    while not path.parent.is_dir():
        path = path.parent  # the first part of the path that is not there
    try:
        entries = sorted(entry.name for entry in path.parent.iterdir())
    except OSError:
        return None
    names = [printable_name(name) for name in entries if name[0] != "."]
    listed = ", ".join(names[:8]) or "no files"
    return nearest(path.name, names) or f"In {path.parent} there are {listed}"
