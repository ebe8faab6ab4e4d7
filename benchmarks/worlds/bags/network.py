"""Involutions: at each place a filter that the place makes for itself, shared by the channels of a
group (Li et al., 2021), between layers that mix channels; and a smooth maximum of all places.
"""

from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.functional import pad, silu

from worlds.networks import PlacesNetwork

WIDTHS = (24, 48)  # channels
GROUPS = 4  # of channels that share a filter
SQUEEZED = 3  # times fewer channels, where filters are made
WIDTH = 32  # channels of a place
SHARP = 3.0  # the higher, the nearer a pool is to the highest value


class Involution(nn.Module):
    """Each place weighs its neighbours by what it shows itself."""

    def __init__(self, channels: int, reach: int) -> None:
        super().__init__()
        self.reach = reach
        self.squeeze = nn.Conv2d(channels, channels // SQUEEZED, 1, bias=False)
        self.norm = nn.BatchNorm2d(channels // SQUEEZED)
        self.make = nn.Conv2d(channels // SQUEEZED, GROUPS * reach**2, 1)

    def forward(self, maps: Tensor) -> Tensor:
        """Float (picture, channel, row, col), as before."""
        rows, cols = maps.shape[2:]
        filters = self.make(silu(self.norm(self.squeeze(maps))))
        filters = filters.unflatten(1, (GROUPS, 1, self.reach**2))
        groups = pad(maps, 4 * (self.reach // 2,)).unflatten(1, (GROUPS, -1))
        found = torch.zeros_like(maps).unflatten(1, (GROUPS, -1))
        for place in range(self.reach**2):
            down, across = divmod(place, self.reach)
            seen = groups[..., down : down + rows, across : across + cols]
            found = found + filters[:, :, :, place] * seen
        return found.flatten(1, 2)


class Block(nn.Module):
    """An involution between two layers that mix channels, added to what was there."""

    def __init__(self, channels: int, reach: int) -> None:
        super().__init__()
        self.before = nn.Conv2d(channels, channels, 1, bias=False)
        self.first = nn.BatchNorm2d(channels)
        self.involution = Involution(channels, reach)
        self.second = nn.BatchNorm2d(channels)
        self.after = nn.Conv2d(channels, channels, 1, bias=False)
        self.third = nn.BatchNorm2d(channels)

    def forward(self, maps: Tensor) -> Tensor:
        """Float (picture, channel, row, col), as before."""
        mixed = silu(self.first(self.before(maps)))
        found = silu(self.second(self.involution(mixed)))
        moved: Tensor = silu(maps + self.third(self.after(found)))
        return moved


class InvolutionBlocks(PlacesNetwork):
    """Logits of labels from pictures, float (picture, row, col, 3)."""

    def __init__(self, labels: int) -> None:
        super().__init__()
        first, second = WIDTHS
        self.layers = nn.Sequential(
            nn.Conv2d(3, first, 4, stride=2, padding=1, bias=False),
            nn.BatchNorm2d(first),
            nn.SiLU(),
            nn.Conv2d(first, second, 3, stride=2, padding=1, bias=False),
            nn.BatchNorm2d(second),
            Block(second, 3),
            Block(second, 5),
            Block(second, 3),
            nn.Conv2d(second, WIDTH, 1),
        )
        self.head = nn.Linear(WIDTH, labels)

    @staticmethod
    def as_input(pictures: Sequence[np.ndarray]) -> Tensor:
        """Float (picture, row, col, 3), from -1 to 1."""
        return torch.from_numpy(np.stack(pictures)).float() / 127.5 - 1

    def tokens(self, pictures: Tensor) -> Tensor:
        """Of each of 16 x 16 places: float (picture, row, col, channel)."""
        maps: Tensor = self.layers(pictures.permute(0, 3, 1, 2).contiguous())
        return maps.permute(0, 2, 3, 1)

    def pool(self, tokens: Tensor) -> Tensor:
        """Of each channel a value between its mean and its highest."""
        places = tokens.flatten(1, 2)
        sums = (SHARP * places).logsumexp(dim=1) - float(np.log(places.shape[1]))
        return sums / SHARP
