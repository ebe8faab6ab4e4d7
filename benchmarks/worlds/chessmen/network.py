"""Paths of unlike depth between two ends, whose mean is taken, as in FractalNet.

A fractal of one path is a convolution. One of more paths is the mean of a convolution
and of two smaller fractals in a row. The last layer reads the mean of each channel, and
how high it is in the rows of each quarter of the picture, from above to below.
"""

from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.functional import pixel_unshuffle, relu

from worlds.networks import PlacesNetwork

CLOSE = 2  # pixels of each side that are seen as one
WIDTH = 32  # channels
PATHS = 3
BANDS = 4  # of rows, that are pooled apart


class Step(nn.Module):
    """A convolution, evened out."""

    def __init__(self) -> None:
        super().__init__()
        self.gather = nn.Conv2d(WIDTH, WIDTH, 3, padding=1)
        self.even = nn.GroupNorm(4, WIDTH)

    def forward(self, states: Tensor) -> Tensor:
        """Float (picture, channel, row, col), as before."""
        return relu(self.even(self.gather(states)))


class Fractal(nn.Module):
    """So many paths, each half as long as the one before it."""

    def __init__(self, paths: int) -> None:
        super().__init__()
        self.short = Step()
        self.long = nn.Sequential()
        if paths > 1:
            self.long = nn.Sequential(Fractal(paths - 1), Fractal(paths - 1))

    def forward(self, states: Tensor) -> Tensor:
        """Float (picture, channel, row, col), as before."""
        told: Tensor = self.short(states)
        if len(self.long):
            told = (told + self.long(states)) / 2
        return told


class FractalPaths(PlacesNetwork):
    """Logits of labels from pictures, float (picture, row, col, 3)."""

    def __init__(self, labels: int) -> None:
        super().__init__()
        self.see = nn.Conv2d(3 * CLOSE**2, WIDTH, 5, stride=2, padding=2)
        self.even = nn.GroupNorm(4, WIDTH)
        self.fractal = Fractal(PATHS)
        self.head = nn.Linear((1 + BANDS) * WIDTH, labels)

    @staticmethod
    def as_input(pictures: Sequence[np.ndarray]) -> Tensor:
        """Float (picture, row, col, 3), about from -2 to 2."""
        return (torch.from_numpy(np.stack(pictures)).float() - 115) / 60

    def tokens(self, pictures: Tensor) -> Tensor:
        """Of each of 16 x 16 places: float (picture, row, col, channel)."""
        seen = pixel_unshuffle(pictures.permute(0, 3, 1, 2), CLOSE)
        states: Tensor = self.fractal(relu(self.even(self.see(seen))))
        return states.permute(0, 2, 3, 1)

    def pool(self, tokens: Tensor) -> Tensor:
        """Of each channel its mean, and of each band the mean of its rows' highest."""
        highest = tokens.amax(dim=2).unflatten(1, (BANDS, -1)).mean(dim=2)
        return torch.cat([tokens.mean(dim=(1, 2)), highest.flatten(1)], dim=1)
