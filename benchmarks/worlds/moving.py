"""Embeddings that an edit moves, and what a network's last layer makes of them."""

from collections.abc import Callable, Sequence
from types import SimpleNamespace

import numpy as np
import torch
from torch import Tensor

from cuescope_sdk import Response, Trial
from cuescope_sdk.models import TowerEdit


def respond_moved(
    trials: Sequence[Trial],
    embeddings: np.ndarray,
    last: Callable[[Tensor], Tensor],
) -> list[Response]:
    """Logits and embeddings (trial, dim), each embedding moved as its trial asks."""
    rows = torch.from_numpy(embeddings.copy())
    for number, trial in enumerate(trials):
        if isinstance(trial.edit, TowerEdit):
            rows[number] = _moved(trial.edit, rows[number])
    with torch.inference_mode():
        logits = last(rows).numpy()
    return [
        Response(logits=of_trial, embedding=row)
        for of_trial, row in zip(logits, rows.numpy(), strict=True)
    ]


def _moved(edit: TowerEdit, row: Tensor) -> Tensor:
    # all of a tower that moves of embeddings ask for
    tower = SimpleNamespace(encode=lambda _: row[None])
    with edit.hooks(tower):
        return tower.encode({})[0]
