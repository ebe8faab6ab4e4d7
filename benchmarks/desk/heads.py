"""Two heads on what CLIP sees: a linear probe, and a network with a residual block.

The block adds to a frame's features what a narrow layer makes of them; the layer after it, of tanh,
is the embedding. A clip is the mean of its frames' embeddings. Both heads read features less
their mean over the clips of training, all in one measure.
"""

import torch
from drawn_heads import Features, Labels, Probe, learn
from torch import Tensor, nn

from desk.scene import NAMES

NARROW, HIDDEN = 64, 80  # units of the block's narrow layer, and of the embedding
EPOCHS = 20
BATCH = 25
RATE = 1.5e-3
TIGHT = 0.003  # of the probe's weights: the smaller, the more they are held back
HEADS = ("adapted", "probe")


class Centred(nn.Module):
    """Features less their mean, over the mean of their spreads."""

    def __init__(self, features: Features) -> None:
        super().__init__()
        seen = torch.from_numpy(features).flatten(0, 1)
        self.register_buffer("mean", seen.mean(dim=0))
        self.register_buffer("spread", seen.std(dim=0).mean())

    def forward(self, features: Tensor) -> Tensor:
        """(..., dim)."""
        return (features - self.mean) / self.spread


class Adapted(nn.Module):
    """A residual block and a layer of tanh."""

    def __init__(self, features: Features) -> None:
        super().__init__()
        dim = features.shape[-1]
        self.centre = Centred(features)
        self.narrow = nn.Linear(dim, NARROW)
        self.wide = nn.Linear(NARROW, dim)
        self.hidden = nn.Linear(dim, HIDDEN)
        self.out = nn.Linear(HIDDEN, len(NAMES))

    def see(self, features: Tensor) -> Tensor:
        """(..., dim) of each frame."""
        centre = self.centre(features)
        added = self.wide(nn.functional.silu(self.narrow(centre)))
        return torch.tanh(self.hidden(centre + added))

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
        return Probe(Centred(features), features, label, TIGHT)
    return fit_adapted(features, label, seed)
