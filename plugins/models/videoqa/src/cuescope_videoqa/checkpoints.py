"""Checkpoints as the authors publish them: read without running anything, and filled in strictly.

Training scripts save more than weights: options, schedules, optimizers, of whatever classes. Those
classes are never imported; an empty placeholder stands for each.
"""

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

from torch.serialization import get_unsafe_globals_in_checkpoint, safe_globals

from cuescope_sdk.models import require_small_archive
from cuescope_sdk.torch import Checkpoint
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
    """The tensors of a checkpoint, by the authors' names; raises UserError for what is none."""
    path = require_file(owner, path)
    # first: a small archive may unpack to far more than its size
    require_small_archive(owner, path)
    with safe_globals(_placeholders(path)):
        file = Checkpoint.read(owner, path)
    trained = {
        name: tensor
        for name, tensor in file.tensors.items()
        if not BUFFERS.search(name)
    }
    return replace(file, tensors=trained)


def _placeholders(path: Path) -> list[Any]:
    """One for each class that is not torch's."""
    try:
        names = get_unsafe_globals_in_checkpoint(path)
    except Exception:  # no archive of torch's: whoever reads it says what is wrong
        return []
    return [(type("Placeholder", (Placeholder,), {}), name) for name in names]
