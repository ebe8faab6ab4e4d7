"""Cues that somebody has written down."""

from pathlib import Path
from typing import Annotated

import yaml
from pydantic import Field, Strict, StringConstraints, TypeAdapter, ValidationError

from cuescope_sdk import Context, Options, Plugin, UserError, digest, nearest
from cuescope_sdk.data import load_yaml

OWNER = "cues"
# YAML reads `no` as False and `12` as a number
Words = Annotated[str, Strict(), StringConstraints(strip_whitespace=True, min_length=1)]
Cues = dict[str, list[str]]  # by class


class CueFileOptions(Options):
    """Options of `cues`; the part after `cues:` is `path`."""

    argument = "path"

    path: Path = Field(description="YAML or JSON {class: [cues]}")


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
    """The cues of a file by class; raises UserError for faults in it."""
    by_class: Cues = {}
    plain_names: dict[str, str] = {}
    for name, cues in _read_yaml(path).items():
        # "Fire_Truck" and "fire truck" are one class
        first = plain_names.setdefault(plain(name), name)
        if first in by_class:
            raise UserError(
                f"cues: {path.name} has class '{name}' twice",
                got=f"'{first}' and '{name}'",
            )
        by_class[name] = cues
    return by_class


def plain(name: str) -> str:
    return " ".join(name.replace("_", " ").casefold().split())


def _read_yaml(path: Path) -> Cues:
    expected = "a mapping {class: [cue, cue]} in UTF-8, words that YAML knows in quotes"
    shape: TypeAdapter[Cues] = TypeAdapter(
        Annotated[dict[Words, list[Words]], Field(min_length=1)]
    )
    try:
        # utf-8-sig: editors on Windows put a mark in front
        return shape.validate_python(load_yaml(path.read_text(encoding="utf-8-sig")))
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(map(str, first["loc"])) or "all of it"
        got = f"{where}: {first['msg']}"
    except yaml.YAMLError as error:
        got = f"no YAML: {' '.join(str(error).split())}"
    except (OSError, UnicodeDecodeError) as error:
        got = getattr(error, "strerror", None) or str(error)
    raise UserError(f"cues: {path.name}", expected=expected, got=got)
