"""Selective kernels: branches that reach unlike far, weighed for each channel by all of the
picture (SKNet: Li et al., 2019), and a generalised mean of places (Radenovic et al., 2018).
"""

from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor, nn

from worlds.networks import PlacesNetwork

STEM = 24
WIDTH = 48  # channels of a place
GROUPS = 4  # of channels that are normalised together
REACHES = (1, 2, 3)  # dilations of the branches
BLOCKS = 2
SQUEEZED = 16  # units that weigh the branches
LEAST = 1e-4  # of a map, as powers of 0 have no slope


class SelectiveKernels(nn.Module):
    """Branches of unlike reach; what all places hold says how much each channel takes of each."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.mix = nn.Conv2d(width, width, 1)
        self.branches = nn.ModuleList(
            nn.Conv2d(width, width, 3, padding=reach, dilation=reach)
            for reach in REACHES
        )
        self.squeeze = nn.Linear(width, SQUEEZED)
        self.weigh = nn.Linear(SQUEEZED, len(REACHES) * width)
        self.norm = nn.GroupNorm(GROUPS, width)

    def forward(self, maps: Tensor) -> Tensor:
        """Float (picture, channel, row, col), of the same shape."""
        mixed = self.mix(maps).relu()
        seen = [branch(mixed) for branch in self.branches]
        means = torch.stack([reached.mean(dim=(2, 3)) for reached in seen])
        squeezed = self.squeeze(means.sum(dim=0)).relu()
        logits = self.weigh(squeezed).unflatten(1, (len(REACHES), -1, 1, 1))
        shares = logits.softmax(dim=1).unbind(dim=1)
        selected = torch.zeros_like(maps)
        for share, reached in zip(shares, seen, strict=True):
            selected = selected + share * reached
        return (maps + self.norm(selected)).relu()


class GeneralisedMean(nn.Module):
    """A mean of powers of places; each channel learns its power, from a mean to a maximum."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.power = nn.Parameter(torch.full((width,), 3.0))

    def forward(self, places: Tensor) -> Tensor:
        """From float (picture, place, channel), not negative: (picture, channel)."""
        power = self.power.clamp(1, 8)
        return places.clamp(min=LEAST).pow(power).mean(dim=1).pow(1 / power)


class Selective(PlacesNetwork):
    """Logits of labels from pictures, float (picture, row, col, 3)."""

    def __init__(self, labels: int) -> None:
        super().__init__()
        self.stem = nn.Conv2d(3, STEM, 6, stride=4, padding=1)
        self.down = nn.Conv2d(STEM, WIDTH, 4, stride=2, padding=1)
        self.norm = nn.GroupNorm(GROUPS, WIDTH)
        self.blocks = nn.Sequential(*(SelectiveKernels(WIDTH) for _ in range(BLOCKS)))
        self.mean = GeneralisedMean(WIDTH)
        self.read = nn.LayerNorm(WIDTH)
        self.head = nn.Linear(WIDTH, labels)

    @staticmethod
    def as_input(pictures: Sequence[np.ndarray]) -> Tensor:
        """Float (picture, row, col, 3), about -2 to 1, as most of a slide is bright."""
        return torch.from_numpy(np.stack(pictures)).float() / 85 - 2

    def tokens(self, pictures: Tensor) -> Tensor:
        """Of each of 8 x 8 places: float (picture, row, col, channel), not negative."""
        maps = self.stem(pictures.permute(0, 3, 1, 2)).relu()
        maps = self.norm(self.down(maps)).relu()
        return self.blocks(maps).permute(0, 2, 3, 1)

    def pool(self, tokens: Tensor) -> Tensor:
        """What the last layer reads: float (picture, channel)."""
        return self.read(self.mean(tokens.flatten(1, 2)))
