"""Manifests: a sample a row, of a file with what is asked, answered and known of it."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import cached_property
from itertools import chain
from os import scandir
from pathlib import Path, PurePosixPath
from types import MappingProxyType
from typing import Any

from cuescope_folder.addresses import is_address, name_at
from cuescope_folder.cells import COLUMNS, Known, plain, read_cells, wrong_cell
from cuescope_folder.layout import Item, canonical_split, natural, scan
from cuescope_folder.places import RemoteCells
from cuescope_folder.samples import with_mask
from cuescope_folder.spelling import Names, as_written
from cuescope_folder.tables import known_columns
from cuescope_sdk import Detection, UserError, inside
from cuescope_sdk.data import Unread, kind_of
from cuescope_sdk.logs import Manifest, Row

# of all items that are not located: a million dictionaries would fill memory
NOT_YET: Mapping[str, Any] = MappingProxyType({})


class Paths:
    """Files and folders of frames by the path in a row, in the resolved folder `root`.

    `copies` are those that stand for something else than a path in it, such as what is `remote`;
    with no `root`, there is nothing else.
    """

    def __init__(
        self,
        root: Path | None,
        copies: dict[str, Path],
        remote: RemoteCells | None,
    ) -> None:
        self.root = root
        self.copies = copies
        self.remote = remote
        self.unread = Unread()
        self._images: dict[Path, tuple[Path, ...]] = {}
        # a million rows may ask about a thousand files
        self._found: dict[str, tuple[str, bool]] = {}
        self._plain: dict[str, frozenset[str]] = {}

    @cached_property
    def _names(self) -> Names:
        """All files below the folder, looked for where a path is not there as it is written."""
        assert self.root is not None
        return Names(self.root, scan(self.root)[0])

    def find(self, path: str, location: str) -> tuple[str, bool]:
        """The name of a file in the data set, and whether it is a folder."""
        if self.remote and path not in self.copies:
            copy = self.remote.copy_of(path, location)
            if copy is not None:
                self.copies[path] = copy
        folder, _, name = path.rpartition("/")
        is_below = path not in self.copies and not path.startswith("/")
        if is_below and name in self._plain_files(folder):
            return path, False
        if path not in self._found:
            name = self._look_for(path, location)
            self._found[path] = name, self.file(path, name).is_dir()
        return self._found[path]

    def file(self, path: str, name: str) -> Path:
        """The file of a path whose name in the data set is known."""
        if path in self.copies or self.root is None:
            return self.copies[path]
        return self.root / name

    def _plain_files(self, folder: str) -> frozenset[str]:
        """The names in a folder of files that are no links: they need no look of their own.

        To ask the disk about each of a million files would take minutes.
        """
        if folder not in self._plain:
            self._plain[folder] = frozenset(self._list_plain(folder))
        return self._plain[folder]

    def _list_plain(self, folder: str) -> Iterator[str]:
        is_plain = folder in ("", PurePosixPath(folder).as_posix()) and folder != "."
        if self.root is None or not is_plain:
            return
        with suppress(OSError, UserError):
            for entry in scandir(inside(self.root, folder)):
                if entry.is_file(follow_symlinks=False):
                    yield entry.name

    def _look_for(self, path: str, location: str) -> str:
        if path in self.copies:
            name = name_at(path) if is_address(path) else path
            return PurePosixPath(name).as_posix()
        if self.root is None:
            raise UserError(
                f"folder: {location}",
                expected="a file of its own",
                got=f"'{path}'",
            )
        return self.resolve(self.root, path, location).as_posix()

    def resolve(self, root: Path, path: str, location: str) -> PurePosixPath:
        """The path relative to `root`: as it is written, or of the same letters, or the same stem.

        Absolute paths may lead into `root`. Raises UserError for a path that leaves it, and for a
        bare name that several files have.
        """
        written = as_written(path)
        # a backslash is a letter of a name here, and a slash where the table was written
        is_upload = written != path.strip().replace("\\", "/")
        below = _inside(root, written if is_upload else path, location)
        try:
            if (root / below).exists():
                return below
        except OSError as error:  # a name too long, a folder that may not be read
            raise UserError(
                f"folder: {location}: cannot read '{path[:60]}'", got=error.strerror
            ) from None
        below = _inside(root, written, location)
        files = self._names.like(below)
        if is_upload and not files:
            # a labelling tool has paths of its own
            file = self._names.find(written)
            files = [] if file is None else [PurePosixPath(file.relative_to(root))]
        if len(files) > 1:
            raise UserError(
                f"folder: {location}: several files are called '{path}'",
                got=", ".join(file.name for file in files),
                remedy="Write the name with its suffix",
            )
        return files[0] if files else below

    def images_in(self, folder: Path, location: str) -> tuple[Path, ...]:
        """The frames of a folder, in natural order."""
        if folder not in self._images:
            self._images[folder] = tuple(self._list_images(folder, location))
        return self._images[folder]

    def _list_images(self, folder: Path, location: str) -> Iterator[Path]:
        try:
            names = [entry.name for entry in scandir(folder)]
        except OSError as error:
            raise UserError(
                f"folder: {location}: cannot read {folder}", got=error.strerror
            ) from None
        # natural: frame10 comes after frame2
        for name in sorted(names, key=natural):
            path = folder / name
            kind = kind_of(PurePosixPath(name))
            # The folder lies inside; a link in it may still lead out.
            if kind == "image" and path.is_symlink() and self.root is not None:
                inside(self.root, path, f"folder: {location}: {path}")
            if name.startswith("."):
                self.unread.add("hidden")
            elif path.is_dir():
                self.unread.add("folders", "among frames")
            elif kind in ("video", "animation"):
                self.unread.add(path.suffix.lower(), "among frames")
            elif not self.unread.passes_over(path):
                yield path


class ManifestItems:
    """An item a row of a manifest; files and all else are looked for once they are drawn.

    The group of an item stands in the column `group`, or else in that of this name. `path` is in
    the resolved folder `root`, and may not leave it, or `copies` have it; without a `root` they
    have all. The label is `label`, `answer` where there is no `label`, or the first of `answers`;
    None where the row has timed `actions` instead. Raises UserError naming the line for a missing
    cell, a path that leaves `root`, and a cell that is not what its column holds.
    """

    def __init__(
        self,
        manifest: Manifest,
        name: str,
        root: Path | None,
        group: str | None = None,
        copies: dict[str, Path] | None = None,
        remote: RemoteCells | None = None,
    ) -> None:
        self.paths = Paths(root, {} if copies is None else copies, remote)
        self.columns = sorted(manifest.columns)
        self._manifest = manifest
        self._known = known_columns(self.columns, name)
        self._group = group
        uses: Counter[str] = Counter()
        self.items = [
            self._item(number, row, uses) for number, row in enumerate(manifest)
        ]

    @property
    def source(self) -> tuple[str, list[str | None]] | None:
        """The column that shows what rows were taken from, and what each was taken from."""
        return self._manifest.source(self._known)

    def locate(self, items: Sequence[Item]) -> tuple[list[Item], Mapping[str, str]]:
        """The items with their files, and all else that their rows say; facts about the files."""
        rows = self._manifest.take(item.number for item in items)
        located = [self._located(item, rows[item.number]) for item in items]
        if self.paths.remote is None:
            return located, {}
        files = [with_mask(item, item.files) for item in located]
        return located, self.paths.remote.fetch(chain.from_iterable(files))

    def _cells(self, row: Row) -> dict[str, Any]:
        """The cells by the names that are known here; the group's is `group`."""
        known = self._known
        cells = {known.get(name, name): cell for name, cell in row.cells.items()}
        group = cells.pop("group", None)
        # the column that a person named goes before one that is called so
        if self._group is not None and known.get(self._group) != "group":
            group = cells.get(known.get(self._group, self._group))
        if group is not None and str(group).strip():
            cells["group"] = group
        return cells

    def _item(self, number: int, row: Row, uses: Counter[str]) -> Item:
        known = read_cells(self._cells(row), row.location)
        name, is_folder = self.paths.find(known.path, row.location)
        # Several rows may ask about one file; the first keeps its path as the key.
        uses[name] += 1
        use = uses[name]
        return Item(
            key=name if use == 1 else f"{name}#{use}",
            files=(),
            folder=is_folder,
            label=known.right,
            choices=known.choices or (),
            # one name for a split, as it is in folders
            split=canonical_split(known.split) if known.split else None,
            group=known.group,
            question=known.question,
            annotations=NOT_YET,
            location=row.location,
            path=name,
            number=number,
        )

    def _located(self, item: Item, row: Row) -> Item:
        location = row.location
        cells = self._cells(row)
        cells.pop("group", None)
        known = read_cells(cells, location)
        file = self.paths.file(known.path, item.path)
        # a folder of frames has no clock
        if known.actions and (item.folder or kind_of(file) == "image"):
            raise wrong_cell("actions", cells, location)
        mask = None
        if known.mask:
            name, _ = self.paths.find(known.mask, location)
            mask = self.paths.file(known.mask, name)
        return replace(
            item,
            files=self.paths.images_in(file, location) if item.folder else (file,),
            mask=mask,
            actions=tuple(known.actions or ()),
            annotations=_annotations(item, cells, known),
        )


