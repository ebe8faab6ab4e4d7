"""Convolutions whose filters look in four directions: each is turned by quarters, and what is found
is kept of each direction (group-equivariant networks: Cohen and Welling, 2016).
"""

from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.functional import conv2d, max_pool2d

from worlds.networks import PlacesNetwork

TURNS = 4
WIDTHS = (6, 12, 18)  # filters of the layers after which there are fewer places
WIDTH = 28  # filters of the last layer
PLACES = 8  # a side, of which the pool reads
INNER = slice(2, 6)  # of them, the middle
FEW = 16  # places in it


class Lifting(nn.Module):
    """Filters of a picture, each turned four ways: (picture, filter x turn, row, col)."""

    def __init__(self, filters: int) -> None:
        super().__init__()
        self.filters = nn.Parameter(torch.randn(filters, 3, 4, 4) / 7)

    def forward(self, pictures: Tensor) -> Tensor:
        """From float (picture, 3, row, col), to half as many rows and columns."""
        turned = [self.filters.rot90(turn, (2, 3)) for turn in range(TURNS)]
        weights = torch.stack(turned, dim=1).flatten(0, 1)
        return conv2d(pictures, weights, stride=2, padding=1)


class Turning(nn.Module):
    """Filters of maps that have four directions; a turned one reads them in turned order."""

    def __init__(self, channels: int, filters: int) -> None:
        super().__init__()
        scale = (9 * TURNS * channels / 2) ** -0.5
        self.filters = nn.Parameter(scale * torch.randn(filters, channels, TURNS, 3, 3))

    def forward(self, maps: Tensor) -> Tensor:
        """Float (picture, filter x turn, row, col), of as many rows and columns."""
        turned = [
            self.filters.rot90(turn, (3, 4)).roll(turn, dims=2) for turn in range(TURNS)
        ]
        weights = torch.stack(turned, dim=1).flatten(0, 1).flatten(1, 2)
        return conv2d(maps, weights, padding=1)


class Levelled(nn.Module):
    """Batch normalisation that is alike for the directions of a filter."""

    def __init__(self, filters: int) -> None:
        super().__init__()
        self.norm = nn.BatchNorm3d(filters)

    def forward(self, maps: Tensor) -> Tensor:
        """Float (picture, filter x turn, row, col), not negative."""
        parted = maps.unflatten(1, (-1, TURNS))
        levelled: Tensor = self.norm(parted).relu()
        return levelled.flatten(1, 2)


class Turned(PlacesNetwork):
    """Logits of labels from pictures, float (picture, row, col, 3)."""

    def __init__(self, labels: int) -> None:
        super().__init__()
        narrow, middle, wide = WIDTHS
        self.first = nn.Sequential(Lifting(narrow), Levelled(narrow))
        self.second = nn.Sequential(Turning(narrow, middle), Levelled(middle))
        self.third = nn.Sequential(Turning(middle, wide), Levelled(wide))
        self.fourth = nn.Sequential(Turning(wide, WIDTH), Levelled(WIDTH))
        self.head = nn.Linear(3 * WIDTH, labels)

    @staticmethod
    def as_input(pictures: Sequence[np.ndarray]) -> Tensor:
        """Float (picture, row, col, 3), from -1 to 1."""
        return torch.from_numpy(np.stack(pictures)).float() / 127.5 - 1

    def tokens(self, pictures: Tensor) -> Tensor:
        """Of each of 8 x 8 places, in the direction that answers most: not negative."""
        maps = max_pool2d(self.first(pictures.permute(0, 3, 1, 2)), 2)
        maps = self.third(self.second(maps))
        maps = self.fourth(max_pool2d(maps, 2))
        strongest = maps.unflatten(1, (-1, TURNS)).amax(dim=2)
        return strongest.permute(0, 2, 3, 1)

    def pool(self, tokens: Tensor) -> Tensor:
        """Means of the middle and of what is round it, and the highest of all places."""
        middle = tokens[:, INNER, INNER].sum(dim=(1, 2))
        rest = tokens.sum(dim=(1, 2)) - middle
        means = [middle / FEW, rest / (PLACES**2 - FEW)]
        return torch.cat([*means, tokens.amax(dim=(1, 2))], dim=1)
