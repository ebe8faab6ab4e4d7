"""Text files of a data set's authors, row by row, each mistake told with its line.

A layout is a pydantic model: its fields are the columns that must be there, others are ignored.
"""

import csv
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from io import StringIO
from pathlib import Path
from typing import Any, Self, TypeVar

from pydantic import BaseModel, TypeAdapter, ValidationError

from cuescope_core.plain_json import SHOWN
from cuescope_sdk import UserError, nearest
from cuescope_sdk.data._own_files import MOST_BYTES, read_own_bytes, require_inside_one
from cuescope_sdk.data._tables import delimiter_of, table_rows

Row = TypeVar("Row", bound=BaseModel)
Value = TypeVar("Value")
_WIDE = {b"\xff\xfe": "utf-16", b"\xfe\xff": "utf-16"}


@dataclass(frozen=True, slots=True)
class TextFile:
    """A text file; `title` is who reads it, which errors begin with.

    What reads it raises UserError, with the line or entry, for what is not as it should be; also
    for a pipe or device, and for a file that is too large.
    """

    path: Path
    title: str

    @classmethod
    def find(cls, root: Path, name: str, title: str) -> Self:
        """The file of this name, in whatever case, in `root` or up to two folders below.

        Raises UserError where there is none, with the nearest name, or where there are several.
        """
        if not root.is_dir():
            raise UserError(
                f"{title}: no such folder",
                expected=f"a folder with {name}",
                got=f"'{root}'",
            )
        names = set[str]()
        # authors' archives unpack into a folder, and some into one more; the nearest wins
        for below in ("", "[!.]*/", "[!.]*/[!.]*/"):
            entries = sorted(root.glob(f"{below}*"))
            matches = [entry for entry in entries if entry.name.lower() == name.lower()]
            if len(matches) > 1:
                raise UserError(
                    f"{title}: several {name}",
                    expected="one",
                    got=", ".join(str(file.relative_to(root)) for file in matches),
                    remedy="Give the folder of the one that is meant",
                )
            if matches:
                return cls(require_inside_one(root, matches[0], title), title)
            names |= {entry.name for entry in entries}
        raise UserError(
            f"{title}: no {name}",
            expected=f"it in {root} or two folders below",
            remedy=nearest(name, names),
        )

    @property
    def name(self) -> str:
        """ "TITLE: FILE", with which errors begin."""
        return f"{self.title}: {self.path.name}"

    def text(self, most: int = MOST_BYTES) -> str:
        """All of it, in UTF-8, or in UTF-16 with its mark, as spreadsheets write it.

        Raises UserError where it is neither, or holds a NUL, and for more than `most` bytes.
        """
        content = read_own_bytes(self.path, self.title, most)
        try:
            # -sig: some editors begin a file with a byte order mark
            text = content.decode(_WIDE.get(content[:2], "utf-8-sig"))
        except UnicodeDecodeError as error:
            line = content.count(b"\n", 0, error.start) + 1
            raise UserError(
                f"{self.title}: cannot read {self.path.name}",
                expected="UTF-8 text",
                got=f"{error.reason} in line {line}",
                remedy="Save it as UTF-8",
            ) from None
        before, nul, _ = text.partition("\0")
        if nul:
            line = before.count("\n") + 1
            raise UserError(
                f"{self.name} line {line}",
                expected="UTF-8 text",
                got="a NUL character",
                remedy="Save it as UTF-8",
            )
        return text

    def lines(self) -> Iterator[tuple[str, str]]:
        """Each line that is not blank, behind its place ("TITLE: FILE line 3") for errors."""
        text = self.text()
        self._require_rows(text.strip())
        # not splitlines, which also breaks at U+2028: no editor counts that as a line
        for number, line in enumerate(StringIO(text), start=1):
            if line.strip():  # blank lines still count, as in an editor
                yield f"{self.name} line {number}", line.strip()

    def codes(self) -> dict[str, str]:
        """Names by code, from lines such as "c000 Holding some clothes" or "o000 person"."""
        names = {}
        for location, line in self.lines():
            code, _, name = line.partition(" ")
            if not name:
                raise UserError(
                    location,
                    expected="a code and a name",
                    got=f"'{line[:SHOWN]}'",
                )
            names[code] = name.strip()
        return names

    def table(
        self,
        delimiter: str = ",",
        most: int = MOST_BYTES,
    ) -> Iterator[tuple[int, dict[str, str]]]:
        """The rows of a table with a header, each by column, behind the number of its last line.

        Raises UserError for a quote that is not closed or stands where none may, a row longer or
        shorter than the header, and a column named twice.
        """
        return table_rows(self.text(most), self.name, delimiter)

    def csv_rows(self, row: type[Row]) -> list[Row]:
        """The rows of a CSV table with a header."""
        text = self.text()
        delimiter = delimiter_of(text, ",")
        try:
            header = next(csv.reader(StringIO(text), delimiter=delimiter), [])
        except csv.Error as error:
            raise UserError(f"{self.name} line 1 is no CSV", got=str(error)) from None
        self._require_columns(header, row)
        rows = []
        for line, cells in table_rows(text, self.name):
            rows.append(_validate(row, cells, f"{self.name} line {line}"))
        self._require_rows(rows)
        return rows

    def json_rows(self, row: type[Row]) -> list[Row]:
        """The rows of a JSON list of objects."""
        rows = self._json(TypeAdapter(list[row]))  # type: ignore[valid-type]
        self._require_rows(rows)
        return rows

    def json_object(self, layout: type[Row]) -> Row:
        """One JSON object, such as COCO's."""
        return self._json(TypeAdapter(layout))

    def _json(self, layout: TypeAdapter[Value]) -> Value:
        try:
            # in Rust, without Python dicts between: files have hundreds of megabytes
            return layout.validate_json(self.text())
        except ValidationError as error:
            first = error.errors(include_url=False)[0]
            if first["type"] == "json_invalid":
                raise UserError(
                    f"{self.name} is no JSON", got=first["ctx"]["error"]
                ) from None
            raise _misfit(self.name, first) from None

    def _require_columns(self, there: Sequence[str], row: type[Row]) -> None:
        fields = row.model_fields.items()
        wanted = [field.alias or name for name, field in fields if field.is_required()]
        missing = [name for name in wanted if name not in there]
        if missing:
            raise UserError(
                f"{self.name} has no column '{missing[0]}'",
                expected=", ".join(wanted),
                got=", ".join(there)[:200] or "an empty file",
                remedy=nearest(missing[0], there),
            )

    def _require_rows(self, rows: Sequence[object]) -> None:
        if not rows:
            raise UserError(self.name, expected="a row or more", got="none")


def _validate(row: type[Row], entry: Any, location: str) -> Row:
    try:
        return row.model_validate(entry)
    except ValidationError as error:
        raise _misfit(location, error.errors()[0]) from None


def _misfit(location: str, first: Mapping[str, Any]) -> UserError:
    """The first error of pydantic's; list items are counted from 1."""
    for part in first["loc"]:
        location += f" entry {part + 1}" if isinstance(part, int) else f" '{part}'"
    if first["type"] == "missing":
        return UserError(location, expected="a value", got="none")
    own = first.get("ctx", {}).get("error")
    if own is not None:  # a check of a layout says itself what is wrong
        return UserError(location, got=str(own))
    # pydantic's sentence as ours
    expected = first["msg"].removeprefix("Input should be ")
    return UserError(location, expected=expected, got=repr(first["input"])[:SHOWN])
