"""Convolutions in the way of ConvNeXt (Liu et al., 2022), and a pool that weighs the places."""

from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor, nn

from worlds.networks import PlacesNetwork

STEM = 4  # pixels a side of what the first layer reads at once
WIDTHS = (24, 56)
BLOCKS = (1, 2)
REACH = 5  # places a side of what a block reads of one channel
WIDER = 2


class Block(nn.Module):
    """Each channel over its places, then the channels of each place."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.places = nn.Conv2d(width, width, REACH, padding=REACH // 2, groups=width)
        self.norm = nn.LayerNorm(width)
        self.channels = nn.Sequential(
            nn.Linear(width, WIDER * width),
            nn.GELU(),
            nn.Linear(WIDER * width, width),
        )

    def forward(self, maps: Tensor) -> Tensor:
        """Float (picture, row, col, channel), as it came."""
        mixed = self.places(maps.permute(0, 3, 1, 2)).permute(0, 2, 3, 1)
        return maps + self.channels(self.norm(mixed))


class Shrink(nn.Module):
    """Fewer places, by a convolution whose windows do not overlap."""

    def __init__(self, channels: int, width: int, side: int) -> None:
        super().__init__()
        self.windows = nn.Conv2d(channels, width, side, stride=side)
        self.norm = nn.LayerNorm(width)

    def forward(self, maps: Tensor) -> Tensor:
        """Float (picture, row, col, channel), of fewer rows and columns."""
        windows = self.windows(maps.permute(0, 3, 1, 2)).permute(0, 2, 3, 1)
        return self.norm(windows)


class ConvNext(PlacesNetwork):
    """Logits of labels from pictures, float (picture, row, col, 3)."""

    def __init__(self, labels: int) -> None:
        super().__init__()
        narrow, wide = WIDTHS
        few, many = BLOCKS
        self.body = nn.Sequential(
            Shrink(3, narrow, STEM),
            *(Block(narrow) for _ in range(few)),
            Shrink(narrow, wide, 2),
            *(Block(wide) for _ in range(many)),
            nn.LayerNorm(wide),
        )
        self.weigh = nn.Linear(wide, 1)
        self.head = nn.Linear(wide, labels)

    @staticmethod
    def as_input(pictures: Sequence[np.ndarray]) -> Tensor:
        """Float (picture, row, col, 3), about -1 to 1."""
        return torch.from_numpy(np.stack(pictures)).float() / 127.5 - 1

    def tokens(self, pictures: Tensor) -> Tensor:
        """Of each of 8 x 8 patches: float (picture, row, col, channel)."""
        return self.body(pictures)

    def pool(self, tokens: Tensor) -> Tensor:
        """A mean in which places that tell more weigh more: float (picture, channel)."""
        places = tokens.flatten(1, 2)
        weights = self.weigh(places).softmax(dim=1)
        return (weights * places).sum(dim=1)
