"""Logs of what a model has answered: what a reader of a format gives, and how it reads safely.

A reader is a plugin in the group `cuescope.logs`. It says by `fits` whether a file is of its format
and by `read` what stands in it; `--model log:FILE` and `--data log:FILE` do the rest.
"""

from cuescope.jpeg_scans import has_too_many_scans
from cuescope_sdk.logs._archives import Archive
from cuescope_sdk.logs._choices import Choices
from cuescope_sdk.logs._examining import examine
from cuescope_sdk.logs._files import LogFile, parse_json
from cuescope_sdk.logs._judging import figures_of, judge
from cuescope_sdk.logs._option_lists import (
    OPTION_COLUMNS,
    is_blank,
    letters_before,
    list_of_texts,
    option_letter,
    options_in_columns,
    plain_text,
    without_letters,
)
from cuescope_sdk.logs._records import Judgement, Log, LogReader, Record
from cuescope_sdk.logs._scores import score_of

__all__ = [
    "Archive",
    "Choices",
    "Judgement",
    "Log",
    "LogFile",
    "LogReader",
    "OPTION_COLUMNS",
    "Record",
    "examine",
    "figures_of",
    "has_too_many_scans",
    "is_blank",
    "judge",
    "letters_before",
    "list_of_texts",
    "option_letter",
    "options_in_columns",
    "parse_json",
    "plain_text",
    "score_of",
    "without_letters",
]
