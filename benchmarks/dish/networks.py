"""A small network that sees which way things move at which place, trained from nothing."""

import numpy as np
import torch
from jaxtyping import Int
from temporal_networks import OverTime, answers, stage, teach
from torch import nn

from dish.scene import NAMES

__all__ = ["HEADS", "answers", "fit"]

HIDDEN = 48
PLACES = 5 * 5  # that are left of a frame after three stages
TOP = 3.0  # standard deviations above a map's mean
EPOCHS = 10
BATCH = 32
RATE = 6e-3
HEADS = ("temporal",)


class Temporal(OverTime):
    """Three stages, after which one moment is left; a hidden layer reads all of its places.

    It reads the strongest answer of any place, too.
    """

    def __init__(self) -> None:
        super().__init__()
        # what is very bright is no more than bright
        top = nn.Hardtanh(0, TOP)
        self.maps = nn.Sequential(
            stage(3, 16, 5), top, stage(16, 24, 3), top, stage(24, 24, 3), top
        )
        self.hidden = nn.Linear(24 * (PLACES + 1), HIDDEN)
        self.out = nn.Linear(HIDDEN, len(NAMES))

    def read(self, pixels: torch.Tensor) -> torch.Tensor:
        """(clip, dim)."""
        maps = self.maps(pixels)
        parts = [maps.flatten(1), maps.amax(dim=(2, 3, 4))]
        return torch.relu(self.hidden(torch.cat(parts, dim=1)))


def fit(
    head: str, clips: np.ndarray, label: Int[np.ndarray, " clip"], seed: int
) -> Temporal:
    """A network trained on (clip, frame, row, col, channel) bytes; there is one kind of head."""
    network = Temporal()
    teach(network, clips, label, seed, epochs=EPOCHS, batch=BATCH, rate=RATE)
    return network
