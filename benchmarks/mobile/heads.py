"""Two heads on what CLIP sees: a linear probe, and a network with two hidden layers.

The probe reads features of unit length. The second hidden layer is the embedding of the network. A
clip is the mean of its frames' embeddings.
"""

import drawn_heads
import numpy as np
import torch
from drawn_heads import Features, Labels, learn
from jaxtyping import Float
from sklearn.linear_model import LogisticRegression
from torch import Tensor, nn

from mobile.scene import NAMES

FIRST, SECOND = 160, 64  # units of the two hidden layers
DROPPED = 0.2  # of the first layer's units
EPOCHS = 15
BATCH = 20
RATE = 1e-3
LOOSE = 10.0  # how little the probe's weights are held back
HEADS = ("adapted", "probe")


class Adapted(nn.Module):
    """Two hidden layers over features that are normalised picture by picture."""

    def __init__(self, dim: int, generator: torch.Generator) -> None:
        super().__init__()
        self._generator = generator
        self.normal = nn.LayerNorm(dim)
        self.first = nn.Linear(dim, FIRST)
        self.second = nn.Linear(FIRST, SECOND)
        self.out = nn.Linear(SECOND, len(NAMES))

    def see(self, features: Tensor) -> Tensor:
        """(..., dim) of each frame."""
        hidden = nn.functional.gelu(self.first(self.normal(features)))
        if self.training:
            chances = torch.rand(hidden.shape, generator=self._generator)
            hidden = hidden * (chances > DROPPED) / (1 - DROPPED)
        return nn.functional.gelu(self.second(hidden))

    def read(self, features: Tensor) -> Tensor:
        """(clip, dim)."""
        return self.see(features).mean(dim=1)


class Probe(nn.Module):
    """Logistic regression on features of unit length."""

    def __init__(self, dim: int) -> None:
        super().__init__()
        self.out = nn.Linear(dim, len(NAMES))

    def fit(self, features: Features, label: Labels) -> None:
        """Weights from (clip, frame, dim)."""
        probe = LogisticRegression(C=LOOSE, max_iter=2000)
        probe.fit(features.mean(axis=1), label)
        self.out.weight.data = torch.from_numpy(probe.coef_).float()
        self.out.bias.data = torch.from_numpy(probe.intercept_).float()

    def see(self, features: Tensor) -> Tensor:
        """What CLIP sees."""
        return features


def fit_adapted(features: Features, label: Labels, seed: int) -> Adapted:
    """Trained from nothing on what CLIP sees."""
    generator = torch.Generator().manual_seed(seed)
    network = Adapted(features.shape[-1], generator)
    learn(
        network,
        features,
        label,
        generator,
        epochs=EPOCHS,
        batch=BATCH,
        rate=RATE,
    )
    return network


def fit_probe(features: Features, label: Labels, seed: int) -> Probe:
    """Without chance: the seed only chose the clips."""
    probe = Probe(features.shape[-1])
    probe.fit(features, label)
    return probe


def look(pictures: np.ndarray) -> Float[np.ndarray, "picture dim"]:
    """What CLIP ViT-B/16 makes of (picture, row, col, channel) bytes, of unit length."""
    seen = drawn_heads.look(pictures)
    return np.asarray(seen / np.linalg.norm(seen, axis=1, keepdims=True))


def fit(head: str, features: Features, label: Labels, seed: int) -> Adapted | Probe:
    """A head of this name."""
    torch.set_num_threads(1)
    if head == "probe":
        return fit_probe(features, label, seed)
    return fit_adapted(features, label, seed)
