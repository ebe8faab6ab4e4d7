"""A small network that sees motion, trained from nothing on the clips alone.

Its filters reach over space and time at once, so that it tells a drone that climbs from one that
sinks.
"""

import numpy as np
import torch
from jaxtyping import Int
from temporal_networks import OverTime, answers, stage, teach
from torch import nn

from drones.scene import NAMES

__all__ = ["HEADS", "answers", "fit"]

HIDDEN = 48
EPOCHS = 16
BATCH = 32
RATE = 6e-3
HEADS = ("temporal",)


class Temporal(OverTime):
    """Three stages, after which one moment is left, then a hidden layer."""

    def __init__(self) -> None:
        super().__init__()
        self.maps = nn.Sequential(stage(3, 16, 5), stage(16, 32, 3), stage(32, 48, 3))
        self.hidden = nn.Linear(96, HIDDEN)
        self.out = nn.Linear(HIDDEN, len(NAMES))

    def read(self, pixels: torch.Tensor) -> torch.Tensor:
        """(clip, dim)."""
        maps = self.maps(pixels)
        parts = [maps.mean(dim=(2, 3, 4)), maps.amax(dim=(2, 3, 4))]
        return torch.relu(self.hidden(torch.cat(parts, dim=1)))


def fit(
    head: str, clips: np.ndarray, label: Int[np.ndarray, " clip"], seed: int
) -> Temporal:
    """A network trained on (clip, frame, row, col, channel) bytes; there is one kind of head."""
    network = Temporal()
    teach(network, clips, label, seed, epochs=EPOCHS, batch=BATCH, rate=RATE)
    return network
