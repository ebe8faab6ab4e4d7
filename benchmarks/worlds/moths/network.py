"""Focal modulation: what a place says of itself is multiplied by its surroundings, near and
far, as much of each as it asks for (FocalNet; Yang et al., 2022). Of each channel the pool
takes the mean and the spread over all places.
"""

from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.functional import gelu

from worlds.networks import PlacesNetwork

STEM = 20  # channels
WIDTH = 44  # channels of a place
REACHES = (3, 5)  # places, each seen of what the one before saw
LAYERS = 3
SMALLEST = 1e-4  # variance, so that a root of it has a slope


class Modulation(nn.Module):
    """One layer: surroundings multiply, then each place by itself."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.width = width
        self.norm = nn.GroupNorm(1, width)
        self.ask = nn.Conv2d(width, 2 * width + len(REACHES) + 1, 1)
        self.reaches = nn.ModuleList(
            nn.Conv2d(width, width, reach, padding=reach // 2, groups=width)
            for reach in REACHES
        )
        self.mix = nn.Conv2d(width, width, 1)
        self.tell = nn.Conv2d(width, width, 1)
        self.alone = nn.Sequential(
            nn.GroupNorm(1, width),
            nn.Conv2d(width, 2 * width, 1),
            nn.GELU(),
            nn.Conv2d(2 * width, width, 1),
        )

    def forward(self, maps: Tensor) -> Tensor:
        """Float (picture, channel, row, col)."""
        parts = (self.width, self.width, len(REACHES) + 1)
        own, seen, gates = self.ask(self.norm(maps)).split(parts, dim=1)
        gathered = torch.zeros_like(own)
        for number, reach in enumerate(self.reaches):
            seen = gelu(reach(seen))
            gathered = gathered + seen * gates[:, number : number + 1]
        whole = gelu(seen.mean(dim=(2, 3), keepdim=True))
        gathered = gathered + whole * gates[:, -1:]
        maps = maps + self.tell(own * self.mix(gathered))
        told: Tensor = maps + self.alone(maps)
        return told


class Focal(PlacesNetwork):
    """Logits of labels from pictures, float (picture, row, col, 3)."""

    def __init__(self, labels: int) -> None:
        super().__init__()
        self.stem = nn.Sequential(
            nn.Conv2d(3, STEM, 3, stride=2, padding=1),
            nn.GroupNorm(4, STEM),
            nn.GELU(),
            nn.Conv2d(STEM, WIDTH, 3, stride=2, padding=1),
        )
        self.layers = nn.Sequential(*(Modulation(WIDTH) for _ in range(LAYERS)))
        self.norm = nn.LayerNorm(WIDTH)
        self.head = nn.Linear(2 * WIDTH, labels)

    @staticmethod
    def as_input(pictures: Sequence[np.ndarray]) -> Tensor:
        """Float (picture, row, col, 3), from -1 to 1."""
        return torch.from_numpy(np.stack(pictures)).float() / 127.5 - 1

    def tokens(self, pictures: Tensor) -> Tensor:
        """Of each of 10 x 10 places: float (picture, row, col, channel)."""
        maps = self.layers(self.stem(pictures.permute(0, 3, 1, 2)))
        told: Tensor = self.norm(maps.permute(0, 2, 3, 1))
        return told

    def pool(self, tokens: Tensor) -> Tensor:
        """Means, then spreads: float (picture, 2 * channel)."""
        places = tokens.flatten(1, 2)
        spread = (places.var(dim=1, correction=0) + SMALLEST).sqrt()
        return torch.cat([places.mean(dim=1), spread], dim=1)
