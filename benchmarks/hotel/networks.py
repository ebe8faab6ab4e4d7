"""A small network that remembers frames one after the other, trained from nothing.

Each frame is filtered together with its difference from the frame before, and a gated recurrent
unit (Cho et al., 2014) reads what the filters found, frame by frame. A clip is the mean of its
states. The first frame differs from nothing.
"""

import numpy as np
import torch
from jaxtyping import Int
from temporal_networks import OverTime, answers, teach
from torch import Tensor, nn

from hotel.scene import FRAMES, NAMES

__all__ = ["HEADS", "answers", "fit"]

HIDDEN = 48
CHANGE = 0.5  # how much a difference counts beside the frame itself
GROUPS = 8
EPOCHS = 16
BATCH = 20
RATE = 4e-3
HEADS = ("temporal",)


def stage(channels: int, more: int, size: int, stride: int) -> nn.Sequential:
    """Filters of each frame."""
    return nn.Sequential(
        nn.Conv2d(channels, more, size, stride, size // 2),
        nn.GroupNorm(GROUPS, more),
        nn.ReLU(),
    )


class Temporal(OverTime):
    """Three stages of filters; the unit reads their means and maxima."""

    def __init__(self) -> None:
        super().__init__()
        self.stages = nn.Sequential(
            stage(6, 16, 5, 2), stage(16, 32, 3, 2), stage(32, 48, 3, 2)
        )
        self.memory = nn.GRU(96, HIDDEN, batch_first=True)
        self.out = nn.Linear(HIDDEN, len(NAMES))

    def find(self, frames: Tensor, steps: Tensor) -> Tensor:
        """(clip, frame, found) of (clip, frame, channel, row, col) and what changed in them."""
        maps = self.stages(torch.cat([frames, steps], dim=2).flatten(0, 1))
        parts = [maps.mean(dim=(2, 3)), maps.amax(dim=(2, 3))]
        return torch.cat(parts, dim=1).unflatten(0, frames.shape[:2])

    def remember(self, found: Tensor) -> Tensor:
        """(clip, dim) of (clip, frame, found)."""
        states, _ = self.memory(found)
        return states.mean(dim=1)

    def read(self, pixels: Tensor) -> Tensor:
        """(clip, dim)."""
        frames = pixels.transpose(1, 2)
        steps = CHANGE * frames.diff(dim=1, prepend=frames[:, :1])
        return self.remember(self.find(frames, steps))

    def see(self, pixels: Tensor) -> Tensor:
        """(clip, frame, dim): nothing changes in a frame that is held for a whole clip."""
        frames = pixels.transpose(1, 2)
        found = self.find(frames, torch.zeros_like(frames))
        held = found.flatten(0, 1)[:, None].expand(-1, FRAMES, -1)
        return self.remember(held).unflatten(0, frames.shape[:2])


def fit(
    head: str, clips: np.ndarray, label: Int[np.ndarray, " clip"], seed: int
) -> Temporal:
    """A network trained on (clip, frame, row, col, channel) bytes; there is one kind of head."""
    network = Temporal()
    teach(network, clips, label, seed, epochs=EPOCHS, batch=BATCH, rate=RATE)
    return network
