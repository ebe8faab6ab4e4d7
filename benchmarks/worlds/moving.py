"""Embeddings that an edit moves, and what a network's last layer makes of them."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from cuescope_sdk import Response, Trial
from cuescope_sdk.models import TowerEdit


def respond_moved(
    trials: Sequence[Trial],
    embeddings: np.ndarray,
    last: Callable[[Tensor], Tensor],
    labels: Sequence[str],
) -> list[Response]:
    """Logits and embeddings (trial, dim), each embedding moved as its trial asks.

    The logits of `labels` are put in the order in which a trial has its choices.
    """
    rows = torch.from_numpy(embeddings.copy())
    for number, trial in enumerate(trials):
        if isinstance(trial.edit, TowerEdit):
            rows[number] = _moved(trial.edit, rows[number])
    with torch.inference_mode():
        logits = last(rows).numpy()
    responses = []
    for trial, of_trial, row in zip(trials, logits, rows.numpy(), strict=True):
        columns = [labels.index(choice) for choice in trial.sample.choices]
        responses.append(Response(logits=of_trial[columns], embedding=row))
    return responses


@dataclass
class Embedding:
    """All of a tower that moves of embeddings ask for."""

    rows: Tensor

    @contextmanager
    def hook_embedding(self, change: Callable[[Tensor], Tensor]) -> Iterator[None]:
        """While open, the rows are what `change` makes of them."""
        kept = self.rows
        self.rows = change(kept)
        yield
        self.rows = kept


def _moved(edit: TowerEdit, row: Tensor) -> Tensor:
    embedding = Embedding(row[None])
    with edit.hooks(embedding):
        return embedding.rows[0]
