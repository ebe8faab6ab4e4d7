"""Your own images, videos and frame folders as a cuescope data set."""

from collections.abc import Mapping
from pathlib import Path

from cuescope_folder.answers import shorten_list
from cuescope_folder.copies import Copies
from cuescope_folder.dataset import NAMED, FileSamples, Found
from cuescope_folder.layout import class_items, empty_classes, scan, tables_in
from cuescope_folder.manifest import manifest_items
from cuescope_folder.options import FolderOptions
from cuescope_folder.places import Place, fetch_cells, find_place
from cuescope_folder.shards import shard_rows
from cuescope_folder.tables import path_cells, read_rows
from cuescope_sdk import Context, UserError
from cuescope_sdk.data import Unread

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
        try:
            # the root is resolved: a path may not leave it by a link
            place = find_place(self.options, self.context)
        except PermissionError as error:
            path = self.options.path
            raise UserError(f"folder: cannot read {path}", got=error.strerror) from None
        if place.manifest is not None or place.shards:
            return in_table(place, self.options, self.context)
        return in_folders(place.root or Path.cwd(), place.facts)


def in_table(place: Place, options: FolderOptions, context: Context) -> Found:
    """The items of a table, or of shards."""
    facts = dict(place.facts)
    copies = Copies(context)
    if place.manifest is not None:
        unread = Unread()
        name = place.manifest.name
        rows = read_rows(place.manifest, copies)
        cells = path_cells(rows, name)
        facts |= fetch_cells(cells, place, options, context, copies.files)
    else:
        name = f"{len(place.shards)} shards"
        rows, unread = shard_rows(place.shards, copies, options.class_names, context)
    read = manifest_items(rows, name, place.root, options.group, copies.files)
    read.unread.take(unread)
    # a person may name a file of choices from here
    root = place.root or Path.cwd()
    return Found(root, *read, facts)


def in_folders(root: Path, facts: Mapping[str, str]) -> Found:
    """The items of class folders."""
    passed_over = dict(facts)
    files, unread = scan(root)
    items, outside = class_items(root, files)
    if outside:
        passed_over["ignored"] = f"{outside} outside the class folders"
    # an audit without labels runs, and says little
    if all(item.label is None for item in items):
        passed_over["labels"] = LOOSE
    if empty := empty_classes(root, items):
        passed_over["empty classes"] = shorten_list(empty, NAMED)
    if tables := tables_in(root):
        passed_over["not read"] = (
            f"{shorten_list(tables, NAMED)} (-D manifest={tables[0]} reads it)"
        )
    return Found(root, items, frozenset(), unread, passed_over)


__all__ = ["Folder", "FolderOptions"]
