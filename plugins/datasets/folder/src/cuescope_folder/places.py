"""Where the data lies: a folder, a table or tar shards, on this machine or at an address."""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import product
from pathlib import Path

from cuescope_folder.addresses import (
    address_below,
    cell_address,
    fetch_all,
    is_address,
    list_address,
    name_at,
)
from cuescope_folder.annotation_documents import is_studio_table
from cuescope_folder.export import Export
from cuescope_folder.exports import read_export
from cuescope_folder.layout import MANIFEST_SUFFIXES, MANIFESTS, locate, scan
from cuescope_folder.options import FolderOptions
from cuescope_folder.roots import Roots, looks_like_address
from cuescope_folder.spelling import Names
from cuescope_sdk import Context, UserError, inside
from cuescope_sdk.report import count_of

EXPORTS = (".json", ".xml")  # files of labelling tools
SHARD_SUFFIXES = (".tar", ".tar.gz", ".tgz")
_BRACES = re.compile(r"\{([^{}]*)\}")
_RANGE = re.compile(r"(\d+)\.\.(\d+)")


@dataclass(frozen=True)
class Place:
    """What there is to read, on this machine: a table or shards, or else the files of `root`.

    `base` is the address that the table's own paths continue, "" where they are of this machine.
    `root` is None where there is no folder that rows could name files of.
    """

    root: Path | None
    manifest: Path | None = None
    base: str = ""
    shards: tuple[str, ...] = ()
    export: Export | None = None
    roots: Roots = field(default_factory=Roots)
    facts: Mapping[str, str] = field(default_factory=dict)


def find_place(options: FolderOptions, context: Context) -> Place:
    """Find the data, and fetch what must be here first; raises UserError where there is none."""
    given = str(options.path)
    addresses = filter(is_address, (given, str(options.manifest or "")))
    # what lies at the host or bucket of the data, and below `roots`
    roots = Roots.of(*addresses).with_typed(options.roots)
    return replace(_find_place(given, options, context, roots), roots=roots)


def _find_place(
    given: str, options: FolderOptions, context: Context, roots: Roots
) -> Place:
    # before addresses, for shards may lie at one
    if given.endswith(SHARD_SUFFIXES):
        return Place(None, shards=tuple(_expand(given)))
    if is_address(given):
        return _remote(given, options, context, roots)
    if options.manifest is not None and is_address(str(options.manifest)):
        # the folder's own manifest is passed over: another was named
        root, _ = locate(Path(given), None)
        return replace(
            _of_table(str(options.manifest), context, roots), root=root, base=""
        )
    path = Path(given).expanduser()
    if options.manifest is None and path.is_dir() and (shards := _shards_alone(path)):
        return Place(None, shards=shards)
    table = None if options.manifest is None else Path(options.manifest)
    written = path if table is None else table.expanduser()
    # whoever names columns means a table
    has_columns = options.label is not None or options.image is not None
    may_be_export = written.suffix.lower() in EXPORTS or is_studio_table(written)
    if may_be_export and written.is_file() and not has_columns:
        root = (path if path.is_dir() else path.parent).resolve()
        files, _ = scan(root)
        export = read_export(written, Names(root, files))
        if export is not None:
            return Place(root, export=export)
    root, manifest = locate(path, table)
    if table is None and manifest is not None and path.is_dir():
        # nobody typed its name
        inside(root, manifest.absolute(), f"folder: {manifest.name}")
    return Place(root, manifest)


def _remote(
    given: str, options: FolderOptions, context: Context, roots: Roots
) -> Place:
    """A table at an address, one in a folder there, its shards, or all of its files."""
    if given.lower().endswith(MANIFEST_SUFFIXES):
        return _of_table(given, context, roots)
    if options.manifest is not None:
        table = address_below(given, str(options.manifest))
        return replace(_of_table(table, context, roots), base=given)
    names = list_address(given, roots)
    shards = []
    for name in names:
        if name in MANIFESTS:
            return _of_table(address_below(given, name), context, roots)
        if "/" not in name and name.endswith(SHARD_SUFFIXES):
            shards.append(address_below(given, name))
    if shards:
        return Place(None, shards=tuple(shards))
    root = copy_of(given, context)
    files = {address_below(given, name): root / name for name in names}
    wanted = set(files.values())
    for path in root.rglob("*"):  # what is no longer there
        if path.is_file() and path not in wanted:
            path.unlink()
    fetch_all(files, context, roots)
    return Place(root, facts=_kept_copies(len(files)))


