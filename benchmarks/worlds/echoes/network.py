"""Convolutions of space and of time in turns (R(2+1)D; Tran et al., 2018), and of each
channel its mean and how much it changes from frame to frame.
"""

from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.functional import pad, relu

from worlds.design import Frames
from worlds.networks import PlacesNetwork

WIDTHS = (16, 24, 40)  # channels
LEAST = 1e-4  # of a variance


class InSpace(nn.Module):
    """A convolution of each frame."""

    def __init__(self, before: int, after: int, reach: int, stride: int = 1) -> None:
        super().__init__()
        beside = reach // 2
        self.mix = nn.Conv2d(before, after, reach, stride, beside, bias=False)
        self.norm = nn.BatchNorm2d(after)

    def forward(self, clips: Tensor) -> Tensor:
        """Float (clip, frame, channel, row, col)."""
        maps = relu(self.norm(self.mix(clips.flatten(0, 1))))
        return maps.unflatten(0, clips.shape[:2])


class InTime(nn.Module):
    """A convolution of each place over three frames; beyond the ends nothing moves."""

    def __init__(self, before: int, after: int) -> None:
        super().__init__()
        self.mix = nn.Conv2d(before, after, (3, 1), bias=False)
        self.norm = nn.BatchNorm2d(after)

    def forward(self, clips: Tensor) -> Tensor:
        """Float (clip, frame, channel, row, col)."""
        lines = pad(clips.transpose(1, 2).flatten(3), (0, 0, 1, 1), "replicate")
        found = self.norm(self.mix(lines)).unflatten(3, clips.shape[3:])
        return found.transpose(1, 2)


class Block(nn.Module):
    """Space, then time, added to what was there."""

    def __init__(self, channels: int) -> None:
        super().__init__()
        self.space = InSpace(channels, channels, 3)
        self.time = InTime(channels, channels)

    def forward(self, clips: Tensor) -> Tensor:
        """Float (clip, frame, channel, row, col), as before."""
        moved: Tensor = relu(clips + self.time(self.space(clips)))
        return moved


class SpaceThenTime(PlacesNetwork):
    """Logits of labels from clips, bytes (clip, frame, row, col, 3)."""

    def __init__(self, labels: int) -> None:
        super().__init__()
        first, second, third = WIDTHS
        self.layers = nn.Sequential(
            InSpace(3, first, 5, stride=2),
            InTime(first, second),
            nn.ReLU(),
            InSpace(second, third, 3, stride=2),
            InTime(third, third),
            nn.ReLU(),
            Block(third),
            Block(third),
        )
        self.head = nn.Linear(2 * third, labels)

    @staticmethod
    def seen(clip: Frames) -> np.ndarray:
        """All frames."""
        return np.stack(clip)

    @staticmethod
    def as_input(pictures: Sequence[np.ndarray]) -> Tensor:
        """Bytes (clip, frame, row, col, 3), which are a quarter of what floats are."""
        return torch.from_numpy(np.stack(pictures))

    def tokens(self, pictures: Tensor) -> Tensor:
        """Of each place in each frame: float (clip, frame, row, col, channel)."""
        pixels = pictures.permute(0, 1, 4, 2, 3).float() / 127.5 - 1
        maps: Tensor = self.layers(pixels)
        return maps.permute(0, 1, 3, 4, 2)

    def pool(self, tokens: Tensor) -> Tensor:
        """Of each channel the mean, and how the means of frames spread."""
        frames = tokens.mean(dim=(2, 3))
        spread = (frames.var(dim=1, correction=0) + LEAST).sqrt()
        return torch.cat([frames.mean(dim=1), spread], dim=1)

    @torch.no_grad()
    def embed(self, pictures: Sequence[np.ndarray]) -> Tensor:
        """What the last layer reads, float (clip, channel); lengths may differ."""
        lengths = np.array([len(clip) for clip in pictures])
        rows = torch.empty(len(pictures), self.head.in_features)
        for length in np.unique(lengths):
            alike = np.flatnonzero(lengths == length).tolist()
            rows[alike] = super().embed([pictures[number] for number in alike])
        return rows
