"""Checkpoints as the authors publish them: read without running anything, and filled in strictly.

Training scripts save more than weights: options, schedules, optimizers, of whatever classes. Those
classes are never imported; an empty placeholder stands for each.
"""

import re
from pathlib import Path
from textwrap import shorten
from typing import Any

import torch
from safetensors.torch import load_file
from torch.serialization import get_unsafe_globals_in_checkpoint, safe_globals

from cuescope_sdk.models import require_small_archive
from cuescope_sdk.torch import (
    Checkpoint,
    require_stored_tensors,
    state_of,
    unreadable_weights,
)
from cuescope_videoqa.loading import require_file

# not trained: the library makes them anew
BUFFERS = re.compile(r"(^|\.)(position_ids|relative_position_index)$")


class Placeholder(dict[Any, Any]):
    """In place of an object of a stranger's class: it takes anything and does nothing."""

    def __new__(cls, *args: object, **named: object) -> "Placeholder":
        return super().__new__(cls)

    def __init__(self, *args: object, **named: object) -> None:
        super().__init__()

    def __setstate__(self, state: object) -> None:
        """Forget it."""


def read_checkpoint(owner: str, path: Path) -> Checkpoint:
    """The tensors of a checkpoint, by the authors' names; raises UserError for what is none.

    Takes the state dict itself, one under "model" or "state_dict", and safetensors.
    """
    state = state_of(owner, path, read_tensors(owner, path))
    trained = {
        name: tensor for name, tensor in state.items() if not BUFFERS.search(name)
    }
    return Checkpoint(f"{owner}: {path.name}", trained)


def read_tensors(owner: str, path: Path) -> dict[Any, Any]:
    """The mapping that a file holds, its tensors on the CPU; raises UserError."""
    path = require_file(owner, path)
    # first: a small archive may unpack to far more than its size
    require_small_archive(owner, path)
    try:
        content = _load(path)
    except (
        Exception
    ) as error:  # the reader of a stranger's bytes fails in any way it likes
        reason = f"{type(error).__name__} ({shorten(str(error), 120)})"
        raise unreadable_weights(owner, path, reason) from error
    if not isinstance(content, dict):
        raise unreadable_weights(owner, path, f"a {type(content).__name__}")
    require_stored_tensors(owner, path, content)
    return content


def _load(path: Path) -> Any:
    if path.suffix == ".safetensors":
        return load_file(path)
    # One open file for both readings: a checkpoint may be of gigabytes, on a slow disk.
    with path.open("rb") as file:
        try:
            foreign = get_unsafe_globals_in_checkpoint(file)
        except ValueError:  # the format before torch 1.6
            foreign = []
        file.seek(0)  # the first reading left it at its end
        placeholders: list[Any] = [
            (type("Placeholder", (Placeholder,), {}), n) for n in foreign
        ]
        with safe_globals(placeholders):
            return torch.load(file, map_location="cpu", weights_only=True)
