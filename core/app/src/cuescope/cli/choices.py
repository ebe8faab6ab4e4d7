"""Options that take one of a few words."""

from enum import Enum


class Form(Enum):
    """Format of an exported table."""

    csv = "csv"
    jsonl = "jsonl"
    parquet = "parquet"


class What(Enum):
    """Rows of an exported table."""

    answers = "answers"
    findings = "findings"
    scores = "scores"
