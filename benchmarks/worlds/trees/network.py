"""Streams of unlike resolution side by side that tell one another, as in HRNet.

The finest stream keeps its places to the end. The last layer reads the mean of each
channel, and the mean of those places where it is highest.
"""

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.functional import avg_pool2d, interpolate, relu

from worlds.networks import PlacesNetwork

WIDTHS = (16, 32, 48)  # channels of each stream, the finest first
ROUNDS = 2  # of telling one another
HIGHEST = 8  # one in so many places


class Step(nn.Module):
    """Two convolutions, evened out, that add to what they read."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.first = nn.Conv2d(width, width, 3, padding=1, bias=False)
        self.second = nn.Conv2d(width, width, 3, padding=1, bias=False)
        self.even = nn.ModuleList(nn.GroupNorm(4, width) for _ in range(2))

    def forward(self, states: Tensor) -> Tensor:
        """Float (picture, channel, row, col), as before."""
        told = relu(self.even[0](self.first(states)))
        return relu(states + self.even[1](self.second(told)))


class Exchange(nn.Module):
    """Each stream adds what it is told by each other one."""

    def __init__(self) -> None:
        super().__init__()
        self.tell = nn.ModuleList(
            nn.ModuleList(nn.Conv2d(source, target, 1) for source in WIDTHS)
            for target in WIDTHS
        )

    def forward(self, streams: list[Tensor]) -> list[Tensor]:
        """Float (picture, channel, row, col) of each stream, as before."""
        told = []
        for target, state in enumerate(streams):
            total = state
            for source, other in enumerate(streams):
                if source != target:
                    tell = self.tell[target][source]
                    total = total + _as_fine(tell, other, target - source)
            told.append(relu(total))
        return told


def _as_fine(tell: nn.Module, states: Tensor, coarser: int) -> Tensor:
    """What is told, at a resolution that is halved so often, or doubled where below 0."""
    if coarser > 0:
        told: Tensor = tell(avg_pool2d(states, 2**coarser))
    else:
        told = interpolate(tell(states), scale_factor=2**-coarser)
    return told


class TreeStreams(PlacesNetwork):
    """Logits of labels from pictures, float (picture, row, col, 3)."""

    def __init__(self, labels: int) -> None:
        super().__init__()
        finest = WIDTHS[0]
        self.see = nn.Conv2d(3, finest, 5, stride=2, padding=2)
        self.closer = nn.Conv2d(finest, finest, 3, stride=2, padding=1)
        self.even = nn.ModuleList(nn.GroupNorm(4, finest) for _ in range(2))
        self.part = nn.ModuleList(
            nn.Conv2d(fine, coarse, 3, stride=2, padding=1)
            for fine, coarse in pairwise(WIDTHS)
        )
        self.steps = nn.ModuleList(
            nn.ModuleList(Step(width) for width in WIDTHS) for _ in range(ROUNDS)
        )
        self.exchanges = nn.ModuleList(Exchange() for _ in range(ROUNDS))
        self.head = nn.Linear(2 * sum(WIDTHS), labels)

    @staticmethod
    def as_input(pictures: Sequence[np.ndarray]) -> Tensor:
        """Float (picture, row, col, 3), about from -2 to 2."""
        return (torch.from_numpy(np.stack(pictures)).float() - 125) / 60

    def tokens(self, pictures: Tensor) -> Tensor:
        """Of each of 16 x 16 places, all streams: float (picture, row, col, channel)."""
        states = relu(self.even[0](self.see(pictures.permute(0, 3, 1, 2))))
        streams = [relu(self.even[1](self.closer(states)))]
        for part in self.part:
            streams.append(relu(part(streams[-1])))
        for steps, exchange in zip(self.steps, self.exchanges, strict=True):
            streams = exchange(
                [step(state) for step, state in zip(steps, streams, strict=True)]
            )
        wide = [
            interpolate(state, scale_factor=2**fineness)
            for fineness, state in enumerate(streams)
        ]
        return torch.cat(wide, dim=1).permute(0, 2, 3, 1)

    def pool(self, tokens: Tensor) -> Tensor:
        """Of each channel its mean, and the mean of the highest places."""
        places = tokens.flatten(1, 2)
        highest = places.topk(places.shape[1] // HIGHEST, dim=1).values
        return torch.cat([places.mean(dim=1), highest.mean(dim=1)], dim=1)
