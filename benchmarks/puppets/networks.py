"""A small network in which frames lend channels to one another, trained from nothing.

Every stage filters each frame by itself. Before it, some channels are taken from the frame before
and some from the frame after (Lin et al., TSM: Temporal Shift Module, 2019), so that later stages
tell one motion from another. At the ends a frame lends to itself: a frame by itself is the same as
a clip that holds it.
"""

import numpy as np
import torch
from jaxtyping import Int
from temporal_networks import OverTime, answers, teach
from torch import Tensor, nn

from puppets.scene import NAMES

__all__ = ["HEADS", "answers", "fit"]

HIDDEN = 48
LENT = 4  # of a stage's channels, one of so many comes from before, and one from after
GROUPS = 8
EPOCHS = 15
BATCH = 20
RATE = 4e-3
HEADS = ("temporal",)


def lend(maps: Tensor) -> Tensor:
    """(clip, frame, channel, row, col) with channels of the frames beside each."""
    count = maps.shape[2] // LENT
    before = torch.cat([maps[:, :1], maps[:, :-1]], dim=1)
    after = torch.cat([maps[:, 1:], maps[:, -1:]], dim=1)
    return torch.cat(
        [before[:, :, :count], after[:, :, count : 2 * count], maps[:, :, 2 * count :]],
        dim=2,
    )


class Stage(nn.Module):
    """Filters of each frame after channels were lent."""

    def __init__(self, channels: int, more: int, size: int, stride: int) -> None:
        super().__init__()
        self.filters = nn.Conv2d(channels, more, size, stride, size // 2)
        self.normal = nn.GroupNorm(GROUPS, more)

    def forward(self, maps: Tensor) -> Tensor:
        """(clip, frame, channel, row, col)."""
        clips = len(maps)
        filtered = self.filters(lend(maps).flatten(0, 1))
        return torch.relu(self.normal(filtered)).unflatten(0, (clips, -1))


class Temporal(OverTime):
    """Three stages; a hidden layer reads means and maxima of each frame. A clip is their mean."""

    def __init__(self) -> None:
        super().__init__()
        self.stages = nn.Sequential(
            Stage(3, 16, 5, 3), Stage(16, 32, 3, 2), Stage(32, 48, 3, 2)
        )
        self.hidden = nn.Linear(96, HIDDEN)
        self.out = nn.Linear(HIDDEN, len(NAMES))

    def read(self, pixels: Tensor) -> Tensor:
        """(clip, dim)."""
        maps = self.stages(pixels.transpose(1, 2))
        parts = [maps.mean(dim=(3, 4)), maps.amax(dim=(3, 4))]
        return torch.relu(self.hidden(torch.cat(parts, dim=2))).mean(dim=1)

    def see(self, pixels: Tensor) -> Tensor:
        """(clip, frame, dim): held frames lend what they have, so that one of them is enough."""
        frames = pixels.transpose(1, 2).flatten(0, 1)[:, :, None]
        return self.read(frames).unflatten(0, (len(pixels), -1))


def fit(
    head: str, clips: np.ndarray, label: Int[np.ndarray, " clip"], seed: int
) -> Temporal:
    """A network trained on (clip, frame, row, col, channel) bytes; there is one kind of head."""
    network = Temporal()
    teach(network, clips, label, seed, epochs=EPOCHS, batch=BATCH, rate=RATE)
    return network
