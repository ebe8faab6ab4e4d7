"""Folders that `cuescope mitigate` wrote: what a mitigator learned, and whether it still is that.

`mitigation.json` is the stamp. It is sealed, and has the digest of every other file.
"""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from cuescope_core.atomic_files import read_whole, write_atomically
from cuescope_core.checksummed_files import (
    LARGEST_WORDS,
    DamagedFileError,
    read_sealed,
    seal_of,
    write_sealed,
)
from cuescope_core.errors import UserError
from cuescope_core.trust.paths import inside

STAMP = "mitigation.json"
MOST_BYTES = 2**30  # of a file
WANTED = "a folder as `cuescope mitigate` wrote it"
REMEDY = "Run `cuescope mitigate` again"


class MitigationStamp(BaseModel):
    """Who learned, from which model (`model` is its fingerprint), and what.

    `learned` has the values that are no arrays; `files` the digest of each file by its name.
    """

    # strict: a folder of a stranger may hold values of other types (SECURITY.md)
    model_config = ConfigDict(strict=True, frozen=True, populate_by_name=True)

    mitigator: str
    # `class` is a word of Python's own
    kind: str = Field(alias="class")
    learned: dict[str, Any]
    files: dict[str, str]
    model: str | None = None
    spec: str = "the model"


def write_mitigated(
    folder: Path,
    stamp: Mapping[str, object],
    files: Mapping[str, bytes],
) -> None:
    """Write the files and then the stamp, which gets their digests: with it the folder is whole."""
    for name, content in files.items():
        write_atomically(folder / name, content)
    digests = {name: seal_of(name, content) for name, content in files.items()}
    text = json.dumps({**stamp, "files": digests}, indent=1)
    write_sealed(folder / STAMP, text.encode())


def read_stamp(folder: Path) -> MitigationStamp:
    """The stamp; raises UserError where there is none, or not as it was written."""
    try:
        content = read_sealed(folder / STAMP, remedy=REMEDY, most=LARGEST_WORDS)
        return MitigationStamp.model_validate_json(content)
    except FileNotFoundError as error:
        raise _wrong(folder, f"no {STAMP}") from error
    except ValidationError as error:
        first = error.errors()[0]
        place = " ".join(map(str, first["loc"]))
        raise _wrong(folder, f"{STAMP} {place}: {first['msg']}") from error


def read_files(folder: Path, stamp: MitigationStamp) -> dict[str, bytes]:
    """The files that a stamp names; raises UserError for one that is not as it was written."""
    contents: dict[str, bytes] = {}
    for name, digest in stamp.files.items():
        # a folder from elsewhere may name its own files, and nothing more
        if Path(name).name != name:
            raise _wrong(folder, f"'{name}', a file outside of it")
        file = inside(folder, name, f"mitigated={folder}: {name}", REMEDY)
        try:
            contents[name] = read_whole(file, most=MOST_BYTES)
        except OSError as error:
            raise _wrong(folder, f"no {name} that can be read") from error
        # names are part of it: two files that changed places are found
        if seal_of(name, contents[name]) != digest:
            raise DamagedFileError(
                f"mitigated={folder}: {name} is not what was written",
                expected="the file as `cuescope mitigate` wrote it",
                got="other content",
                remedy=REMEDY,
            )
    return contents


def mitigator_of(folder: Path) -> str:
    """The name of the mitigator that wrote a folder; raises UserError where none did."""
    return read_stamp(folder).mitigator


def _wrong(folder: Path, got: str) -> UserError:
    return UserError(f"mitigated={folder}", expected=WANTED, got=got, remedy=REMEDY)
