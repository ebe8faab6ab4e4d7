"""One cell that all places share and that looks again and again.

At each step a place gathers its neighbours at two distances, and a gate says how much of its state
it gives up, as in convolutional GRUs and neural cellular automata. The last layer reads the mean
and the mean of the highest places.
"""

from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.functional import silu

from worlds.networks import PlacesNetwork

FIRST = 24  # channels
WIDTH = 32  # channels of a state
TOLD = 16  # channels that neighbours tell of their state
DISTANCES = (1, 3)  # places
LOOKS = 4
HIGHEST = 16  # places


class Cell(nn.Module):
    """One look: states of all places, from those of their neighbours and what is seen."""

    def __init__(self, channels: int) -> None:
        super().__init__()
        self.norm = nn.GroupNorm(4, channels)
        self.tell = nn.Conv2d(channels, TOLD, 1)
        self.gather = nn.ModuleList(
            nn.Conv2d(TOLD, TOLD, 3, padding=far, dilation=far) for far in DISTANCES
        )
        known = 2 * channels + TOLD * len(DISTANCES)
        self.propose = nn.Conv2d(known, 2 * channels, 1)

    def forward(self, states: Tensor, seen: Tensor) -> Tensor:
        """Float (picture, channel, row, col), as before."""
        even = self.norm(states)
        told = self.tell(even)
        around = [gather(told) for gather in self.gather]
        known = torch.cat([seen, even, *around], dim=1)
        gate, new = self.propose(known).chunk(2, dim=1)
        moved: Tensor = torch.lerp(states, silu(new), gate.sigmoid())
        return moved


class LookingCell(PlacesNetwork):
    """Logits of labels from pictures, float (picture, row, col, 3)."""

    def __init__(self, labels: int) -> None:
        super().__init__()
        self.see = nn.Sequential(
            nn.Conv2d(3, FIRST, 4, stride=2, padding=1),
            nn.GroupNorm(4, FIRST),
            nn.SiLU(),
            nn.Conv2d(FIRST, WIDTH, 3, stride=2, padding=1),
        )
        self.cell = Cell(WIDTH)
        self.head = nn.Linear(2 * WIDTH, labels)

    @staticmethod
    def as_input(pictures: Sequence[np.ndarray]) -> Tensor:
        """Float (picture, row, col, 3), from -1 to 1."""
        return torch.from_numpy(np.stack(pictures)).float() / 127.5 - 1

    def tokens(self, pictures: Tensor) -> Tensor:
        """Of each of 16 x 16 places: float (picture, row, col, channel)."""
        seen: Tensor = self.see(pictures.permute(0, 3, 1, 2).contiguous())
        states = silu(seen)
        for _ in range(LOOKS):
            states = self.cell(states, seen)
        return states.permute(0, 2, 3, 1)

    def pool(self, tokens: Tensor) -> Tensor:
        """Of each channel its mean, and the mean of its highest places."""
        places = tokens.flatten(1, 2)
        highest = places.topk(HIGHEST, dim=1).values.mean(dim=1)
        return torch.cat([places.mean(dim=1), highest], dim=1)
