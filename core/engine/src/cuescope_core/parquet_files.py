"""Parquet files that may be a stranger's: a few bytes in one may stand for all of the memory."""

from collections.abc import Collection, Mapping
from importlib.util import find_spec
from math import inf
from typing import TYPE_CHECKING

from cuescope_core.errors import UserError
from cuescope_core.trust.child import in_child

if TYPE_CHECKING:
    import pyarrow as pa

# of a file of somebody else
# as Python has them, where a row of nulls takes 700 bytes and none in the file
MOST_ROWS = 1_000_000
MOST_BYTES = 2**30  # of its cells
PLAIN = ("string", "bool", "int64", "float32", "float64", "null")


def require_pyarrow() -> None:
    """Raise UserError where the library that reads and writes Parquet is not installed."""
    if find_spec("pyarrow") is None:
        raise UserError(
            "Parquet files need pyarrow, which the engine alone does not bring",
            remedy="`pip install pyarrow` brings it",
        )


def read_parquet(
    content: bytes,
    title: str,
    columns: Mapping[str, str] | None = None,
    *,
    own: bool = False,
) -> "pa.Table":
    """The rows, with those of `columns` that are there, of these types; None takes all, of `PLAIN`.

    Not one's `own`, it is read in a child. Raises UserError, which begins with `title`, for what is
    no Parquet file, for one that is larger than the limits, and for a column of another type.
    """
    require_pyarrow()
    if own:
        return _read(content, title, columns)
    return in_child(title, _read_within_limits, content, title, columns)


def _read_within_limits(
    content: bytes, title: str, columns: Mapping[str, str] | None
) -> "pa.Table":
    table = _read(content, title, columns, MOST_ROWS)
    # as Arrow has them: each text is written out
    if table.nbytes > MOST_BYTES:
        raise _too_large(title)
    return table


def _too_large(title: str) -> UserError:
    return UserError(
        f"{title} is too large",
        expected=f"at most {MOST_ROWS:,} rows and {MOST_BYTES:,} bytes, unpacked",
        got="more: it may be a bomb",
    )


def _read(
    content: bytes,
    title: str,
    columns: Mapping[str, str] | None,
    most_rows: float = inf,
) -> "pa.Table":
    import pyarrow as pa
    from pyarrow.parquet import ParquetFile

    try:
        file = ParquetFile(pa.BufferReader(content))
        schema = file.schema_arrow
        names = [name for name in schema.names if columns is None or name in columns]
        # before a cell is read: others than these may be bombs of their own
        _require_types(title, schema, names, columns)
        if file.metadata.num_rows > most_rows:
            raise _too_large(title)
        table = file.read(columns=names)
        # pandas would read an index in what others left beside it
        words = table.schema.metadata or {}
        table = table.replace_schema_metadata(
            {key: value for key, value in words.items() if key != b"pandas"}
        )
        # bytes that are no letters
        table.validate(full=True)
        return table
    except pa.ArrowMemoryError:
        raise _too_large(title) from None
    except (pa.ArrowException, OSError, ValueError) as error:
        # Arrow's errors have several lines
        reason = str(error).splitlines()[0]
        raise UserError(f"{title} cannot be read", got=reason) from error


def _require_types(
    title: str,
    schema: "pa.Schema",
    names: Collection[str],
    columns: Mapping[str, str] | None,
) -> None:
    import pyarrow as pa

    if len(set(names)) < len(names):
        raise UserError(f"{title} has two columns of one name")
    for name in names:
        expected = PLAIN if columns is None else (columns[name],)
        got = schema.field(name).type
        if got not in map(pa.type_for_alias, expected):
            words = " or ".join(expected)
            raise UserError(f"{title}: column {name}", expected=words, got=str(got))
