"""Model files of strangers: nothing in them runs, nothing in them asks, and they fit in memory."""

import json
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from textwrap import shorten
from typing import Any

import torch
from safetensors.torch import load_file
from torch import Tensor

from cuescope.errors import UserError
from cuescope_sdk.models._archives import (
    archive_limit,
    is_stored,
    require_small_archive,
    too_much,
)

# keys of a configuration: a network by its name, and files of weights
BACKBONES = ("backbone", "architecture")
OTHER_WEIGHTS = ("transformers_weights", "checkpoint_path")
SOURCE_MARKS = frozenset(":/\\")  # of a repository or a folder
OWN_CODE = "code of its own, which is not run unasked"


def ask_nobody() -> None:
    """From now on transformers refuses code of a model's own where it would ask on standard input.

    It asks where a caller leaves `trust_remote_code` out, and other libraries call it so.
    """
    from transformers import dynamic_module_utils

    # seconds to wait for an answer: 0 is a refusal
    dynamic_module_utils.TIME_OUT_REMOTE_CODE = 0


def fault_of(error: Exception) -> str:
    """Why a stranger's files could not be read, in a line."""
    # transformers has no class for this refusal
    return (
        OWN_CODE
        if asks_for_code(error)
        else shorten(str(error), 200) or type(error).__name__
    )


def asks_for_code(error: Exception) -> bool:
    """Whether a library refuses to run a model's own Python files."""
    return "trust_remote_code" in str(error)


def named_values(file: Path) -> Iterator[tuple[str, Any]]:
    """Every key with its value in a JSON file, at any depth.

    None of a file that cannot be read: the library that reads it next says why.
    """
    try:
        parts = [json.loads(file.read_text(encoding="utf-8"))]
    except (OSError, ValueError, RecursionError):
        return
    while parts:
        part = parts.pop()
        if isinstance(part, Mapping):
            yield from ((str(name), value) for name, value in part.items())
            parts += part.values()
        elif isinstance(part, list):
            parts += part


def refuse_kernels(owner: str, config: Path) -> None:
    """Raises UserError for a configuration that names what lies elsewhere, such as compiled code.

    transformers fetches and runs that where `kernels` is installed: `attn_implementation` may be
    "kernels-community/flash-attn", or of anybody. It and timm fetch or read a backbone from a
    repository or folder (`local-dir:PATH`), and take weights of another file than those whose
    digest stands for the model.
    """
    for name, value in named_values(config):
        names = value.values() if isinstance(value, Mapping) else [value]
        texts = [str(each) for each in names]
        problem = None
        if name.endswith("_implementation") and any("/" in text for text in texts):
            problem = "compiled code of the hub, which is not run unasked"
            expected = "no such key, or 'eager' or 'sdpa'"
        elif name in BACKBONES and any(set(text) & SOURCE_MARKS for text in texts):
            problem = "a network that lies elsewhere"
            expected = (
                "a name of timm's own list, or its configuration as backbone_config"
            )
        elif name in OTHER_WEIGHTS and value is not None:
            problem = "other weights than those of its folder"
            expected = "no such key"
        if problem is not None:
            raise UserError(
                f"{owner}: {config.name} names {problem}",
                expected=expected,
                got=f"{name}: {shorten(str(value), 80)}",
            )


def read_weights(owner: str, path: Path) -> Any:
    """What a weights file holds, tensors on the CPU; nothing in it runs. Raises UserError."""
    # safetensors says that such a file is not there
    if path.is_file() and not os.access(path, os.R_OK):
        raise UserError(
            f"{owner}: {path.name} may not be read by this user",
            remedy=f"chmod a+r {path.name} (safetensors writes files for their owner alone)",
        )
    try:
        if path.suffix == ".safetensors":
            return load_file(path)
        require_small_archive(owner, path)
        # mapped: what nobody looks at is never read from the disk
        content = torch.load(
            path,
            map_location="cpu",
            # tensors alone: a pickle would run the code of whoever made the file (SECURITY.md)
            weights_only=True,
            mmap=is_stored(path),
        )
        require_stored_tensors(owner, path, content)
    except UserError:
        raise
    except (
        Exception
    ) as error:  # the reader of a stranger's bytes fails in any way it likes
        raise unreadable_weights(
            owner, path, f"{type(error).__name__} ({shorten(str(error), 120)})"
        ) from error
    return content


def unreadable_weights(owner: str, path: Path, got: str) -> UserError:
    """What is said of a file that holds no weights."""
    return UserError(
        f"{owner}: {path.name} cannot be read as weights",
        expected="safetensors, or a state dict saved by torch.save",
        got=got,
        remedy="Save model.state_dict() with safetensors.torch.save_file.",
    )


def require_stored_tensors(owner: str, path: Path, content: Any) -> None:
    """Raises UserError for tensors that are larger than their bytes in the file: views of one."""
    more = 0
    for tensor in _tensors(content):
        if tensor.is_meta:
            raise unreadable_weights(owner, path, "a tensor without its numbers")
        whole = tensor.numel() * tensor.element_size()
        more += max(whole - tensor.untyped_storage().nbytes(), 0)
    if more > archive_limit(owner):
        raise too_much(owner, path, more)


def _tensors(content: Any) -> Iterator[Tensor]:
    parts = [content]
    known = set[int]()
    while parts:
        part = parts.pop()
        if isinstance(part, Tensor):
            yield part
        elif isinstance(part, Mapping | list | tuple) and id(part) not in known:
            known.add(id(part))  # a pickle may hold itself
            parts += part.values() if isinstance(part, Mapping) else part
