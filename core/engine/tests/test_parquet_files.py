"""A Parquet file of a stranger: what its bytes may stand for, and what it may hold."""

import io
import sys
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from pyarrow.parquet import write_table

from cuescope_core.answers import COLUMNS, read_answers
from cuescope_core.errors import UserError
from cuescope_core.findings import as_table
from cuescope_core.parquet_files import MOST_BYTES, MOST_ROWS, read_parquet
from cuescope_core.runs import RunFolder

from .reports import make_report


def packed(columns: dict[str, Any], **settings: Any) -> bytes:
    file = io.BytesIO()
    write_table(pa.table(columns), file, **settings)
    return file.getvalue()


def one_text(rows: int, letters: int) -> pa.Array:
    numbers = pa.array(np.zeros(rows, np.int32))
    return pa.DictionaryArray.from_arrays(numbers, pa.array(["a" * letters]))


@pytest.mark.parametrize(
    "content",
    [
        packed({"a": one_text(11_000, 100_000)}, store_schema=False),
        packed({"a": one_text(11_000, 100_000)}),
        packed({"a": one_text(MOST_ROWS + 1, 1)}, store_schema=False),
        packed({"a": pa.array([b"a" * 10**5] * 11_000)}),
        packed({"a": pa.array(["a" * 10**5] * 11_000, pa.large_string())}),
        packed({"a": pa.array([["a" * 10**5]] * 11_000)}),
    ],
    ids=["one text in each row", "as a dictionary", "rows", "bytes", "large", "lists"],
)
def test_a_bomb_is_refused_before_it_unfolds(content: bytes) -> None:
    assert len(content) < 500_000
    tracemalloc.start()
    before = pa.total_allocated_bytes()
    with pytest.raises(
        UserError, match=r"x is too large: expected at most|x: column a: expected"
    ):
        read_parquet(content, "x")
    assert pa.total_allocated_bytes() - before < MOST_BYTES / 10
    assert tracemalloc.get_traced_memory()[1] < MOST_BYTES / 10
    tracemalloc.stop()


@pytest.mark.parametrize(
    ("column", "said"),
    [
        (pa.array([b"\xff\xfe"]).view(pa.string()), "x cannot be read: got .*UTF"),
        (pa.array([1], pa.int8()), "x: column a: expected string or .* got int8"),
    ],
)
def test_what_is_no_text_or_plain_number_is_refused(column: Any, said: str) -> None:
    with pytest.raises(UserError, match=said):
        read_parquet(packed({"a": column}), "x")
    twice = pa.Table.from_arrays([pa.array([1]), pa.array([2])], ["a", "a"])
    file = io.BytesIO()
    write_table(twice, file)
    with pytest.raises(UserError, match="two columns of one name"):
        read_parquet(file.getvalue(), "x")


def test_a_table_comes_back_as_it_was() -> None:
    columns = {
        "text": pa.array(["a", None, "a", "ü"]),
        "figure": pa.array([1.5, None, 2.0, 3.0]),
        "flag": pa.array([True, False, None, True]),
    }
    table = read_parquet(packed(columns), "x")
    assert table.equals(pa.table(columns))
    assert read_parquet(
        packed(columns), "x", {"flag": "bool", "other": "string"}
    ).column_names == ["flag"]
    empty = {"text": pa.array([], pa.string())}
    assert read_parquet(packed(empty), "x").equals(pa.table(empty))


def _numbers(table: pa.Table) -> pa.Table:
    return table.set_column(0, "sample", pa.array([1]))


def _structs(table: pa.Table) -> pa.Table:
    return table.set_column(0, "sample", pa.array([{"a": 1}]))


def _index(table: pa.Table) -> pa.Table:
    return table.replace_schema_metadata({"pandas": '{"index_columns": ["x"]}'})


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (_numbers, "column sample: expected string, got int64"),
        (_structs, "column sample: expected string, got struct"),
        (_index, None),
    ],
)
def test_answers_have_the_columns_that_they_are_written_with(
    change: Callable[[pa.Table], pa.Table], said: str | None, tmp_path: Path
) -> None:
    run = RunFolder(tmp_path)
    run.prepare()
    write_table(
        change(as_table([{"sample": "a", "condition": "baseline"}], COLUMNS)),
        run.answers_file,
    )
    run.save(make_report(), {})
    if said is None:
        assert read_answers(tmp_path).to_pandas()["sample"].tolist() == ["a"]
    else:
        with pytest.raises(UserError, match=said):
            read_answers(tmp_path)


def test_half_a_letter_of_an_answer_is_kept_as_an_escape() -> None:
    """A server's JSON may hold one, and Parquet takes whole letters alone."""
    rows = [
        {"sample": "a", "condition": "baseline", "text": "\ud800 bird", "figure": 1}
    ]
    [row] = as_table(rows, COLUMNS).to_pylist()
    assert (row["text"], row["figure"]) == (r"\ud800 bird", 1)


def test_the_rows_of_a_stranger_fit_into_memory() -> None:
    """A million rows of nulls are a file of a few kilobytes, and dicts in Python."""
    [row] = as_table([{"sample": "a", "condition": "baseline"}], COLUMNS).to_pylist()
    assert MOST_ROWS * sys.getsizeof(row) < 2**30
