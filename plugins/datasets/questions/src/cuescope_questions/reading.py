"""Where the questions are: CSV, TSV, JSON, JSONL or Parquet files, alone or in a folder."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from cuescope_sdk import UserError
from cuescope_sdk.data import require_inside

Row = dict[str, Any]
SUFFIXES = (".csv", ".tsv", ".json", ".jsonl", ".parquet")


def find_files(path: Path, patterns: Sequence[str], title: str) -> list[Path]:
    """The file itself, or the files of a folder that a pattern finds, up to two folders below.

    Raises UserError where there is none.
    """
    if path.is_file():
        if path.suffix.lower() not in SUFFIXES:
            raise UserError(
                f"{title}: {path.name}",
                expected=f"a file {', '.join(SUFFIXES)}",
                got=f"'{path.suffix}'",
            )
        return [path]
    if not path.is_dir():
        raise UserError(
            f"{title}: no such file or folder",
            expected="the question file, or its folder",
            got=f"'{path}'",
        )
    for pattern in patterns:
        files = set(path.glob(pattern))
        # authors' archives unpack into a folder, and some into one more
        files.update(path.glob(f"*/{pattern}"), path.glob(f"*/*/{pattern}"))
        if files:
            # a link in the folder may lead out of it (docs/adr/0021)
            require_inside([path], files, title)
            # file systems list a folder in orders of their own, and keys count on
            return sorted(files)
    raise UserError(
        f"{title}: no question file in '{path}'",
        expected=" or ".join(patterns),
        remedy="Give the file itself",
    )
