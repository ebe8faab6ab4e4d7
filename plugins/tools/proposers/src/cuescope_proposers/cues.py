"""Cues that somebody has written down."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

import yaml
from pydantic import Field

from cuescope_sdk import Context, Options, Plugin, UserError, digest, nearest
from cuescope_sdk.data import read_lines

OWNER = "cues"
Cues = dict[str, list[str]]  # by class


class CueFileOptions(Options):
    """Options of `cues`; the part after `cues:` is `path`."""

    argument: ClassVar[str | None] = "path"

    path: Path = Field(
        description="YAML or JSON {class: [cues]}, TXT with lines `class: cue, cue`, or a folder "
        "with a class.txt of one cue a line"
    )


class CueFile(Plugin):
    """Proposes the cues of a file; names of classes are compared without case and underscores."""

    Options: ClassVar[type[Options]] = CueFileOptions
    options: CueFileOptions

    def __init__(self, options: CueFileOptions, context: Context) -> None:
        super().__init__(options, context)
        self._cues = read_cues(options.path.expanduser())
        self._by_class = {plain(name): name for name in self._cues}
        self.fingerprint = digest(OWNER, 1, self._cues)
        total = sum(map(len, self._cues.values()))
        self.facts = {"cues": f"{total:,} for {len(self._cues):,} classes, {options.path.name}"}

    def propose(self, label: str) -> list[str]:
        """The cues of a class, each once; raises UserError for a class that the file has not."""
        name = self._by_class.get(plain(label))
        if name is None:
            raise UserError(
                f"cues: {self.options.path.name} has no class '{label}'",
                expected=f"it among {', '.join(list(self._cues)[:8])}",
                remedy=nearest(label, self._cues) or f"Write `{label}: []` if it has no cues.",
            )
        return [cue for cue in dict.fromkeys(self._cues[name]) if plain(cue) != plain(label)]


def read_cues(path: Path) -> Cues:
    """The cues of a file or folder by class; raises UserError for another form."""
    if path.is_dir():
        return _of_folder(path)
    if path.suffix.lower() in (".yaml", ".yml", ".json"):
        return _of_yaml(path)
    if path.suffix.lower() == ".txt":
        return _of_lines(path)
    raise UserError(
        f"cues: {path.name}", expected="a .yaml, .json or .txt file, or a folder of .txt files",
        got="no such file" if not path.exists() else f"'{path.suffix}'",
        remedy=nearest(path.name, _beside(path)),
    )  # fmt: skip


def plain(name: str) -> str:
    """A class name as it is compared."""
    return " ".join(name.replace("_", " ").casefold().split())


def _of_folder(folder: Path) -> Cues:
    files = sorted(folder.glob("*.txt"))
    if not files:
        raise UserError(f"cues: folder {folder.name}", expected="a .txt file a class", got="none")
    return _distinct(
        folder, [(file.stem, [cue for _, cue in _lines(file)], file.name) for file in files]
    )


def _of_lines(path: Path) -> Cues:
    found = []
    for place, line in _lines(path):
        name, colon, cues = line.partition(":")
        if not colon or not name.strip():
            raise UserError(place, expected="class: cue, cue", got=f"'{line[:60]}'")
        found.append((name.strip(), [cue for part in cues.split(",") if (cue := part.strip())],
                      place))  # fmt: skip
    return _distinct(path, found)


def _of_yaml(path: Path) -> Cues:
    try:
        said = yaml.safe_load(path.read_text(encoding="utf-8-sig"))
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(f"cues: cannot read {path.name}", expected="UTF-8 text",
                        got=getattr(error, "strerror", None) or str(error)) from None  # fmt: skip
    except (yaml.YAMLError, RecursionError) as error:
        place = getattr(error, "problem_mark", None)
        line = f" line {place.line + 1}" if place else ""
        raise UserError(
            f"cues: {path.name}{line} is no YAML", got=getattr(error, "problem", None)
        ) from None
    if not isinstance(said, Mapping) or not said:
        raise UserError(f"cues: {path.name}", expected="a mapping {class: [cue, cue]}",
                        got=type(said).__name__ if said else "nothing")  # fmt: skip
    return _distinct(
        path, [(_text(path, name), _texts(path, name, cues), path.name)
               for name, cues in said.items()],
    )  # fmt: skip


def _texts(path: Path, name: Any, cues: Any) -> list[str]:
    if not isinstance(cues, list):
        raise UserError(f"cues: {path.name} class '{name}'", expected="a list [cue, cue]",
                        got=repr(cues)[:60])  # fmt: skip
    return [_text(path, cue) for cue in cues]


def _text(path: Path, said: Any) -> str:
    if not isinstance(said, str) or not said.strip():
        raise UserError(f"cues: {path.name}", expected="words", got=repr(said)[:60],
                        remedy="Put it in quotes.")  # fmt: skip
    return said.strip()


def _lines(path: Path) -> Iterator[tuple[str, str]]:
    """The lines that say something, behind their places."""
    return ((place, line) for place, line in read_lines(path, OWNER) if not line.startswith("#"))


def _distinct(path: Path, found: Sequence[tuple[str, list[str], str]]) -> Cues:
    """By class; raises UserError where a class is there twice."""
    classes: dict[str, str] = {}
    for name, _, place in found:
        if plain(name) in classes:
            raise UserError(
                f"cues: {path.name} has class '{name}' twice",
                got=f"'{classes[plain(name)]}' and '{name}'" + f" ({place})" * (place != path.name),
            )
        classes[plain(name)] = name
    return {name: cues for name, cues, _ in found}


def _beside(path: Path) -> list[str]:
    return sorted(file.name for file in path.parent.iterdir()) if path.parent.is_dir() else []
