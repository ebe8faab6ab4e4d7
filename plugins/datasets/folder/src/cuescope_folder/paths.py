"""What the paths in a manifest name, inside the folder and nowhere else."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from os import scandir
from pathlib import Path, PurePosixPath, PureWindowsPath

from cuescope_folder.items import is_inside, natural
from cuescope_sdk import UserError
from cuescope_sdk.data import kind_of


class Paths:
    """Files and folders of frames by the path in a row, in the resolved folder `root`."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self._stems: dict[Path, Mapping[str, Sequence[str]]] = {}

    def named(self, path: str, place: str) -> PurePosixPath:
        """The path relative to `root`: as it is written, or with the suffix that was left out.

        Absolute paths may lead into `root`. Raises UserError for a path that leaves it, and for a
        bare name that several files have.
        """
        inside = self._inside(path, place)
        file = self.root / inside
        try:
            files = () if file.exists() else self._by_stem(file.parent).get(file.name, ())
        except OSError as error:  # a name too long, a folder that may not be read
            raise UserError(
                f"folder: {place}: cannot read '{path[:60]}'", got=error.strerror
            ) from None
        if len(files) > 1:
            raise UserError(
                f"folder: {place}: several files are called '{path}'", got=", ".join(files),
                remedy="Write the name with its suffix",
            )  # fmt: skip
        return self._inside(str(inside.with_name(files[0])), place) if files else inside

    def images_in(self, folder: Path, place: str) -> tuple[Path, ...]:
        """The frames of a folder, in natural order."""
        try:
            names = [entry.name for entry in scandir(folder)]
        except OSError as error:
            raise UserError(f"folder: {place}: cannot read {folder}", got=error.strerror) from None
        images = [
            folder / name
            for name in sorted(names, key=natural)
            if not name.startswith(".") and kind_of(PurePosixPath(name)) == "image"
        ]
        for image in images:
            if image.is_symlink() and not is_inside(self.root, image):
                raise UserError(f"folder: {place}: {image} leads out of the data")
        return tuple(images)

    def _inside(self, path: str, place: str) -> PurePosixPath:
        absolute = Path(path).is_absolute()
        foreign = not absolute and PureWindowsPath(path).is_absolute()
        if foreign or not is_inside(self.root, self.root / path):
            raise UserError(
                f"folder: {place} leads out of the data", expected=f"a path inside {self.root}",
                got=f"'{path}'",
                remedy="Give the folder that holds all files, and the table with -D manifest=FILE",
            )  # fmt: skip
        return PurePosixPath(Path(path).resolve().relative_to(self.root) if absolute else path)

    def _by_stem(self, folder: Path) -> Mapping[str, Sequence[str]]:
        """Name without suffix -> the images and videos that have it."""
        if folder not in self._stems:
            found = defaultdict(list)
            for file in sorted(folder.iterdir()) if folder.is_dir() else ():
                if kind_of(file):
                    found[file.stem].append(file.name)
            self._stems[folder] = found
        return self._stems[folder]
