"""PATH/CLASS/file, PATH/CLASS/CLIP/frame and PATH/SPLIT/CLASS/...: labels from folder names.

Files that lie loose in PATH, and no folders with any, are samples without labels.
"""

import os
from collections.abc import Iterator, Sequence
from pathlib import Path, PurePosixPath

from cuescope_folder.items import (
    SPLITS,
    SUFFIXES_OF_MANIFESTS,
    Item,
    canonical_split,
    is_inside,
    natural,
)
from cuescope_sdk import UserError
from cuescope_sdk.data import kind_of, printable_name


def scan(root: Path) -> list[PurePosixPath]:
    """Every image and video under the resolved folder `root`, relative to it, in natural order.

    Hidden files are passed over. A link to a folder inside `root` is not followed, since what it
    names is read in its own place. Raises UserError for a link that leads out of `root`, and for
    a folder that cannot be read.
    """
    files = [PurePosixPath(path.relative_to(root).as_posix()) for path in _walk(root, root)]
    return sorted(files, key=lambda file: tuple(natural(part) for part in file.parts))


def class_items(root: Path, files: Sequence[PurePosixPath]) -> tuple[list[Item], int]:
    """The items of class folders, and how many files lie outside any class.

    Below CLASS, each video is an item, each image directly in CLASS is one, and the images of
    each deeper folder are together one clip. The label is the folder's name with spaces for
    underscores. Where all files lie loose, each is an item without a label. Raises UserError where
    there is no file, or where a table beside loose files may describe them.
    """
    depth = 1 if has_splits(files) else 0
    members: dict[PurePosixPath, list[PurePosixPath]] = {}
    outside = 0
    for file in files:
        below = len(file.parts) - depth
        if below < 2:
            outside += 1
        elif below > 2 and kind_of(file) == "image":
            members.setdefault(file.parent, []).append(file)
        else:
            members[file] = []
    if not members:
        if not files or tables(root):
            raise _no_classes(root, files)
        return [Item(printable_name(str(file)), (root / file,), None) for file in files], 0
    return [_item(root, key, frames, depth) for key, frames in members.items()], outside


def empty_classes(root: Path, items: Sequence[Item]) -> list[str]:
    """Folders beside the class folders without an image or video in them, hidden ones aside."""
    used = set()
    for item in items:
        parts = item.files[0].relative_to(root).parts
        used.add(root.joinpath(*parts[: 2 if item.split else 1]))
    beside = {folder for place in {folder.parent for folder in used} for folder in place.iterdir()}
    idle = [folder for folder in beside - used if folder.is_dir() and folder.name[0] not in "._"]
    return sorted(str(folder.relative_to(root)) for folder in idle)


def tables(root: Path) -> list[str]:
    """Files at the top that could be a manifest, by another name than that."""
    return sorted(
        printable_name(file.name) for file in root.iterdir()
        if file.suffix.lower() in SUFFIXES_OF_MANIFESTS and file.name[0] != "."
    )  # fmt: skip


def has_splits(files: Sequence[PurePosixPath]) -> bool:
    """Whether every folder at the top is a split (train, val, test ...) with classes inside."""
    deep = [file for file in files if len(file.parts) > 1]
    return (
        bool(deep)
        and all(file.parts[0].lower() in SPLITS for file in deep)
        and any(len(file.parts) > 2 for file in deep)
    )


def _item(root: Path, key: PurePosixPath, frames: Sequence[PurePosixPath], depth: int) -> Item:
    split = canonical_split(key.parts[0]) if depth else None
    return Item(
        key=printable_name(str(key)),
        files=tuple(root / file for file in frames or (key,)),
        folder=bool(frames),
        label=printable_name(key.parts[depth].replace("_", " ").strip()),
        split=split,
    )


def _walk(root: Path, folder: Path) -> Iterator[Path]:
    try:
        entries = sorted(os.scandir(folder), key=lambda entry: entry.name)
    except OSError as error:
        raise UserError(f"folder: cannot read {folder}", got=error.strerror) from None
    for entry in entries:
        path = Path(entry.path)
        if entry.name.startswith(".") or entry.name == "__MACOSX":
            continue
        if entry.is_symlink():
            if (kind_of(path) or entry.is_dir()) and not is_inside(root, path):
                raise UserError(
                    f"folder: {path} leads out of the data", expected=f"files inside {root}",
                    got=f"a link to {path.readlink()}",
                    remedy="Copy what it names, or give the folder that holds both",
                )  # fmt: skip
            if entry.is_dir():
                continue
        if entry.is_dir():
            yield from _walk(root, path)
        elif kind_of(path) and (entry.is_file() or entry.is_symlink()):
            yield path


def _no_classes(root: Path, files: Sequence[PurePosixPath]) -> UserError:
    return UserError(
        f"folder: no classes in {root}",
        expected="PATH/CLASS/file, PATH/{train,val,test}/CLASS/file or PATH/manifest.csv",
        got=f"{len(files)} images and videos outside any class folder" if files
        else "no images or videos",
        remedy=f"Does {found[0]} list them? Then add -D manifest={found[0]}"
        if (found := tables(root))
        else None,
    )  # fmt: skip
