"""The model in open_clip's words, and the prompts of its training. Nothing here imports torch."""

import tomllib
from importlib.resources import files
from typing import Any

_FILE = tomllib.loads(
    files(__package__).joinpath("architecture.toml").read_text("utf-8")
)
PREPROCESS: dict[str, Any] = _FILE["preprocess"]
PROMPTS: tuple[str, ...] = tuple(_FILE["prompts"])
MODEL: dict[str, Any] = _FILE["model"]
TITLE = "ViT, 4 layers of width 96, patches of 8 px"
CONTEXT_LENGTH: int = MODEL["text_cfg"]["context_length"]
VOCABULARY_SIZE: int = MODEL["text_cfg"]["vocab_size"]
