"""Cues that somebody has written down."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, ClassVar

import yaml
from pydantic import Field

from cuescope_sdk import Context, Options, Plugin, UserError, digest, nearest
from cuescope_sdk.data import TextFile, load_yaml

OWNER = "cues"
Cues = dict[str, list[str]]  # by class
ClassCues = tuple[str, list[str], str]  # its name, its cues, and where they stand


class CueFileOptions(Options):
    """Options of `cues`; the part after `cues:` is `path`."""

    argument: ClassVar[str | None] = "path"

    path: Path = Field(
        description="YAML or JSON {class: [cues]}, TXT with lines `class: cue, cue`, or a folder "
        "with a class.txt of one cue a line"
    )


class CueFile(Plugin):
    """Proposes the cues of a file; names of classes are compared without case and underscores."""

    Options = CueFileOptions
    options: CueFileOptions

    def __init__(self, options: CueFileOptions, context: Context) -> None:
        super().__init__(options, context)
        self._cues = read_cues(options.path.expanduser())
        self._by_class = {plain(name): name for name in self._cues}
        self.fingerprint = digest(OWNER, 1, self._cues)
        total = sum(map(len, self._cues.values()))
        self.facts = {
            "cues": f"{total:,} for {len(self._cues):,} classes, {options.path.name}"
        }

    def propose(self, label: str) -> list[str]:
        """The cues of a class, each once; raises UserError for a class that the file has not."""
        name = self._by_class.get(plain(label))
        if name is None:
            raise UserError(
                f"cues: {self.options.path.name} has no class '{label}'",
                expected=f"it among {', '.join(list(self._cues)[:8])}",
                remedy=nearest(label, self._cues)
                or f"Write `{label}: []` if it has no cues.",
            )
        # a class is no cue of itself
        return [
            cue for cue in dict.fromkeys(self._cues[name]) if plain(cue) != plain(label)
        ]


def read_cues(path: Path) -> Cues:
    """The cues of a file or folder by class; raises UserError for faults in it."""
    by_class: Cues = {}
    plain_names: dict[str, str] = {}
    for name, cues, where in _classes(path):
        # "Fire_Truck" and "fire truck" are one class
        first = plain_names.setdefault(plain(name), name)
        if first in by_class:
            line = "" if where == path.name else f" ({where})"
            raise UserError(
                f"cues: {path.name} has class '{name}' twice",
                got=f"'{first}' and '{name}'{line}",
            )
        by_class[name] = cues
    return by_class


def _classes(path: Path) -> list[ClassCues]:
    if path.is_dir():
        files = sorted(path.glob("*.txt"))
        if not files:
            raise UserError(
                f"cues: folder {path.name}",
                expected="a .txt file a class",
                got="none",
            )
        classes = []
        for file in files:
            cues = [cue for _, cue in _lines(file)]
            classes.append((file.stem, cues, file.name))
        return classes
    if path.suffix.lower() in (".yaml", ".yml", ".json"):
        return _read_yaml(path)
    if path.suffix.lower() == ".txt":
        return _read_lines(path)
    raise UserError(
        f"cues: {path.name}",
        expected="a .yaml, .json or .txt file, or a folder of .txt files",
        got="no such file" if not path.exists() else f"'{path.suffix}'",
        remedy=nearest(path.name, sorted(file.name for file in path.parent.glob("*"))),
    )


def plain(name: str) -> str:
    return " ".join(name.replace("_", " ").casefold().split())


def _read_lines(path: Path) -> list[ClassCues]:
    classes = []
    for where, line in _lines(path):
        name, colon, listed = line.partition(":")
        if not colon or not name.strip():
            raise UserError(where, expected="class: cue, cue", got=f"'{line[:60]}'")
        # a comma at the end names nothing
        cues = filter(None, map(str.strip, listed.split(",")))
        classes.append((name.strip(), list(cues), where))
    return classes


def _read_yaml(path: Path) -> list[ClassCues]:
    try:
        # utf-8-sig: editors on Windows put a mark in front
        content = load_yaml(path.read_text(encoding="utf-8-sig"))
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(
            f"cues: cannot read {path.name}",
            expected="UTF-8 text",
            got=getattr(error, "strerror", None) or str(error),
        ) from None
    except yaml.YAMLError as error:
        # not every error of YAML has a place
        mark = getattr(error, "problem_mark", None)
        line = f" line {mark.line + 1}" if mark else ""
        raise UserError(
            f"cues: {path.name}{line} is no YAML",
            got=getattr(error, "problem", None) or str(error),
        ) from None
    if not isinstance(content, Mapping) or not content:
        raise UserError(
            f"cues: {path.name}",
            expected="a mapping {class: [cue, cue]}",
            got=type(content).__name__ if content else "nothing",
        )
    classes = []
    for name, cues in content.items():
        text = _text(path, name)
        if not isinstance(cues, list):
            title = f"cues: {path.name} class '{name}'"
            raise UserError(title, expected="a list [cue, cue]", got=repr(cues)[:60])
        words = [_text(path, cue) for cue in cues]
        classes.append((text, words, path.name))
    return classes


def _text(path: Path, value: Any) -> str:
    # YAML reads `no` as False and `12` as a number
    if not isinstance(value, str) or not value.strip():
        raise UserError(
            f"cues: {path.name}",
            expected="words",
            got=repr(value)[:60],
            remedy="Put it in quotes.",
        )
    return value.strip()


def _lines(path: Path) -> Iterator[tuple[str, str]]:
    """The lines that are no comments, each after where it stands."""
    for where, line in TextFile(path, OWNER).lines():
        if not line.startswith("#"):
            yield where, line
