"""Copies of media in the cache folder: which are no longer what was kept."""

from collections.abc import Iterable, Mapping
from contextlib import closing, suppress
from pathlib import Path
from typing import Self

from cuescope_sdk import CacheFile, Context, DamagedFileError, UserError
from cuescope_sdk.data import Probe, printable_name

# folders of the cache: files that came as bytes, each named by its digest
IMAGES = "images"
REMOTE = "remote"  # files that were fetched, each named by its address
NAMED = 3  # copies, in an error


class FetchedFiles(CacheFile):
    """The digests of files that were fetched into `folder`, by their paths in it."""

    def __init__(self, path: Path | None, folder: Path) -> None:
        super().__init__(path)
        self.folder = folder

    @classmethod
    def open(cls, context: Context) -> Self:
        """Those of a cache folder; where it cannot be written, of this time only."""
        folder = (context.cache / REMOTE).resolve()
        try:
            return cls(context.cache / "media" / "fetched.sqlite", folder)
        except UserError:
            return cls(None, folder)

    def get(self, paths: Iterable[Path]) -> dict[Path, str]:
        """The digests of those files that were fetched."""
        by_name = {self._name(path): path for path in paths}
        rows = self.read(by_name)
        return {by_name[name]: value.decode() for name, value in rows.items()}

    def put(self, path: Path, digest: str) -> None:
        """Keep the digest of a file."""
        self.write({self._name(path): digest.encode()})

    def _name(self, path: Path) -> str:
        # a cache folder may be moved
        if path.is_relative_to(self.folder):
            path = path.relative_to(self.folder)
        return printable_name(str(path))


def require_unchanged_copies(probes: Mapping[Path, Probe], context: Context) -> None:
    """Raise DamagedFileError where copies are not what was kept; they are deleted, to be made anew.

    `probes` are of any files: they have digests of all bytes, so that nothing is read again.
    """
    images = context.cache / IMAGES
    remote = (context.cache / REMOTE).resolve()
    kept = {path: path.stem for path in probes if path.is_relative_to(images)}
    fetched = [path for path in probes if path.is_relative_to(remote)]
    if fetched:
        with closing(FetchedFiles.open(context)) as digests:
            kept |= digests.get(fetched)
    changed = []
    for path, digest in kept.items():
        # of a file that cannot be read at all there is no digest
        if probes[path].digest not in ("", digest):
            changed.append(path.name)
            # a cache folder that cannot be written: the error is the same
            with suppress(OSError):
                path.unlink()
    if not changed:
        return
    names = changed[:NAMED]
    if len(changed) > NAMED:
        names.append("...")
    raise DamagedFileError(
        f"{len(changed)} copies in {context.cache} are not what was kept",
        expected="the files as they came",
        got=f"other content in {', '.join(names)}",
        remedy="Run the same command again: they are made anew",
    )
