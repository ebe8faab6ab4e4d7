"""Two small networks over the frames of a clip, each trained from nothing on the clips alone.

`attending` cuts frames into patches that attend to one another; a clip is what one learned query
gathers from the patches of all frames. `filters` measures each frame with random filters that are
never trained; a clip is a hidden layer over the mean and the maximum of its frames' measurements.
In both, a frame by itself is a clip that repeats the frame.
"""

from collections.abc import Mapping

import numpy as np
import torch
from torch import nn

from sill.plants import NAMES
from sill.scene import FRAMES, SIDE

HIDDEN = 48
AT_ONCE = 16
PATCHES = (SIDE // 8) ** 2
NUMBER = 80  # of random filters
DROPPED = 0.3  # of the measurements, while a perceptron is trained
GRID = 4  # cells along a side, in which a filter's answers are averaged


def to_pixels(clips: np.ndarray) -> torch.Tensor:
    """(clip, frame, channel, row, col) about 0."""
    return torch.from_numpy(clips).permute(0, 1, 4, 2, 3).float() / 64 - 2


class Attending(nn.Module):
    """Patches attend to one another in their frame, then a query attends to all of them."""

    epochs = 7
    rate = 4e-3

    def __init__(self) -> None:
        super().__init__()
        self.patches = nn.Sequential(
            nn.Conv2d(3, 16, 5, 2, 2),
            nn.BatchNorm2d(16),
            nn.ReLU(),
            nn.Conv2d(16, 32, 3, 2, 1),
            nn.BatchNorm2d(32),
            nn.ReLU(),
            nn.Conv2d(32, HIDDEN, 3, 2, 1),
            nn.BatchNorm2d(HIDDEN),
        )
        self.place = nn.Parameter(torch.zeros(PATCHES, HIDDEN))
        self.frame = nn.Parameter(torch.zeros(FRAMES, 1, HIDDEN))
        self.query = nn.Parameter(torch.zeros(1, HIDDEN))
        self.block = nn.TransformerEncoderLayer(
            HIDDEN, 4, 2 * HIDDEN, dropout=0, batch_first=True, norm_first=True
        )
        self.gather = nn.MultiheadAttention(HIDDEN, 4, batch_first=True)
        self.norm = nn.LayerNorm(HIDDEN)
        self.out = nn.Linear(HIDDEN, len(NAMES))

    def measure(self, clips: np.ndarray) -> torch.Tensor:
        """What `read` is given: the pixels."""
        return to_pixels(clips)

    def prepare(self, clips: np.ndarray, generator: torch.Generator) -> None:
        """Nothing is fixed before training."""

    def read(self, pixels: torch.Tensor) -> torch.Tensor:
        """(clip, dim)."""
        return self.collect(self.look(pixels))

    def see(self, pixels: torch.Tensor) -> torch.Tensor:
        """(clip, frame, dim) of frames by themselves."""
        tokens = self.look(pixels)
        clips, frames = tokens.shape[:2]
        held = tokens.flatten(0, 1)[:, None].expand(-1, FRAMES, -1, -1)
        return self.collect(held).reshape(clips, frames, HIDDEN)

    def look(self, pixels: torch.Tensor) -> torch.Tensor:
        """(clip, frame, patch, dim)."""
        clips, frames = pixels.shape[:2]
        maps = self.patches(pixels.flatten(0, 1))
        tokens = self.block(maps.flatten(2).transpose(1, 2) + self.place)
        return tokens.reshape(clips, frames, PATCHES, HIDDEN)

    def collect(self, tokens: torch.Tensor) -> torch.Tensor:
        """(clip, dim) of the patches of a clip's frames."""
        timed = (tokens + self.frame).flatten(1, 2)
        query = self.query.expand(len(timed), 1, HIDDEN)
        gathered, _ = self.gather(query, timed, timed, need_weights=False)
        return self.norm(gathered[:, 0])


class Filters(nn.Module):
    """A perceptron over what random filters answer in each part of the frames."""

    epochs = 14
    rate = 1.5e-3
    centre: torch.Tensor
    spread: torch.Tensor
    generator: torch.Generator

    def __init__(self) -> None:
        super().__init__()
        self.bank = nn.Conv2d(3, NUMBER, 7, 2, 3, bias=False).requires_grad_(False)
        self.register_buffer("centre", torch.zeros(2 * NUMBER * GRID * GRID))
        self.register_buffer("spread", torch.ones(2 * NUMBER * GRID * GRID))
        self.hidden = nn.Sequential(
            nn.Linear(4 * NUMBER * GRID * GRID, HIDDEN), nn.ReLU()
        )
        self.out = nn.Linear(HIDDEN, len(NAMES))

    @torch.no_grad()
    def measure(self, clips: np.ndarray) -> torch.Tensor:
        """(clip, frame, measurement)."""
        parts = [
            self.answer(clips[start : start + AT_ONCE])
            for start in range(0, len(clips), AT_ONCE)
        ]
        return (torch.cat(parts) - self.centre) / self.spread

    def answer(self, clips: np.ndarray) -> torch.Tensor:
        """(clip, frame, measurement): light and dark answers, averaged over each cell."""
        pixels = to_pixels(clips)
        maps = self.bank(pixels.flatten(0, 1))
        both = torch.cat([(maps - 1).relu(), (-maps - 1).relu()], dim=1)
        cells = nn.functional.adaptive_avg_pool2d(both, GRID)
        return cells.flatten(1).sqrt().reshape(*pixels.shape[:2], -1)

    def prepare(self, clips: np.ndarray, generator: torch.Generator) -> None:
        """Filters without a mean, and the scale of what they answer."""
        self.generator = generator
        weight = torch.randn(self.bank.weight.shape, generator=generator)
        weight -= weight.mean(dim=(2, 3), keepdim=True)
        self.bank.weight.copy_(
            weight / weight.flatten(1).norm(dim=1)[:, None, None, None]
        )
        measured = self.measure(clips).flatten(0, 1)
        self.centre.copy_(measured.mean(dim=0))
        self.spread.copy_(measured.std(dim=0) + 1e-2)

    def read(self, measured: torch.Tensor) -> torch.Tensor:
        """(clip, dim)."""
        both = torch.cat([measured.mean(dim=1), measured.amax(dim=1)], dim=1)
        if self.training:
            # nn.Dropout takes no generator
            is_kept = torch.rand(both.shape, generator=self.generator) >= DROPPED
            both = both * is_kept / (1 - DROPPED)
        return self.hidden(both)

    def see(self, measured: torch.Tensor) -> torch.Tensor:
        """(clip, frame, dim) of frames by themselves."""
        # a frame is the mean and the maximum of its repetitions
        return self.hidden(torch.cat([measured, measured], dim=2))


Network = Attending | Filters
HEADS: Mapping[str, type[Attending] | type[Filters]] = {
    "attending": Attending,
    "filters": Filters,
}
