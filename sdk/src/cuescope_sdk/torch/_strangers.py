"""Model files of strangers: nothing in them runs, nothing in them asks, and they fit in memory."""

import json
import os
import re
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from textwrap import shorten
from typing import Any

import torch
from safetensors.torch import load_file
from torch import Tensor, nn
from torch.nn.modules.module import (
    register_module_buffer_registration_hook,
    register_module_parameter_registration_hook,
)

from cuescope_core.atomic_files import read_whole
from cuescope_core.errors import UserError
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
# keys that say how many there are of something: lists as long are made before a network
COUNTS = re.compile(r".*(layers?|labels|classes)")
MOST_PARTS = 100_000
LARGEST_CONFIG = 2**26  # bytes
# a network beside its weights files: packed numbers take an eighth of what they stand for, and
# a tensor is counted again as it is filled
TIMES = 16
FEW_PARTS = 20_000
BYTES_A_PART = 512  # the least mean size of a tensor where there are many
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
    """True if a library refuses to run a model's own Python files."""
    return "trust_remote_code" in str(error)


def named_values(file: Path) -> Iterator[tuple[str, Any]]:
    """Every key with its value in a JSON file, at any depth.

    None of a file that cannot be read: the library that reads it next says why. Raises UserError
    for one that is larger than any configuration.
    """
    try:
        parts = [json.loads(read_whole(file, most=LARGEST_CONFIG))]
    except (OSError, ValueError, RecursionError):
        return
    while parts:
        part = parts.pop()
        if isinstance(part, Mapping):
            yield from ((str(name), value) for name, value in part.items())
            parts += part.values()
        elif isinstance(part, list):
            parts += part


def require_plain_config(owner: str, config: Path) -> None:
    """Raises UserError for a configuration that names what lies elsewhere, or is without an end.

    transformers fetches and runs that where `kernels` is installed: `attn_implementation` may be
    "kernels-community/flash-attn", or of anybody. It and timm fetch or read a backbone from a
    repository or folder (`local-dir:PATH`), and take weights of another file than those whose
    digest stands for the model. It makes a list of all layers or labels before it opens any.
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
        elif (
            COUNTS.fullmatch(name)
            and isinstance(value, int | float)
            and value > MOST_PARTS
        ):
            problem = "more parts than any network has"
            expected = f"at most {MOST_PARTS:,}"
        if problem is not None:
            raise UserError(
                f"{owner}: {config.name} names {problem}",
                expected=expected,
                got=f"{name}: {shorten(str(value), 80)}",
            )


@contextmanager
def refuse_larger_networks(owner: str, files: Sequence[Path]) -> Iterator[None]:
    """Within it a network that is built is one that its weights `files` can fill.

    Raises UserError as soon as it takes many times their bytes, or more parts than they can hold:
    a stranger's configuration of a hundred bytes may ask for all memory, or for layers without an
    end. What takes memory before it is registered is caught on the meta device alone. A network
    without files is the caller's own, and as large as he likes.
    """
    if not files:
        yield
        return
    size = sum(file.stat().st_size for file in files if file.is_file())
    most = TIMES * size + archive_limit(owner)
    most_parts = FEW_PARTS + size // BYTES_A_PART
    parts = taken = 0
    # the hooks are everybody's
    thread = threading.get_ident()

    def count(module: nn.Module, name: str, tensor: Tensor | None) -> None:
        nonlocal parts, taken
        if tensor is None or threading.get_ident() != thread:
            return
        parts += 1
        taken += tensor.nbytes
        if taken > most or parts > most_parts:
            raise UserError(
                f"{owner}: its configuration asks for a larger network than its weights",
                expected=f"at most {most / 1e9:,.1f} GB in {most_parts:,} tensors, for weights of "
                f"{size / 1e9:,.3f} GB",
                got=f"more, as of the {type(module).__name__}",
            )

    hooks = (
        register_module_parameter_registration_hook(count),
        register_module_buffer_registration_hook(count),
    )
    try:
        yield
    finally:
        for hook in hooks:
            hook.remove()


def read_weights(owner: str, path: Path) -> Any:
    """Read a weights file, tensors on the CPU; nothing in it runs. Raises UserError."""
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
    """The error of a file that holds no weights."""
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
