"""Residual blocks with squeeze-excitation (He et al., 2016; Hu et al., 2018), whose first layer
also reads where each pixel is (CoordConv; Liu et al., 2018).
"""

from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor, nn

from worlds.networks import PlacesNetwork

WIDTHS = (16, 32, 64)  # channels; each after the first has half the rows and columns
NARROWER = 4  # times, within a squeeze
POWER = 3  # of the generalised mean, as in its paper
SMALLEST = 1e-3  # so that its root has a slope


class SqueezeExcitation(nn.Module):
    """Scale each channel by what all channels are on average."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.squeeze = nn.Linear(width, width // NARROWER)
        self.excite = nn.Linear(width // NARROWER, width)

    def forward(self, maps: Tensor) -> Tensor:
        """Float (picture, channel, row, col)."""
        means = maps.mean(dim=(2, 3))
        scales = self.excite(self.squeeze(means).relu()).sigmoid()
        scaled: Tensor = maps * scales[..., None, None]
        return scaled


class Residual(nn.Module):
    """Two convolutions and a squeeze, added to what came in."""

    def __init__(self, before: int, width: int, stride: int) -> None:
        super().__init__()
        self.change = nn.Sequential(
            nn.Conv2d(before, width, 3, stride, 1, bias=False),
            nn.BatchNorm2d(width),
            nn.ReLU(),
            nn.Conv2d(width, width, 3, 1, 1, bias=False),
            nn.BatchNorm2d(width),
            SqueezeExcitation(width),
        )
        self.past = nn.Conv2d(before, width, 1, stride, bias=False)

    def forward(self, maps: Tensor) -> Tensor:
        """Float (picture, channel, row, col)."""
        added: Tensor = self.past(maps) + self.change(maps)
        return added.relu()


class SqueezedResiduals(PlacesNetwork):
    """Logits of labels from pictures, bytes (picture, row, col, 3)."""

    def __init__(self, labels: int) -> None:
        super().__init__()
        first, *later = WIDTHS
        layers: list[nn.Module] = [
            nn.Conv2d(5, first, 3, 2, 1, bias=False),
            nn.BatchNorm2d(first),
            nn.ReLU(),
            Residual(first, first, 1),
        ]
        for before, width in zip(WIDTHS, later, strict=False):
            layers.append(Residual(before, width, 2))
        self.layers = nn.Sequential(*layers)
        self.head = nn.Linear(WIDTHS[-1], labels)

    @staticmethod
    def as_input(pictures: Sequence[np.ndarray]) -> Tensor:
        """Bytes (picture, row, col, 3), which are a quarter of what floats are."""
        return torch.from_numpy(np.stack(pictures))

    def tokens(self, pictures: Tensor) -> Tensor:
        """Of each place: float (picture, row, col, channel)."""
        colours = pictures.permute(0, 3, 1, 2).float() / 127.5 - 1
        count, _, rows, cols = colours.shape
        down = torch.linspace(-1, 1, rows)[:, None].expand(rows, cols)
        right = torch.linspace(-1, 1, cols).expand(rows, cols)
        places = torch.stack([down, right]).expand(count, -1, -1, -1)
        maps: Tensor = self.layers(torch.cat([colours, places], dim=1))
        return maps.permute(0, 2, 3, 1)

    def pool(self, tokens: Tensor) -> Tensor:
        """Of each channel the generalised mean over all places (Radenovic et al., 2019)."""
        powers = tokens.clamp(min=SMALLEST) ** POWER
        return powers.mean(dim=(1, 2)) ** (1 / POWER)
