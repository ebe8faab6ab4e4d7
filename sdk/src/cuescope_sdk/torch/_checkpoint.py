"""A checkpoint as a model's authors publish it: tensors by name, and the sizes that they tell."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from torch import Tensor, nn

from cuescope_core.errors import UserError
from cuescope_sdk.torch._strangers import read_weights, unreadable_weights

WRAPPERS = ("model", "state_dict")  # under which training scripts write the tensors


@dataclass(frozen=True, eq=False)
class Checkpoint:
    """Tensors by the authors' names: what their shapes tell, and how they fill a network.

    `title` begins the errors: the plugin and its file. `describe` turns a name into their words.
    Tensors whose names start as one of `spare` may fit nowhere.
    """

    title: str
    tensors: Mapping[str, Tensor]
    describe: Callable[[str], str] = str
    spare: tuple[str, ...] = ()

    @classmethod
    def read(cls, owner: str, path: Path) -> Self:
        """From safetensors, a state dict, or one that training wrote under "model" or "state_dict".

        Nothing in the file runs; a prefix of data-parallel training is dropped. `owner` is the
        plugin that speaks. Raises UserError for a file without tensors.
        """
        content = read_weights(owner, path)
        state = content if isinstance(content, dict) else {}
        for wrapper in WRAPPERS:
            if isinstance(state.get(wrapper), dict):
                state = state[wrapper]
                break
        tensors = {}
        for name, value in state.items():
            if isinstance(value, Tensor):
                tensors[str(name).removeprefix("module.")] = value
        if not tensors:
            raise unreadable_weights(owner, path, "no tensor with a name")
        return cls(f"{owner}: {path.name}", tensors)

    def has(self, prefix: str) -> bool:
        """True if there is a tensor of a part."""
        return any(name.startswith(f"{prefix}.") for name in self.tensors)

    def size(self, name: str, axis: int = 0) -> int:
        """The size of a tensor along an axis; raises UserError where there is none."""
        tensor = self.tensors.get(name)
        if tensor is None or tensor.ndim <= axis:
            raise UserError(
                f"{self.title} does not fit",
                expected=f"a tensor '{self.describe(name)}'",
                got="none of this name"
                if tensor is None
                else f"shape {tuple(tensor.shape)}",
            )
        return int(tensor.shape[axis])

    def layers(self, prefix: str) -> int:
        """How many layers are numbered after `prefix`."""
        pattern = re.compile(re.escape(prefix) + r"\.(\d+)\.")
        count = 0
        for name in self.tensors:
            if match := pattern.match(name):
                count = max(count, int(match[1]) + 1)
        return count

    def layers_with(self, prefix: str, name: str) -> list[int]:
        """The numbers of the layers that have a tensor `name`."""
        numbers = range(self.layers(prefix))
        return [
            number for number in numbers if f"{prefix}.{number}.{name}" in self.tensors
        ]

    def heads(self, width: int, head_dim: int, option: str = "head_dim") -> int:
        """Attention heads of a width; raises UserError where it cannot be cut so."""
        if width % head_dim:
            raise UserError(
                f"{self.title} has layers {width} wide",
                expected=f"a multiple of {option}={head_dim}",
                remedy=f"Give the checkpoint's own with -O model.{option}=N.",
            )
        return width // head_dim

    def load_into(self, network: nn.Module, spare: tuple[str, ...] = ()) -> None:
        """Give every parameter and buffer of a network its tensor; `spare` are further ones.

        A network with one tensor left at random still answers, and wrongly. So a tensor that is
        missing, fits nowhere or has another shape is a UserError.
        """
        spare = (*self.spare, *spare)
        tensors = self.tensors
        state = network.state_dict()
        faults = {
            "missing": [name for name in state if name not in tensors],
            "that fit nowhere": [
                name
                for name in tensors
                if name not in state and not name.startswith(spare)
            ],
            "misshapen": [
                name
                for name in state
                if name in tensors and state[name].shape != tensors[name].shape
            ],
        }
        for fault, names in faults.items():
            if names:
                first = names[0]
                shape = ""
                if first in tensors:
                    shape = f", shape {tuple(tensors[first].shape)}"
                if fault == "misshapen":
                    shape += f" instead of {tuple(state[first].shape)}"
                raise UserError(
                    f"{self.title} does not fit",
                    expected=f"{len(state)} tensors of the model and no other",
                    got=f"{len(names)} {fault}, the first {self.describe(first)}{shape}",
                )
        # without the spare ones, which torch would refuse
        network.load_state_dict({name: tensors[name] for name in state})
