"""Words that a namer chooses from, as a file gives them."""

from pathlib import Path

from cuescope_sdk import UserError
from cuescope_sdk.data import read_text


def read_words(path: Path, title: str) -> tuple[str, ...]:
    """Each line's words, once, in order; raises UserError where there are none."""
    lines = (" ".join(line.split()) for line in read_text(path.expanduser(), title).splitlines())
    words = tuple(dict.fromkeys(line for line in lines if line))
    if not words:
        raise UserError(f"{title}: {path.name}", expected="a word a line", got="none")
    return words
