"""Logs of what a model has answered: what a reader of a format gives, and how it reads safely.

A reader is a plugin in the group `cuescope.logs`. It says by `fits` whether a file is of its format
and by `read` what stands in it; `--model log:FILE` and `--data log:FILE` do the rest.
"""

from cuescope_sdk.logs._archives import MOST_MEMBER, Archive
from cuescope_sdk.logs._choices import (
    choice_index,
    find_choice,
    letter_index,
    listed_choices,
    split_options,
)
from cuescope_sdk.logs._files import (
    MOST_LINE,
    first_bytes,
    json_document,
    json_lines,
    parquet_rows,
    parse_json,
)
from cuescope_sdk.logs._records import (
    LEAST_LOG_PROB,
    Log,
    LogReader,
    Record,
    content_of,
    finite,
)

__all__ = [
    "Archive",
    "LEAST_LOG_PROB",
    "Log",
    "LogReader",
    "MOST_LINE",
    "MOST_MEMBER",
    "Record",
    "choice_index",
    "content_of",
    "find_choice",
    "finite",
    "first_bytes",
    "json_document",
    "json_lines",
    "letter_index",
    "listed_choices",
    "parquet_rows",
    "parse_json",
    "split_options",
]
