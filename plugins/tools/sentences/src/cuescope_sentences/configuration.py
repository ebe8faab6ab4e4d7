"""The files that say how a sentence encoder is put together: read before the library reads them.

`modules.json` names classes to import, and `sentence_bert_config.json` hands arguments on to
transformers: "weights_only": false there would open a pickle that runs code.
"""

import re
from pathlib import Path
from textwrap import shorten
from typing import Any

from cuescope_sdk import UserError, inside
from cuescope_sdk.models import require_small_archive
from cuescope_sdk.torch import named_values, require_plain_config

OWN_CLASS = re.compile(r"sentence_transformers(\.[a-z_0-9]+)*\.[A-Z]\w*")
TYPE_KEYS = frozenset({"type", "types"})
ARGUMENT_KEYS = frozenset(
    f"{part}_{kind}"
    for part in ("model", "tokenizer", "processor", "config")
    for kind in ("args", "kwargs")
)
ARGUMENTS = frozenset(
    {
        *(
            "dtype",
            "torch_dtype",
            "attn_implementation",
            "add_pooling_layer",
            "max_length",
        ),
        *(
            "model_max_length",
            "padding",
            "padding_side",
            "truncation",
            "truncation_side",
        ),
        *("use_fast", "do_lower_case", "is_decoder", "fix_mistral_regex"),
    }
)


def require_plain_modules(owner: str, folder: Path) -> None:
    """Raises UserError for files that ask for code, a pickle or too much memory, and names why."""
    for file in (*folder.rglob("modules.json"), *folder.rglob("router_config.json")):
        for key, value in named_values(file):
            if key in TYPE_KEYS:
                _require_own_classes(owner, file, key, value)
    for file in folder.rglob("sentence_*_config.json"):
        for key, value in named_values(file):
            if key in ARGUMENT_KEYS:
                _require_plain_arguments(owner, file, key, value)
    for file in (*folder.rglob("modules.json"), *folder.rglob("config.json")):
        require_plain_config(owner, file)
        for key, value in named_values(file):
            # where the library reads a module, or the vectors of words
            if key == "path":
                inside(folder, str(value), f"{owner}: a path in {file.name}")
    for file in folder.rglob("*.bin"):
        require_small_archive(owner, file)


def _require_own_classes(owner: str, file: Path, key: str, value: Any) -> None:
    # a router names the class of each of its modules
    for name in value.values() if isinstance(value, dict) else [value]:
        if not OWN_CLASS.fullmatch(str(name)):
            raise UserError(
                f"{owner}: {file.name} names code of its own, which is not run unasked",
                expected="a class of sentence_transformers",
                got=f"{key}: {shorten(str(name), 80)}",
            )


def _require_plain_arguments(owner: str, file: Path, key: str, value: Any) -> None:
    for name in value if isinstance(value, dict) else [value]:
        if name not in ARGUMENTS:
            raise UserError(
                f"{owner}: {file.name} is refused",
                expected=f"among {key} only {', '.join(sorted(ARGUMENTS))}",
                got=shorten(str(name), 80),
                remedy=f"Take it out of {key} if you trust the rest.",
            )