def _annotations(item: Item, cells: Mapping[str, Any], known: Known) -> dict[str, Any]:
    annotations = {
        name: plain(cell) for name, cell in cells.items() if name not in COLUMNS
    }
    annotations["path"] = item.path
    if known.cues is not None:
        # Parquet fills a cue of other rows with a null
        annotations["cues"] = {
            cue: tuple(shown) for cue, shown in known.cues.items() if shown is not None
        }
    if known.boxes is not None:
        annotations["boxes"] = tuple(
            # annotated, so certain
            Detection(name=name, score=1.0, box=(x0, y0, x1, y1))
            for name, x0, y0, x1, y1 in known.boxes
        )
    if known.label and known.answer:
        # the label wins, the answer is kept
        annotations["answer"] = plain(cells["answer"])
    if known.answers is not None:
        annotations["answers"] = known.answers
    return annotations


def _inside(root: Path, path: str, location: str) -> PurePosixPath:
    """The path relative to `root`; raises UserError where it leads out."""
    remedy = (
        "Give the folder that holds all files, and the table with -O data.manifest=FILE"
    )
    end = inside(root, path, f"folder: {location}", remedy)
    absolute = Path(path).is_absolute()
    # a relative path stays as it is written: a key follows no links
    return PurePosixPath(end.relative_to(root) if absolute else path)
