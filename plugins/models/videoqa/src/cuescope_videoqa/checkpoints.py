"""Checkpoints as the authors publish them: read without running anything, and filled in strictly.

Training scripts save more than weights: options, schedules, optimizers, of whatever classes. Those
classes are never imported; an empty placeholder stands for each.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from textwrap import shorten
from typing import Any

import torch
from safetensors.torch import load_file
from torch import Tensor, nn
from torch.serialization import get_unsafe_globals_in_checkpoint, safe_globals

from cuescope_sdk import UserError
from cuescope_sdk.models import require_small_archive
from cuescope_sdk.torch import load_state_strictly, require_stored_tensors, unreadable_weights
from cuescope_videoqa.loading import require_file

Tensors = dict[str, Tensor]
STATE_NAMES = ("model", "state_dict")
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


def read_checkpoint(owner: str, path: Path) -> "Checkpoint":
    """The tensors of a checkpoint, by the authors' names; raises UserError for what is none.

    Takes the state dict itself, one under "model" or "state_dict", and safetensors. A prefix of
    data-parallel training is dropped.
    """
    content = read_tensors(owner, path)
    for name in STATE_NAMES:
        if isinstance(content.get(name), dict):
            content = content[name]
            break
    tensors = {str(name): value for name, value in content.items() if isinstance(value, Tensor)}
    if not tensors:
        raise unreadable_weights(owner, path, "no tensor with a name")
    trained = {}
    for name, tensor in tensors.items():
        if not BUFFERS.search(name):
            trained[name.removeprefix("module.")] = tensor
    return Checkpoint(owner, path.name, trained)


def read_tensors(owner: str, path: Path) -> dict[Any, Any]:
    """The mapping that a file holds, its tensors on the CPU; raises UserError."""
    path = require_file(owner, path)
    require_small_archive(owner, path)
    try:
        content = _load(path)
    except Exception as error:  # the reader of a stranger's bytes fails in any way it likes
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
        placeholders: list[Any] = [(_placeholder(), name) for name in foreign]
        with safe_globals(placeholders):
            return torch.load(file, map_location="cpu", weights_only=True)


def _placeholder() -> type:
    return type("Placeholder", (Placeholder,), {})


@dataclass(frozen=True, eq=False)
class Checkpoint:
    """Tensors by name: what their shapes tell, and how they get into a network.

    `title` names the file in errors, `spare` the tensors that a network may do without. A tensor
    that is not there is a UserError.
    """

    owner: str
    title: str
    tensors: Tensors
    spare: tuple[str, ...] = ()

    def size(self, name: str, axis: int = 0) -> int:
        """The size of a tensor along an axis."""
        tensor = self.tensors.get(name)
        if tensor is None or tensor.ndim <= axis:
            raise UserError(
                f"{self.owner}: {self.title} is no checkpoint of this model",
                expected=f"a tensor '{name}'",
                got=_first_names(sorted(self.tensors)),
            )
        return int(tensor.shape[axis])

    def has(self, prefix: str) -> bool:
        """Whether there is a tensor of a part."""
        return any(name.startswith(f"{prefix}.") for name in self.tensors)

    def layers(self, prefix: str) -> int:
        """How many layers are numbered after `prefix`."""
        pattern = re.compile(re.escape(prefix) + r"\.(\d+)\.")
        count = 0
        for name in self.tensors:
            if match := pattern.match(name):
                count = max(count, int(match[1]) + 1)
        return count

    def first(self, prefix: str, name: str) -> int:
        """The number of the first layer that has a tensor `name`; all of them where none has."""
        count = self.layers(prefix)
        for layer in range(count):
            if f"{prefix}.{layer}.{name}" in self.tensors:
                return layer
        return count

    def heads(self, width: int, head_dim: int) -> int:
        """Attention heads of a width; raises UserError where it cannot be cut so."""
        if width % head_dim:
            raise UserError(
                f"{self.owner}: {self.title} has layers {width} wide",
                expected=f"a multiple of head_dim={head_dim}",
                remedy="Give the checkpoint's own with -M head_dim=N.",
            )
        return width // head_dim

    def load_into(self, network: nn.Module, ignored: tuple[str, ...]) -> None:
        """Load every tensor of the network; raises UserError for one that lacks, or fits nowhere.

        It can do without tensors whose names start as those `ignored`.
        """
        load_state_strictly(
            network,
            self.tensors,
            f"{self.owner}: {self.title} does not fit",
            spare=(*ignored, *self.spare),
        )


def _first_names(names: Sequence[str]) -> str:
    more = f" and {len(names) - 2} more" if len(names) > 2 else ""
    return ", ".join(names[:2]) + more
