"""Words that a namer chooses from, as a file gives them."""

from pathlib import Path

from cuescope_sdk import UserError
from cuescope_sdk.data import TextFile


def read_words(path: Path, title: str) -> tuple[str, ...]:
    """Each line's words, once, in order; raises UserError where there are none."""
    file = TextFile(path.expanduser(), title)
    lines = file.text().splitlines()
    words = dict.fromkeys(" ".join(line.split()) for line in lines)
    words.pop("", None)
    if not words:
        raise UserError(file.name, expected="a word a line", got="none")
    return tuple(words)
