"""Pairs of what maxout units find in wavelets: the picture is split into means and differences of
neighbours (Haar), each unit is the highest of a few filters (maxout: Goodfellow et al., 2013), and
products of units are pooled (bilinear CNN: Lin et al., 2015).
"""

from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor, nn

from worlds.networks import PlacesNetwork

BANDS = 4  # of a split
PIECES = 2  # filters of a unit
WIDTHS = (24, 32, 40)  # units
WIDTH = 20  # channels of a place
PAIRED = 10  # the first of them, of which each pair is multiplied
PAIRS = PAIRED * (PAIRED + 1) // 2


class Maxout(nn.Module):
    """The highest of a few filters."""

    def __init__(self, channels: int, units: int) -> None:
        super().__init__()
        self.filters = nn.Conv2d(channels, PIECES * units, 3, padding=1, bias=False)
        self.norm = nn.BatchNorm2d(PIECES * units)

    def forward(self, maps: Tensor) -> Tensor:
        """From float (picture, channel, row, col) to (picture, unit, row, col)."""
        found: Tensor = self.norm(self.filters(maps))
        return found.unflatten(1, (-1, PIECES)).amax(dim=2)


class MaxoutPairs(PlacesNetwork):
    """Logits of labels from pictures, float (picture, row, col, 3)."""

    def __init__(self, labels: int) -> None:
        super().__init__()
        first, second, third = WIDTHS
        self.bands = nn.BatchNorm2d(BANDS * 3)
        self.first = Maxout(BANDS * 3, first)
        self.second = Maxout(BANDS * first, second)
        self.third = Maxout(second, third)
        self.narrow = nn.Conv2d(third, WIDTH, 1)
        self.level = nn.BatchNorm1d(PAIRS + WIDTH)
        self.head = nn.Linear(PAIRS + WIDTH, labels)

    @staticmethod
    def as_input(pictures: Sequence[np.ndarray]) -> Tensor:
        """Float (picture, row, col, 3), from -1 to 1."""
        return torch.from_numpy(np.stack(pictures)).float() / 127.5 - 1

    def tokens(self, pictures: Tensor) -> Tensor:
        """Of each of 16 x 16 places: float (picture, row, col, channel)."""
        bands = self.bands(split(pictures.permute(0, 3, 1, 2)))
        maps = self.second(split(self.first(bands)))
        found: Tensor = self.narrow(self.third(maps))
        return found.permute(0, 2, 3, 1)

    def pool(self, tokens: Tensor) -> Tensor:
        """Mean products of each pair of the first channels, and means of all, on one scale."""
        places = tokens.flatten(1, 2)
        paired = places[:, :, :PAIRED]
        products = paired.transpose(1, 2) @ paired / places.shape[1]
        rows, cols = torch.triu_indices(PAIRED, PAIRED)
        found = torch.cat([products[:, rows, cols], places.mean(dim=1)], dim=1)
        levelled: Tensor = self.level(found)
        return levelled


def split(maps: Tensor) -> Tensor:
    """Means and differences of each four neighbours: four times the channels, half the rows."""
    top, bottom = maps[:, :, ::2], maps[:, :, 1::2]
    parts = []
    for rows in ((top + bottom) / 2, (top - bottom) / 2):
        left, right = rows[..., ::2], rows[..., 1::2]
        parts += [(left + right) / 2, (left - right) / 2]
    return torch.cat(parts, dim=1)
