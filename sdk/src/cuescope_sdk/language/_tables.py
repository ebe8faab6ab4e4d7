"""Word lists and prompts, which are data beside the code."""

import tomllib
from importlib.resources import files
from typing import Any


def read_toml(name: str) -> dict[str, Any]:
    """A TOML file of this room."""
    return tomllib.loads(files(__package__).joinpath(name).read_text("utf-8"))


def word_sets(section: str) -> dict[str, frozenset[str]]:
    """The lists of a section of `words.toml`, by name."""
    lists = read_toml("words.toml")[section]
    return {name: frozenset(words.split()) for name, words in lists.items()}
