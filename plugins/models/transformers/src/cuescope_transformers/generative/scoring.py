"""Log-probabilities of choices as continuations, from as few rows as they need."""

from collections.abc import Sequence

import torch
from jaxtyping import Float
from torch import Tensor

Tokens = tuple[int, ...]


def rows_for(answers: Sequence[Tokens]) -> dict[Tokens, list[int]]:
    """What must be fed after the prompt, with the indices of the answers that it serves.

    The last token of an answer is only predicted, never fed, and a row also serves what it begins
    with: answers of one token share the row () or any other.
    """
    rows: dict[Tokens, list[int]] = {}
    for index in sorted(range(len(answers)), key=lambda index: -len(answers[index])):
        fed = answers[index][:-1]
        row = next((row for row in rows if row[: len(fed)] == fed), fed)
        rows.setdefault(row, []).append(index)
    return rows


def log_probability(answer: Tokens, predicted: Float[Tensor, "step vocabulary"]) -> float:
    """Sum over the answer's tokens of their log-probability; `predicted` are raw logits."""
    steps = predicted[: len(answer)].float().log_softmax(-1)
    return float(steps[torch.arange(len(answer)), torch.tensor(answer)].sum())
