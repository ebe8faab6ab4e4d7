"""Judgements of answers as scores, by one vocabulary for the readers of every format."""

import math
import re
from collections.abc import Mapping
from typing import Any

# inspect's letters (C, I, P, N) and the words of its `value_to_float`; pass and fail are those of
# promptfoo, "not attempted" is SimpleQA's
SCORES = {
    **dict.fromkeys(("c", "correct", "right", "true", "yes", "y", "t"), 1.0),
    **dict.fromkeys(("pass", "passed", "match", "ok", "success"), 1.0),
    **dict.fromkeys(("p", "partial", "partially correct", "half"), 0.5),
    **dict.fromkeys(("i", "incorrect", "wrong", "false", "no", "f"), 0.0),
    **dict.fromkeys(("fail", "failed", "mismatch", "failure"), 0.0),
    **dict.fromkeys(("n", "no answer", "noanswer", "not attempted"), 0.0),
}
# what pandas, Excel and R write for a cell that is empty
MISSING = frozenset(("", "nan", "none", "null", "n/a", "na", "<na>", "-"))
_PERCENT = re.compile(r"(\d+(?:\.\d+)?)\s*%")


def is_missing(value: Any) -> bool:
    """True if a cell says nothing: it is empty, or what tables write for that."""
    if isinstance(value, Mapping):
        return "score" not in value or is_missing(value["score"])
    if isinstance(value, float):
        return math.isnan(value)
    return value is None or (
        isinstance(value, str) and value.strip().casefold() in MISSING
    )


def score_of(value: Any) -> float | None:
    """Return a judgement as a score from 0 to 1, None for one that is not understood.

    Words and numbers are understood, also within text ("1.0", "1,0", "50%"), and the `score` of an
    object.
    """
    if isinstance(value, Mapping):
        value = value.get("score")
    if isinstance(value, str):
        value = _score_in_words(value)
    if isinstance(value, bool):
        return float(value)
    if isinstance(value, int | float) and 0 <= value <= 1:
        return float(value)
    return None


def _score_in_words(text: str) -> float | None:
    words = " ".join(re.split(r"[\s_-]+", text.casefold().strip(" \t\n.!*\"'`")))
    if words in SCORES:
        return SCORES[words]
    # a comma before decimals, as half of the world writes them
    number = text.strip().replace(",", ".")
    percent = _PERCENT.fullmatch(number)
    try:
        return float(percent[1]) / 100 if percent else float(number)
    except ValueError:
        return None
