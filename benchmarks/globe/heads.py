"""Two heads on what CLIP sees: a linear probe, and a network with a gated layer.

Half of the gated layer says how much of the other half passes; a layer after it is the embedding.
A clip is the mean of its frames' embeddings. Both heads read standardised features.
"""

import torch
from drawn_heads import Features, Labels, Probe, learn
from torch import Tensor, nn

from globe.scene import NAMES

GATED, HIDDEN = 96, 72  # units that pass the gate, and of the embedding
EPOCHS = 18
BATCH = 20
RATE = 1e-3
TIGHT = 0.003  # of the probe's weights: the smaller, the more they are held back
HEADS = ("adapted", "probe")


class Standard(nn.Module):
    """Each feature less its mean, over its spread."""

    def __init__(self, features: Features) -> None:
        super().__init__()
        seen = torch.from_numpy(features).flatten(0, 1)
        self.register_buffer("mean", seen.mean(dim=0))
        self.register_buffer("spread", seen.std(dim=0))

    def forward(self, features: Tensor) -> Tensor:
        """(..., dim)."""
        return (features - self.mean) / self.spread


class Adapted(nn.Module):
    """A gated layer and a layer of softplus."""

    def __init__(self, features: Features) -> None:
        super().__init__()
        self.standard = Standard(features)
        self.gated = nn.Linear(features.shape[-1], 2 * GATED)
        self.hidden = nn.Linear(GATED, HIDDEN)
        self.out = nn.Linear(HIDDEN, len(NAMES))

    def see(self, features: Tensor) -> Tensor:
        """(..., dim) of each frame."""
        passed = nn.functional.glu(self.gated(self.standard(features)))
        return nn.functional.softplus(self.hidden(passed))

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
        return Probe(Standard(features), features, label, TIGHT)
    return fit_adapted(features, label, seed)
