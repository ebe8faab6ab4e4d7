"""The model in open_clip's words, and the prompts of its training. Nothing here imports torch."""

import tomllib
from copy import deepcopy
from importlib.resources import files
from typing import Any

_FILE = tomllib.loads(
    files(__package__).joinpath("architecture.toml").read_text("utf-8")
)
PREPROCESS: dict[str, Any] = _FILE["preprocess"]
TITLES: dict[str, str] = _FILE["titles"]  # by tower
PROMPTS: tuple[str, ...] = tuple(_FILE["prompts"])
CONTEXT_LENGTH: int = _FILE["model"]["text_cfg"]["context_length"]
VOCABULARY_SIZE: int = _FILE["model"]["text_cfg"]["vocab_size"]


def model_config(tower: str) -> dict[str, Any]:
    """A new configuration with an image tower of this kind."""
    # a copy: `new_network` writes its number of words into it
    return deepcopy({**_FILE["model"], **_FILE["towers"][tower]})
