"""Two heads on what CLIP sees: a linear probe, and a small network with a hidden layer.

The hidden layer is the embedding of that network. A clip is the mean of its frames.
"""

from collections.abc import Callable, Mapping
from typing import Protocol

import numpy as np
import torch
from jaxtyping import Float, Int
from torch import nn
from worlds.stamps.tower import fit_head

from album.scene import NAMES

HIDDEN = 96
STEPS = 120
RATE = 2e-3

Features = Float[np.ndarray, "clip frame dim"]
Labels = Int[np.ndarray, " clip"]


class Head(Protocol):
    """What answers to embeddings of frames."""

    def embed(self, features: Features) -> Features:
        """The last layer but one, of each frame."""

    def logits(self, embedding: np.ndarray) -> np.ndarray:
        """(..., label) of (..., dim)."""


class Probe:
    """Logistic regression on what CLIP sees."""

    def __init__(self, features: Features, label: Labels, seed: int) -> None:
        self._weights = fit_head(features.mean(axis=1), label.tolist())

    def embed(self, features: Features) -> Features:
        """What CLIP sees."""
        return features

    def logits(self, embedding: np.ndarray) -> np.ndarray:
        """(..., label)."""
        return np.asarray(embedding @ self._weights[:-1] + self._weights[-1])


class Adapted:
    """One hidden layer, of which a clip is the mean over frames."""

    def __init__(self, features: Features, label: Labels, seed: int) -> None:
        torch.set_num_threads(1)
        generator = torch.Generator().manual_seed(seed)
        self._mean = features.mean(axis=(0, 1))
        self._spread = features.std(axis=(0, 1))
        self._hidden = nn.Linear(features.shape[-1], HIDDEN)
        self._out = nn.Linear(HIDDEN, len(NAMES))
        for layer in (self._hidden, self._out):
            spread = layer.in_features**-0.5
            nn.init.normal_(layer.weight, std=spread, generator=generator)
            nn.init.zeros_(layer.bias)
        self._descend(self._standardised(features), torch.from_numpy(label))

    def _standardised(self, features: Features) -> torch.Tensor:
        return torch.from_numpy((features - self._mean) / self._spread).float()

    def _descend(self, inputs: torch.Tensor, wanted: torch.Tensor) -> None:
        weights = [*self._hidden.parameters(), *self._out.parameters()]
        optimiser = torch.optim.AdamW(weights, lr=RATE, weight_decay=0.05)
        for _ in range(STEPS):
            hidden = torch.relu(self._hidden(inputs)).mean(dim=1)
            loss = nn.functional.cross_entropy(self._out(hidden), wanted)
            optimiser.zero_grad()
            loss.backward()
            optimiser.step()

    def embed(self, features: Features) -> Features:
        """The hidden layer."""
        with torch.inference_mode():
            hidden = torch.relu(self._hidden(self._standardised(features)))
        return np.asarray(hidden)

    def logits(self, embedding: np.ndarray) -> np.ndarray:
        """(..., label)."""
        with torch.inference_mode():
            logits = self._out(torch.from_numpy(embedding))
        return np.asarray(logits)


HEADS: Mapping[str, Callable[[Features, Labels, int], Head]] = {
    "probe": Probe,
    "adapted": Adapted,
}


def fit(head: str, features: Features, label: Labels, seed: int) -> Head:
    """A head of this name."""
    return HEADS[head](features, label, seed)


def answers(
    head: Head, features: Features
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Embeddings and logits of the frames by themselves, and logits of the clips."""
    embedding = head.embed(features)
    return embedding, head.logits(embedding), head.logits(embedding.mean(axis=1))
