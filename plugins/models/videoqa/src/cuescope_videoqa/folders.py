"""Folders that `save_pretrained` writes, on this machine or from the hub: words, sizes, weights."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from textwrap import shorten
from typing import Any

import huggingface_hub
import torch
from torch import Tensor

from cuescope_sdk import UserError
from cuescope_sdk.models import require_hub
from cuescope_sdk.torch import quiet
from cuescope_videoqa.checkpoints import read_tensors

WORDS = ("tokenizer.json", "vocab.txt", "spm.model")
WEIGHTS = ("model.safetensors", "pytorch_model.bin")
HUB_ID = re.compile(r"[\w.-]+(/[\w.-]+)?")


def find_folder(owner: str, name: str, weights: bool = False) -> Path:
    """A folder, or the files of a hub id; raises UserError where neither is to be had."""
    folder = Path(name).expanduser()
    if folder.is_dir():
        return folder
    if name.startswith((".", "/", "~")) or not HUB_ID.fullmatch(name):
        raise UserError(f"{owner}: no folder {name}", expected="a model's folder, or a hub id")
    cached = huggingface_hub.try_to_load_from_cache(name, "config.json")
    if isinstance(cached, str):
        return Path(cached).parent
    remedy = "Connect, or name a folder with its files: -M text_encoder, -M vision."
    require_hub(owner, name, remedy)
    patterns = ["*.json", *WORDS, *(WEIGHTS if weights else ())]
    try:
        return Path(huggingface_hub.snapshot_download(name, allow_patterns=patterns))
    except Exception as error:  # the client raises the errors of three libraries
        raise UserError(
            f"{owner}: {name} could not be downloaded",
            got=f"{type(error).__name__} ({shorten(str(error), 120)})",
            remedy="Check name and network, or give a folder with its files.",
        ) from error


def read_tokenizer(owner: str, folder: Path) -> Any:
    """The tokenizer of a folder; raises UserError where there is none."""
    import transformers

    if not any((folder / name).is_file() for name in WORDS):
        raise UserError(
            f"{owner}: no tokenizer in {folder.name}",
            expected=f"one of {', '.join(WORDS)}",
            remedy="Save it there with save_pretrained.",
        )
    with told_as_user_error(owner, f"the tokenizer in {folder.name}"), quiet():
        return transformers.AutoTokenizer.from_pretrained(folder)


def words_of(tokenizer: Any) -> object:
    """What makes one tokenizer another."""
    backend = getattr(tokenizer, "backend_tokenizer", None)
    if backend is None:
        return [type(tokenizer).__name__, tokenizer.get_vocab()]
    rules = json.loads(backend.to_str())
    return json.dumps({k: v for k, v in rules.items() if k not in ("padding", "truncation")})


def read_weights(owner: str, folder: Path) -> Mapping[str, Tensor]:
    """The tensors of a folder by name; none where it holds no weights."""
    for name in WEIGHTS:
        if (folder / name).is_file():
            return read_tensors(owner, folder / name)
    return {}


def token_ids(
    tokenizer: Any,
    texts: Sequence[str],
    length: int,
    padded_to: int | None = None,
    special: bool = True,
) -> Tensor:
    """Token numbers (text, token), cut at `length`, padded at the end."""
    found = [
        tokenizer(text, add_special_tokens=special, truncation=True, max_length=length)["input_ids"]
        for text in texts
    ]
    width = padded_to or max(map(len, found), default=0)
    pad = tokenizer.pad_token_id
    return torch.tensor([[*ids, *[pad] * (width - len(ids))] for ids in found], dtype=torch.long)


@contextmanager
def told_as_user_error(owner: str, what: str) -> Iterator[None]:
    """The reader of a stranger's files fails in any way it likes; a person reads one line."""
    try:
        yield
    except Exception as error:
        raise UserError(
            f"{owner}: {what} cannot be read", got=shorten(str(error), 160) or type(error).__name__
        ) from error
