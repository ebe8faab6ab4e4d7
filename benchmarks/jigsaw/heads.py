"""Two heads on what CLIP sees: a linear probe, and a network that joins a linear and a bent way.

The embedding is a linear layer of the features next to a layer that is rectified. A clip is the
mean of its frames' embeddings. Both heads read features as directions: of one length, less the mean
of training.
"""

import torch
from drawn_heads import Features, Labels, Probe, learn
from torch import Tensor, nn
from torch.nn.functional import leaky_relu, normalize

from jigsaw.scene import NAMES

LENGTH = 20.0  # of features
STRAIGHT, BENT = 32, 96  # units of the two ways
EPOCHS = 16
BATCH = 25
RATE = 1.5e-3
TIGHT = 0.1  # of the probe's weights: the smaller, the more they are held back
HEADS = ("adapted", "probe")


class Direction(nn.Module):
    """Features of one length, less their mean."""

    def __init__(self, features: Features) -> None:
        super().__init__()
        seen = normalize(torch.from_numpy(features).flatten(0, 1), dim=-1)
        self.register_buffer("mean", seen.mean(dim=0))

    def forward(self, features: Tensor) -> Tensor:
        """(..., dim)."""
        return LENGTH * (normalize(features, dim=-1) - self.mean)


class Adapted(nn.Module):
    """A linear way and a rectified one, side by side."""

    def __init__(self, features: Features) -> None:
        super().__init__()
        dim = features.shape[-1]
        self.direction = Direction(features)
        self.straight = nn.Linear(dim, STRAIGHT)
        self.bent = nn.Linear(dim, BENT)
        self.out = nn.Linear(STRAIGHT + BENT, len(NAMES))

    def see(self, features: Tensor) -> Tensor:
        """(..., dim) of each frame."""
        direction = self.direction(features)
        bent = leaky_relu(self.bent(direction), 0.1)
        return torch.cat([self.straight(direction), bent], dim=-1)

    def read(self, features: Tensor) -> Tensor:
        """(clip, dim)."""
        return self.see(features).mean(dim=1)


def fit_adapted(features: Features, label: Labels, seed: int) -> Adapted:
    """Trained from nothing on what CLIP sees."""
    generator = torch.Generator().manual_seed(seed)
    network = Adapted(features)
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


def fit(head: str, features: Features, label: Labels, seed: int) -> Adapted | Probe:
    """A head of this name."""
    torch.set_num_threads(1)
    if head == "probe":
        return Probe(Direction(features), features, label, TIGHT)
    return fit_adapted(features, label, seed)
