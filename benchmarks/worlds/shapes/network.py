"""Convolutions, batch normalisation and maxima of neighbours, a mean of all places: no more."""

from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor, nn

from worlds.networks import PlacesNetwork

WIDTHS = (12, 24, 48)  # channels of the layers after which a maximum is taken
WIDTH = 64  # channels of a place


class Convolutions(PlacesNetwork):
    """Logits of labels from pictures, float (picture, row, col, 3)."""

    def __init__(self, labels: int) -> None:
        super().__init__()
        layers: list[nn.Module] = []
        channels = 3
        for width in WIDTHS:
            layers += [*_layer(channels, width), nn.MaxPool2d(2)]
            channels = width
        self.layers = nn.Sequential(*layers, *_layer(channels, WIDTH))
        self.head = nn.Linear(WIDTH, labels)

    @staticmethod
    def as_input(pictures: Sequence[np.ndarray]) -> Tensor:
        """Float (picture, row, col, 3), from -1 to 1."""
        return torch.from_numpy(np.stack(pictures)).float() / 127.5 - 1

    def tokens(self, pictures: Tensor) -> Tensor:
        """Of each of 6 x 6 places: float (picture, row, col, channel), not negative."""
        maps: Tensor = self.layers(pictures.permute(0, 3, 1, 2))
        return maps.permute(0, 2, 3, 1)

    def pool(self, tokens: Tensor) -> Tensor:
        """What the last layer reads: float (picture, channel)."""
        return tokens.mean(dim=(1, 2))


def _layer(channels: int, width: int) -> list[nn.Module]:
    convolution = nn.Conv2d(channels, width, 3, padding=1, bias=False)
    norm = nn.BatchNorm2d(width)
    return [convolution, norm, nn.ReLU()]
