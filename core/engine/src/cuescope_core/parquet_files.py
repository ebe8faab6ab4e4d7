"""Parquet files that may be a stranger's: a few bytes in one may stand for all of the memory."""

from collections.abc import Collection, Mapping
from importlib.util import find_spec
from typing import TYPE_CHECKING

from cuescope_core.errors import UserError

if TYPE_CHECKING:
    import pyarrow as pa
    from pyarrow.parquet import ParquetFile

# of a file of somebody else
# as Python has them, where a row of nulls takes 700 bytes and none in the file
MOST_ROWS = 1_000_000
MOST_BYTES = 2**30  # of its cells
BATCH_ROWS = 65_536
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
    most_rows: int | None = MOST_ROWS,
    most_bytes: int | None = MOST_BYTES,
) -> "pa.Table":
    """The rows, with those of `columns` that are there, of these types; None takes all, of `PLAIN`.

    Raises UserError, which begins with `title`, for what is no Parquet file, for one that is
    larger than the limits once it is unpacked, and for a column of another type. No limit: None.
    """
    require_pyarrow()
    import pyarrow as pa
    from pyarrow.parquet import ParquetFile

    size = 0
    columns_read = []

    def require(rows: int, size: int) -> None:
        if rows > (most_rows or rows) or size > (most_bytes or size):
            raise UserError(
                f"{title} is too large",
                expected=f"at most {most_rows:,} rows and {most_bytes:,} bytes, unpacked",
                got="more: it may be a bomb",
            )

    try:
        schema = ParquetFile(pa.BufferReader(content)).schema_arrow
        names = [name for name in schema.names if columns is None or name in columns]
        # before a cell is read: others than these may be bombs of their own
        _require_types(title, schema, names, columns)
        texts = [name for name in names if pa.types.is_string(schema.field(name).type)]
        # a text that stands in each row is kept once, until it is known how large all of them are
        file = ParquetFile(pa.BufferReader(content), read_dictionary=texts)
        # a page is unpacked whole, before its rows are known: what is said of it comes first, and
        # where that is a lie pages of one column alone are in memory
        require(file.metadata.num_rows, _claimed(file, names))
        for name in names:
            rows = 0
            chunks = []
            for batch in file.iter_batches(batch_size=BATCH_ROWS, columns=[name]):
                rows += batch.num_rows
                size += _unpacked(batch.column(0))
                require(rows, size)
                chunks.append(batch.column(0))
            columns_read.append(chunks)
        # without what others left beside it: pandas would read an index there
        plain = pa.schema([schema.field(name) for name in names], _own_words(schema))
        packed = _with_texts(plain, texts)
        arrays = [
            pa.chunked_array(chunks, field.type)
            for chunks, field in zip(columns_read, packed, strict=True)
        ]
        table = pa.Table.from_arrays(arrays, schema=packed).cast(plain)
        # bytes that are no letters
        table.validate(full=True)
        return table
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


def _claimed(file: "ParquetFile", names: Collection[str]) -> int:
    """The bytes of the pages of some columns, as the file says."""
    size = 0
    for number in range(file.metadata.num_row_groups):
        group = file.metadata.row_group(number)
        chunks = map(group.column, range(group.num_columns))
        size += sum(
            c.total_uncompressed_size for c in chunks if c.path_in_schema in names
        )
    return size


def _unpacked(column: "pa.Array") -> int:
    """The bytes of a column whose texts are written out."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if not pa.types.is_dictionary(column.type):
        return int(column.nbytes)
    lengths = pc.binary_length(column.dictionary).take(column.indices)
    return int(pc.sum(lengths).as_py() or 0) + int(column.indices.nbytes)


def _own_words(schema: "pa.Schema") -> dict[bytes, bytes]:
    words = schema.metadata or {}
    return {key: value for key, value in words.items() if key != b"pandas"}


def _with_texts(schema: "pa.Schema", texts: Collection[str]) -> "pa.Schema":
    """The schema with these columns as the reader gives them."""
    import pyarrow as pa

    kind = pa.dictionary(pa.int32(), pa.string())
    fields = [f.with_type(kind) if f.name in texts else f for f in schema]
    return pa.schema(fields, schema.metadata)
