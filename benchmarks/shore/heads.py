"""Two heads on what CLIP sees: a linear probe, and a network with a layer about a shortcut.

The network narrows features, adds what a further layer makes of them to them (He et al., ResNet,
2015), and normalises the sum, which is the embedding. A clip is the mean of its frames' embeddings.
The probe is that of globe. Both heads read standardised features.
"""

import torch
from drawn_heads import Features, Labels, Probe, learn
from globe.heads import TIGHT, Standard
from torch import Tensor, nn

from shore.scene import NAMES

HIDDEN = 64
EPOCHS = 16
BATCH = 20
RATE = 1e-3
HEADS = ("adapted", "probe")


class Adapted(nn.Module):
    """A narrow layer, and one more beside a shortcut."""

    def __init__(self, features: Features) -> None:
        super().__init__()
        self.standard = Standard(features)
        self.narrow = nn.Linear(features.shape[-1], HIDDEN)
        self.more = nn.Linear(HIDDEN, HIDDEN)
        self.normal = nn.LayerNorm(HIDDEN)
        self.out = nn.Linear(HIDDEN, len(NAMES))

    def see(self, features: Tensor) -> Tensor:
        """(..., dim) of each frame."""
        narrow = self.narrow(self.standard(features))
        return self.normal(narrow + self.more(nn.functional.gelu(narrow)))

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
