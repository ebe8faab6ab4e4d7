"""A head on what CLIP sees of puppets: an adapter that bends features, and cosines to labels.

Adapter and features are added in fixed shares (Gao et al., CLIP-Adapter, 2021); labels are
directions that are learned with it. The bent features are the embedding, and a clip is their mean
over frames.
"""

import drawn_heads
import numpy as np
import torch
from drawn_heads import Features, Labels, learn
from jaxtyping import Float
from PIL import Image
from torch import Tensor, nn
from torch.nn.functional import normalize
from worlds.stamps.compositing import SIDE

from puppets.scene import NAMES

NARROW = 64  # units of the adapter
BENT = 0.6  # share of the adapter
SCALE = 20.0  # logits are cosines times this
EPOCHS = 40
BATCH = 20
RATE = 3e-3
HEADS = ("adapted",)


class Cosines(nn.Module):
    """Logits as cosines to one direction of each label."""

    def __init__(self, dim: int) -> None:
        super().__init__()
        self.directions = nn.Parameter(torch.empty(len(NAMES), dim))

    def forward(self, embedding: Tensor) -> Tensor:
        """(..., label)."""
        return SCALE * normalize(embedding, dim=-1) @ normalize(self.directions).T


class Adapted(nn.Module):
    """CLIP's features about their mean, bent by a narrow layer."""

    def __init__(self, mean: Tensor) -> None:
        super().__init__()
        dim = len(mean)
        self.register_buffer("mean", mean)
        self.narrow = nn.Linear(dim, NARROW)
        self.wide = nn.Linear(NARROW, dim)
        self.out = Cosines(dim)

    def see(self, features: Tensor) -> Tensor:
        """(..., dim) of each frame."""
        plain = normalize(features - self.mean, dim=-1)
        bent = normalize(self.wide(torch.relu(self.narrow(plain))), dim=-1)
        return normalize(plain + BENT * (bent - plain), dim=-1)

    def read(self, features: Tensor) -> Tensor:
        """(clip, dim)."""
        return self.see(features).mean(dim=1)


def look(pictures: np.ndarray) -> Float[np.ndarray, "picture dim"]:
    """What CLIP ViT-B/16 makes of (picture, row, col, channel) bytes, twice as large."""
    images = map(Image.fromarray, pictures)
    large = [np.asarray(image.resize((SIDE, SIDE))) for image in images]
    return drawn_heads.look(np.stack(large))


def fit(head: str, features: Features, label: Labels, seed: int) -> Adapted:
    """Trained from nothing on what CLIP sees; there is one kind of head."""
    torch.set_num_threads(1)
    generator = torch.Generator().manual_seed(seed)
    network = Adapted(torch.from_numpy(features).mean(dim=(0, 1)))
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
