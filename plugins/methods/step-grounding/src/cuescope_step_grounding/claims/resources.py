"""Prompts, word lists and patterns, which are data beside the code."""

import tomllib
from importlib.resources import files
from typing import Any


def read_text(name: str) -> str:
    """A file of this distribution, such as "claims/times.toml"."""
    return files("cuescope_step_grounding").joinpath(name).read_text("utf-8")


def read_toml(name: str) -> dict[str, Any]:
    return tomllib.loads(read_text(name))