def _of_table(address: str, context: Context, roots: Roots) -> Place:
    """A table at an address, whose own paths continue the folder that it is in."""
    table = copy_of(address, context)
    # never a table of yesterday, where the address has none any more
    table.unlink(missing_ok=True)
    fetch_all({address: table}, context, roots)
    if not table.exists():
        raise UserError(f"folder: there is nothing at {address}")
    return Place(table.parent.resolve(), table, address.rpartition("/")[0])


def copy_of(address: str, context: Context) -> Path:
    """Where the copy of a file or folder at an address is kept."""
    scheme = address.partition(":")[0].lower()
    # resolved: no path of a table may leave it by a link
    return (context.cache / "remote" / scheme / name_at(address)).resolve()


class RemoteCells:
    """The files at addresses that cells of a table name; they are fetched once they are drawn."""

    def __init__(self, place: Place, context: Context) -> None:
        self._place = place
        self._context = context
        self._addresses: dict[Path, str] = {}

    def copy_of(self, cell: str, location: str) -> Path | None:
        """Where the copy of what a cell names is kept; None for what is on this machine.

        Raises UserError for an address that a cell may not name.
        """
        base = self._place.base
        if not base and not looks_like_address(cell):
            return None
        where = f"folder: {location}: 'path'"
        address = cell_address(base, cell, self._place.roots, where)
        copy = copy_of(address, self._context)
        self._addresses[copy] = address
        return copy

    def fetch(self, files: Iterable[Path]) -> dict[str, str]:
        """Fetch those of the files that are copies and not here yet; a fact about the copies."""
        wanted = {
            self._addresses[file]: file for file in files if file in self._addresses
        }
        fetch_all(wanted, self._context, self._place.roots)
        return _kept_copies(len(wanted)) if wanted else {}


def _kept_copies(count: int) -> dict[str, str]:
    return {
        "copies": f"{count_of(count, 'files')} fetched and kept; without the folder 'remote' of "
        "the cache they are fetched anew"
    }


def _shards_alone(folder: Path) -> tuple[str, ...]:
    """The shards of a folder that has nothing else to show."""
    shards = []
    only_notes_beside = True
    for entry in sorted(folder.glob("[!.]*")):
        if entry.name.endswith(SHARD_SUFFIXES):
            # a link may lead anywhere
            inside(folder, entry.absolute(), f"folder: {entry}")
            shards.append(str(entry))
        # notes may lie beside shards; an image there makes it a folder of files
        elif entry.suffix not in (".txt", ".json", ".md") or not entry.is_file():
            only_notes_beside = False
    return tuple(shards) if only_notes_beside else ()


def _expand(pattern: str) -> Iterator[str]:
    """Shards of `train-{000..003}.tar` or `{a,b}.tar`; raises UserError for too many or none."""
    pieces = _BRACES.split(pattern)  # text and the inside of braces take turns
    options = [[piece] for piece in pieces]
    options[1::2] = map(_alternatives, pieces[1::2])
    return map("".join, product(*options))


def _alternatives(inner: str) -> list[str]:
    span = _RANGE.fullmatch(inner)
    if span is None:
        return inner.split(",")
    first, last = span.groups()
    numbers = range(int(first), int(last) + 1)
    if not numbers:
        raise UserError(
            "folder: shards",
            expected="{000..009}, upwards",
            got=f"{{{inner}}}",
        )
    # "000..009": zeros in front are part of a file's name
    return [str(number).zfill(len(first)) for number in numbers]
