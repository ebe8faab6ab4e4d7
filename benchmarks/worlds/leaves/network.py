"""Inverted bottlenecks: places are widened, each channel is filtered alone, and what the whole
picture weighs is made narrow again (MobileNetV3: Howard et al., 2019).
"""

from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.functional import hardsigmoid

from worlds.networks import PlacesNetwork

STEM = 12  # channels
BLOCKS = (  # channels, how many times wider inside, and steps between places
    (16, 3, 2),
    (24, 3, 1),
    (32, 3, 2),
    (32, 3, 1),
)
WIDTH = 72  # channels of a place


class Squeeze(nn.Module):
    """Weighs the channels by what their means say of the picture."""

    def __init__(self, channels: int) -> None:
        super().__init__()
        self.narrow = nn.Linear(channels, channels // 4)
        self.wide = nn.Linear(channels // 4, channels)

    def forward(self, maps: Tensor) -> Tensor:
        """Float (picture, channel, row, col)."""
        weights = self.wide(self.narrow(maps.mean(dim=(2, 3))).relu())
        return maps * hardsigmoid(weights)[:, :, None, None]


class Bottleneck(nn.Module):
    """Wider, filtered, weighed and narrow; added to what came in where they are alike."""

    def __init__(self, channels: int, width: int, wider: int, stride: int) -> None:
        super().__init__()
        inside = wider * channels
        alone = nn.Conv2d(inside, inside, 3, stride, 1, groups=inside, bias=False)
        self.layers = nn.Sequential(
            nn.Conv2d(channels, inside, 1, bias=False),
            nn.BatchNorm2d(inside),
            nn.Hardswish(),
            alone,
            nn.BatchNorm2d(inside),
            nn.Hardswish(),
            Squeeze(inside),
            nn.Conv2d(inside, width, 1, bias=False),
            nn.BatchNorm2d(width),
        )
        self.is_added = stride == 1 and channels == width

    def forward(self, maps: Tensor) -> Tensor:
        """Float (picture, channel, row, col)."""
        changed: Tensor = self.layers(maps)
        return maps + changed if self.is_added else changed


class Bottlenecks(PlacesNetwork):
    """Logits of labels from pictures, float (picture, row, col, 3)."""

    def __init__(self, labels: int) -> None:
        super().__init__()
        first = nn.Conv2d(3, STEM, 3, stride=2, padding=1, bias=False)
        layers: list[nn.Module] = [first, nn.BatchNorm2d(STEM), nn.Hardswish()]
        channels = STEM
        for width, wider, stride in BLOCKS:
            layers.append(Bottleneck(channels, width, wider, stride))
            channels = width
        last = nn.Conv2d(channels, WIDTH, 1, bias=False)
        self.layers = nn.Sequential(
            *layers, last, nn.BatchNorm2d(WIDTH), nn.Hardswish()
        )
        self.head = nn.Linear(WIDTH, labels)

    @staticmethod
    def as_input(pictures: Sequence[np.ndarray]) -> Tensor:
        """Float (picture, row, col, 3), from -1 to 1."""
        return torch.from_numpy(np.stack(pictures)).float() / 127.5 - 1

    def tokens(self, pictures: Tensor) -> Tensor:
        """Of each of 7 x 7 places: float (picture, row, col, channel)."""
        maps: Tensor = self.layers(pictures.permute(0, 3, 1, 2))
        return maps.permute(0, 2, 3, 1)

    def pool(self, tokens: Tensor) -> Tensor:
        """What the last layer reads: float (picture, channel)."""
        return tokens.mean(dim=(1, 2))
