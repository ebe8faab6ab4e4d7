"""A mixer of patches (Tolstikhin et al., 2021): layers over places and over channels in turn."""

from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor, nn

PATCH = 8
GRID = 8  # patches a side
WIDTH = 72
BLOCKS = 4
AT_ONCE = 128


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


class Mixer(nn.Module):
    """Logits of labels from pictures, float (picture, 3, 64, 64)."""

    def __init__(self, labels: int) -> None:
        super().__init__()
        self.stem = nn.Conv2d(3, WIDTH, PATCH, stride=PATCH)
        self.blocks = nn.Sequential(*(Block() for _ in range(BLOCKS)))
        self.norm = nn.LayerNorm(WIDTH)
        self.head = nn.Linear(WIDTH, labels)

    def tokens(self, pictures: Tensor) -> Tensor:
        """Of each patch: float (picture, place, channel)."""
        patches = self.stem(pictures).flatten(2).transpose(1, 2)
        return self.norm(self.blocks(patches))

    def forward(self, pictures: Tensor) -> Tensor:
        """Float (picture, label)."""
        return self.head(self.tokens(pictures).mean(dim=1))


def _layers(size: int, hidden: int) -> nn.Sequential:
    return nn.Sequential(nn.Linear(size, hidden), nn.GELU(), nn.Linear(hidden, size))


def as_input(pictures: Sequence[np.ndarray]) -> Tensor:
    """Float (picture, 3, row, col), about -1 to 1."""
    pixels = torch.from_numpy(np.stack(pictures)).permute(0, 3, 1, 2)
    return pixels.float() / 127.5 - 1


@torch.no_grad()
def tokens_of(mixer: Mixer, pictures: Sequence[np.ndarray]) -> Tensor:
    """Of each patch, before the last layer: float (picture, place, channel)."""
    parts = as_input(pictures).split(AT_ONCE)
    return torch.cat([mixer.tokens(part) for part in parts])
