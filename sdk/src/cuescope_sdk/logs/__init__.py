"""Logs of what a model has answered: what a reader of a format gives, and how it reads safely.

A reader is a plugin in the group `cuescope.logs`. It says by `fits` whether a file is of its format
and by `read` what stands in it; `--model log:FILE` and `--data log:FILE` do the rest.
"""

from cuescope.jpeg_scans import has_too_many_scans
from cuescope_sdk.logs._archives import Archive
from cuescope_sdk.logs._choices import Choices
from cuescope_sdk.logs._files import LogFile, parse_json
from cuescope_sdk.logs._records import Log, LogReader, Record

__all__ = [
    "Archive",
    "Choices",
    "Log",
    "LogFile",
    "LogReader",
    "Record",
    "has_too_many_scans",
    "parse_json",
]
