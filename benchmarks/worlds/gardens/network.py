"""A mixer of patches (Tolstikhin et al., 2021): layers over places and over channels in turn."""

from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor, nn

from worlds.networks import PlacesNetwork

PATCH = 8
GRID = 8  # patches a side
WIDTH = 72
BLOCKS = 4


class Block(nn.Module):
    """One layer over places, and one over channels."""

    def __init__(self) -> None:
        super().__init__()
        self.before_places = nn.LayerNorm(WIDTH)
        self.places = _layers(GRID * GRID, 96)
        self.before_channels = nn.LayerNorm(WIDTH)
        self.channels = _layers(WIDTH, 144)

    def forward(self, tokens: Tensor) -> Tensor:
        """Float (picture, place, channel), as it came."""
        mixed = self.places(self.before_places(tokens).transpose(1, 2)).transpose(1, 2)
        tokens = tokens + mixed
        return tokens + self.channels(self.before_channels(tokens))


class Mixer(PlacesNetwork):
    """Logits of labels from pictures, float (picture, 3, 64, 64)."""

    def __init__(self, labels: int) -> None:
        super().__init__()
        self.stem = nn.Conv2d(3, WIDTH, PATCH, stride=PATCH)
        self.blocks = nn.Sequential(*(Block() for _ in range(BLOCKS)))
        self.norm = nn.LayerNorm(WIDTH)
        self.head = nn.Linear(WIDTH, labels)

    @staticmethod
    def as_input(pictures: Sequence[np.ndarray]) -> Tensor:
        """Float (picture, 3, row, col), about -1 to 1."""
        pixels = torch.from_numpy(np.stack(pictures)).permute(0, 3, 1, 2)
        return pixels.float() / 127.5 - 1

    def tokens(self, pictures: Tensor) -> Tensor:
        """Of each patch: float (picture, row, col, channel)."""
        patches = self.stem(pictures).flatten(2).transpose(1, 2)
        return self.norm(self.blocks(patches)).unflatten(1, (GRID, GRID))

    def pool(self, tokens: Tensor) -> Tensor:
        """What the last layer reads: float (picture, channel)."""
        return tokens.flatten(1, 2).mean(dim=1)


def _layers(size: int, hidden: int) -> nn.Sequential:
    return nn.Sequential(nn.Linear(size, hidden), nn.GELU(), nn.Linear(hidden, size))
