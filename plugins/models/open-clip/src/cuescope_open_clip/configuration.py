"""A folder's `open_clip_config.json`, read before open_clip reads it: it may name no code to run.

open_clip hands what stands there on to transformers and timm, which run Python files that come
with a model, and fetch models by name. This plugin has no option that allows it: what is named
lies in the folder itself.
"""

from collections.abc import Mapping
from pathlib import Path
from textwrap import shorten
from typing import Any

from cuescope_open_clip.sources import CONFIG_NAME, Source
from cuescope_sdk import UserError, inside
from cuescope_sdk.torch import named_values, require_plain_config

OWNER = "open-clip"
TEXT_TOWER = "hf_model_name"
CODE_KEYS = frozenset(
    {
        "trust_remote_code",
        "auto_map",
        "code_revision",
        "custom_pipeline",
        "custom_generate",
    }
)
# what open_clip's own configurations and those on the hub hand to a tokenizer
TOKENIZER_KEYS = frozenset(
    {
        *(
            "clean",
            "strip_sep_token",
            "language",
            "reduction_mask",
            "additional_special_tokens",
        ),
        *("bos_token", "eos_token", "unk_token", "sep_token", "pad_token", "cls_token"),
        *(
            "mask_token",
            "use_fast",
            "padding_side",
            "truncation_side",
            "model_max_length",
        ),
        *("add_prefix_space", "add_bos_token", "add_eos_token", "do_lower_case"),
    }
)
# a model of timm's own list has no source before its name and no folder in it
SOURCE_MARKS = (":", "/", "\\")


def require_plain_configuration(source: Source) -> None:
    """Raises UserError for a folder's configuration that asks for code, and names the key."""
    if source.folder is None:  # open_clip's own
        return
    require_plain_config(OWNER, source.folder / CONFIG_NAME)
    for key, value in named_values(source.folder / CONFIG_NAME):
        # also false: nobody writes it who does not mean to
        if key in CODE_KEYS:
            raise _refusal(
                source, key, value, "no code of its own: it is not run unasked"
            )
        if key == "tokenizer_kwargs":
            _require_tokenizer_words(source, value)
        elif key == "timm_model_name":
            if any(mark in str(value) for mark in SOURCE_MARKS):
                raise _refusal(
                    source, key, value, "the name of a model in timm's own list"
                )
        elif key == TEXT_TOWER and value:
            # its own configuration may name kernels, which are code
            require_plain_config(
                OWNER, text_tower_folder(source, value) / "config.json"
            )


def text_tower_folder(source: Source, name: Any) -> Path:
    """The folder in that of the model with the configuration of a text tower of transformers.

    Raises UserError for any other name: transformers takes it for a hub id, and fetches it.
    """
    folder = Path(source.folder or "")
    try:
        tower = inside(folder, str(name))
    except UserError:
        tower = None
    if tower is None or not (tower / "config.json").is_file():
        raise _refusal(
            source,
            TEXT_TOWER,
            name,
            "a folder in that of the model, with the config.json of its text tower",
            remedy="If you trust it, copy the model's folder and put that file into a folder "
            f'"text" in it. Then write "{TEXT_TOWER}": "text". Or open it by open_clip in Python, '
            "and audit that: model=(model, preprocess, tokenizer).",
        )
    return tower


def _require_tokenizer_words(source: Source, words: Any) -> None:
    if words is None:
        return
    if not isinstance(words, Mapping):
        raise _refusal(source, "tokenizer_kwargs", words, "words with their values")
    for key, value in words.items():
        title = f"{key} in tokenizer_kwargs"
        # the latter are refused in their own words
        if key not in TOKENIZER_KEYS | CODE_KEYS:
            expected = "what is known to be harmless there, as clean or strip_sep_token"
            raise _refusal(source, title, value, expected)
        # a mapping inside could carry what is refused outside
        if isinstance(value, Mapping):
            raise _refusal(source, title, value, "a text, a number or a list")


def _refusal(
    source: Source,
    key: str,
    value: Any,
    expected: str,
    remedy: str = "Take it out of the file if you trust the rest.",
) -> UserError:
    return UserError(
        f"open-clip: {CONFIG_NAME} of {source.architecture} is refused",
        expected=expected,
        # a stranger's file: a value may have any length
        got=f"{key}: {shorten(str(value), 80)}",
        remedy=remedy,
    )
