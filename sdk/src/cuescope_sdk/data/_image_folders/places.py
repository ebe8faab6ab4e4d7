"""Where the files of a layout are: releases of one data set differ by a folder or two."""

from pathlib import Path

from cuescope_sdk import UserError, nearest
from cuescope_sdk.data._media import kind_of


def first_place(root: Path, *places: str) -> Path | None:
    """The first of these paths under `root` that exists."""
    return next((root / place for place in places if (root / place).exists()), None)


def required_place(root: Path, title: str, *places: str) -> Path:
    """The first of these paths under `root` that exists; raises UserError where none does."""
    found = first_place(root, *places)
    if found is not None:
        return found
    if not root.is_dir():
        raise UserError(
            f"{title}: no such folder",
            expected=f"a folder with {places[0]}",
            got=f"'{root}'",
            remedy=nearest(root.name, _names(root.parent)),
        )
    missing = root / places[0]
    raise UserError(
        f"{title}: no {missing.name}",
        expected=f"{' or '.join(places)} in {root}",
        remedy=nearest(missing.name, _names(missing.parent) or _names(root)),
    )


def images_in(folder: Path) -> list[Path]:
    """The image files right in a folder, by name; hidden ones are passed over."""
    return [folder / name for name in _names(folder) if kind_of(Path(name)) == "image"]


def folders_in(folder: Path) -> list[Path]:
    """The folders right in a folder, by name; hidden ones are passed over."""
    return [folder / name for name in _names(folder) if (folder / name).is_dir()]


def _names(folder: Path) -> list[str]:
    """What is in a folder, in order; nothing where there is no such folder."""
    try:
        return sorted(entry.name for entry in folder.iterdir() if not entry.name.startswith("."))
    except OSError:
        return []
