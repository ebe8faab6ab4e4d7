"""Words of the caller that reports hold: labels, keys, names."""

from typing import Any

from cuescope_core.errors import UserError

MOST_LETTERS = 1_000


def require_text(where: str, text: Any) -> str:
    """The text; raises UserError for anything else, and for a text that no file can hold."""
    if not isinstance(text, str):
        raise UserError(where, expected="text", got=type(text).__name__)
    if len(text) > MOST_LETTERS:
        raise UserError(
            where,
            expected=f"at most {MOST_LETTERS:,} letters",
            got=f"{len(text):,}",
            remedy="Give it a short name",
        )
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise UserError(
            where,
            expected="letters of Unicode",
            got=f"half of one, {text[error.start]!r}",
            remedy="text.encode('utf-8', 'replace').decode() leaves it out",
        ) from error
    return text
