"""What a repository of the Hugging Face hub may name: its own files, and nothing else.

Its README names data files, and its rows name images; the library opens whatever they say.
"""

from collections.abc import Mapping
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

from cuescope_folder.addresses import open_address
from cuescope_folder.roots import Roots, is_plain_name, looks_like_address
from cuescope_sdk import UserError, inside
from cuescope_sdk.data import require_inside

# The library's readers of plain rows. Others follow links within a file (HDF5), run a query, or
# have not been looked at.
KINDS = (
    "parquet",
    "arrow",
    "csv",
    "json",
    "text",
    "imagefolder",
    "videofolder",
    "webdataset",
)
WEB_AND_BUCKETS = ("https", "http", "s3", "gs")  # what `roots` may let rows name


class Repository:
    """A repository at one revision, or in the folder `root` of this machine."""

    def __init__(
        self,
        name: str,
        root: Path | None,
        revision: str,
        roots: Roots,
    ) -> None:
        self.name = name
        self.root = None if root is None else root.resolve()
        self.roots = roots
        self._revision = revision
        self._prefix = f"hf://datasets/{name}@{revision}/"

    def require_own_links(self) -> None:
        """Raise UserError for a link that leads out of a local repository."""
        if self.root is None:
            return
        folders = [self.root]
        # the hub's own cache keeps contents beside them
        if self.root.parent.name == "snapshots":
            folders.append(self.root.parent.parent / "blobs")
        links = (path for path in self.root.rglob("*") if path.is_symlink())
        require_inside(folders, links, "hf")

    def require_known_kind(self, builder: Any) -> None:
        """Raise UserError for files of another place, or that no reader of plain rows opens."""
        kind = type(builder).__module__.rpartition(".")[2]
        if kind not in KINDS:
            raise UserError(
                f"hf: {self.name} has files of the kind '{kind}'",
                expected=", ".join(KINDS),
            )
        # its card may name any
        for files in (builder.config.data_files or {}).values():
            for file in files:
                self._own(str(file), f"hf: {self.name}")

    def content(self, cell: Mapping[str, Any], where: str) -> bytes:
        """The bytes of a cell that holds an image or video, or that names one.

        Raises UserError, which begins with `where`, for a name of what is not the repository's,
        nor below an address that was typed.
        """
        content: bytes | None = cell["bytes"]
        if content is None:
            with self._open_rows(str(cell.get("path") or ""), where) as file:
                content = file.read()
        return bytes(content or b"")

    def _open_rows(self, path: str, where: str) -> AbstractContextManager[Any]:
        import fsspec

        # only these: by other addresses fsspec opens files of this machine
        if path.partition("://")[0] in WEB_AND_BUCKETS:
            self.roots.require(path, where, expected="a file of the repository")
            return open_address(path, self.roots, "hf")
        opened: AbstractContextManager[Any] = fsspec.open(self._own(path, where), "rb")
        return opened

    def _own(self, path: str, where: str) -> str:
        """The path of a file of the repository, in an archive of it too."""
        member, chained, archive = path.partition("::")
        if chained:
            # the archive may itself lie in an archive
            name = member.removeprefix("zip://")
            if name == member or not is_plain_name(name):
                raise self._not_own(path, where)
            return f"zip://{name}::{self._own(archive, where)}"
        if self.root is None:
            below = path.removeprefix(self._prefix)
            if not is_plain_name(below):
                raise self._not_own(path, where)
            return f"{self._prefix}{below}"
        if looks_like_address(path) or not path:
            raise self._not_own(path, where)
        return str(inside(self.root, path, where))

    def _not_own(self, path: str, where: str) -> UserError:
        return UserError(
            f"{where} names what is not in the repository",
            expected=f"a file of {self.name}",
            got=f"'{path:.80}'",
            remedy="-O data.roots=https://HOST lets rows name files of a host",
        )
