"""Your own images, videos and frame folders as a cuescope data set."""

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path, PurePosixPath

from cuescope_folder.answers import shorten_list
from cuescope_folder.copies import Copies
from cuescope_folder.dataset import FileSamples, Found
from cuescope_folder.export import Export
from cuescope_folder.exports import NOTE_SUFFIXES, find_export
from cuescope_folder.layout import (
    Nested,
    class_items,
    crossed_folders,
    empty_classes,
    frame_folders,
    hub_snapshot,
    scan,
    tables_in,
    without_notes,
)
from cuescope_folder.manifest import ManifestItems
from cuescope_folder.options import FolderOptions
from cuescope_folder.places import Place, RemoteCells, find_place
from cuescope_folder.shards import shard_rows
from cuescope_folder.tables import read_manifest, with_named_columns
from cuescope_sdk import Context, UserError
from cuescope_sdk.data import Unread, are_frames
from cuescope_sdk.logs import Manifest
from cuescope_sdk.report import count_of

LOOSE = (
    "none, as all files lie loose in PATH: sort them into a folder for each class, or write "
    "PATH/manifest.csv, a line 'path,label' or 'path,question,answer' and then a line for each file"
)


class Folder(FileSamples):
    """Class folders, tar shards or a manifest, on this machine or at an address.

    The group of a sample is as in `FileSamples`: by the option `group` or the manifest's column.
    """

    Options = FolderOptions
    options: FolderOptions

    def find(self) -> Found:
        """What there is, before any image is opened; raises UserError where it cannot be read."""
        path = self.options.path
        try:
            return self._find()
        except PermissionError as error:
            raise UserError(f"folder: cannot read {path}", got=error.strerror) from None
        except RecursionError:
            raise UserError(f"folder: {path} is nested too deeply") from None

    def _find(self) -> Found:
        # the root is resolved: a path may not leave it by a link
        place = find_place(self.options, self.context)
        if place.export is not None:
            return in_export(place.export, Unread(), {})
        if place.manifest is not None or place.shards:
            return in_table(place, self.options, self.context)
        return in_folders(place.root or Path.cwd(), self.options, place.facts)


def in_table(place: Place, options: FolderOptions, context: Context) -> Found:
    """The items of a table, or of shards."""
    facts = dict(place.facts)
    copies = Copies(context)
    unread = Unread()
    if place.manifest is not None:
        name = place.manifest.name
        given = {
            "path": options.image,
            "label": options.label,
            options.group: options.group,
        }
        manifest = with_named_columns(
            read_manifest(place.manifest, copies), name, given
        )
    else:
        name = f"{len(place.shards)} shards"
        rows, unread = shard_rows(place.shards, copies, place.roots, context)
        manifest = Manifest.of_rows(rows)
    remote = RemoteCells(place, context)
    read = ManifestItems(
        manifest, name, place.root, options.group, copies.files, remote
    )
    read.paths.unread.take(unread)
    # a person may name a file of choices from here
    root = place.root or Path.cwd()
    return Found(root, read.items, read.paths.unread, facts, rows=read)


def in_export(
    export: Export,
    unread: Unread,
    facts: Mapping[str, str],
) -> Found:
    """The items of what a labelling tool wrote."""
    items = export.items()
    if not items:
        raise UserError(
            f"folder: {export.layout} in {export.root} shows no picture",
            expected="pictures beside what is said of them",
            got=export.reasons() or "none",
        )
    unread.forget(NOTE_SUFFIXES)
    passed_over = {**facts, **export.facts()}
    if all(item.label is None for item in items):
        passed_over["labels"] = "none that is the one of a picture"
    labels = tuple(sorted({item.label for item in items if item.label is not None}))
    return Found(export.root, items, unread, passed_over, labels)


def in_folders(root: Path, options: FolderOptions, facts: Mapping[str, str]) -> Found:
    """The items of a layout that is known, or of class folders."""
    passed_over = dict(facts)
    root, store = hub_snapshot(root)
    stores = [options.links.expanduser().resolve()] if options.links else []
    if store is not None:
        stores.append(store)
        passed_over["links"] = (
            f"lead into {store.name}, the store of a cache of the hub"
        )
    files, unread = scan(root, stores)
    export = find_export(root, files)
    if export is not None:
        return in_export(export, unread, passed_over)
    files, notes = without_notes(files)
    if notes:
        files_beside = count_of(len(notes), "files")
        passed_over["notes"] = (
            f"{files_beside} beside the pictures that they are of ({notes[0]})"
        )
    nested, words = clips_or_photos(root, files, options.nested)
    if words:
        passed_over["folders in class folders"] = words
    items, outside = class_items(root, files, nested)
    if outside:
        passed_over["ignored"] = f"{outside} outside the class folders"
    # an audit without labels runs, and says little
    if all(item.label is None for item in items):
        passed_over["labels"] = LOOSE
    spellings = Counter(str(label).casefold() for label in {i.label for i in items})
    if alike := [label for label, count in spellings.items() if count > 1]:
        passed_over["classes that differ in case alone"] = shorten_list(alike)
    if empty := empty_classes(root, items):
        passed_over["empty classes"] = shorten_list(empty)
    if tables := tables_in(root):
        passed_over["not read"] = (
            f"{shorten_list(tables)} (-O data.manifest={tables[0]} reads it)"
        )
    return Found(root, items, unread, passed_over)


def clips_or_photos(
    root: Path,
    files: Sequence[PurePosixPath],
    nested: Nested,
) -> tuple[Nested, str]:
    """What folders of images in class folders are, as said or as they look, and that in words."""
    folders = frame_folders(files)
    if not folders:
        return nested, ""
    if nested == "auto":
        upper, inner = crossed_folders(files)
        if upper:
            raise UserError(
                f"folder: {root} has two levels of folders that may be the classes",
                expected=f"{shorten_list(inner, 3)} in one folder",
                got=f"them in each of {shorten_list(upper, 3)}",
                remedy=f"Give one of these (folder:{root / upper[0]}), or say that they are the "
                "classes: -O data.nested=photos, or clips",
            )
        paths = [[root / file for file in members] for members in folders.values()]
        nested = "photos" if are_frames(paths) is False else "clips"
    count = count_of(sum(map(len, folders.values())), "images")
    if nested == "photos":
        return nested, (
            f"{count} in {len(folders):,} folders are photos, and each folder is their group "
            "(-O data.nested=clips takes each folder as a clip)"
        )
    return nested, (
        f"{count} in {len(folders):,} folders are frames of as many clips (-O "
        "data.nested=photos takes "
        "each image as a sample)"
    )


__all__ = ["Folder", "FolderOptions"]
