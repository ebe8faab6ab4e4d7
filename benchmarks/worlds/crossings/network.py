"""Attention over the frames of each place, then over the places of each frame (divided
space-time attention; Bertasius et al., 2021), and of each channel its mean and its
highest value.
"""

from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.functional import scaled_dot_product_attention

from worlds.crossings.rendering import LENGTH, SIDE
from worlds.design import Frames
from worlds.networks import PlacesNetwork

STEM = 24  # channels
WIDTH = 40  # channels of a place
HEADS = 4
LAYERS = 2
PATCH = 6  # pixels


class Attention(nn.Module):
    """Tokens of one line attend to each other, and what they find is added."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(width)
        self.ask = nn.Linear(width, 3 * width)
        self.tell = nn.Linear(width, width)

    def forward(self, lines: Tensor) -> Tensor:
        """Float (..., token, channel)."""
        asked = self.ask(self.norm(lines)).unflatten(-1, (3, HEADS, -1))
        queries, keys, values = asked.movedim(-3, 0).transpose(-3, -2)
        found = scaled_dot_product_attention(queries, keys, values)
        told: Tensor = lines + self.tell(found.transpose(-3, -2).flatten(-2))
        return told


class Divided(nn.Module):
    """Time, then space, then each token by itself."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.time = Attention(width)
        self.space = Attention(width)
        self.alone = nn.Sequential(
            nn.LayerNorm(width),
            nn.Linear(width, 2 * width),
            nn.GELU(),
            nn.Linear(2 * width, width),
        )

    def forward(self, tokens: Tensor) -> Tensor:
        """Float (clip, frame, place, channel)."""
        over_time = self.time(tokens.transpose(1, 2)).transpose(1, 2)
        over_space = self.space(over_time)
        moved: Tensor = over_space + self.alone(over_space)
        return moved


class DividedAttention(PlacesNetwork):
    """Logits of labels from clips, bytes (clip, frame, row, col, 3)."""

    def __init__(self, labels: int) -> None:
        super().__init__()
        across = SIDE // PATCH
        self.stem = nn.Sequential(
            nn.Conv2d(3, STEM, 4, 2, 1),
            nn.GELU(),
            nn.Conv2d(STEM, WIDTH, 5, 3, 1),
        )
        self.places = nn.Parameter(0.1 * torch.randn(across, across, WIDTH))
        self.moments = nn.Parameter(0.1 * torch.randn(LENGTH, 1, 1, WIDTH))
        self.layers = nn.Sequential(*(Divided(WIDTH) for _ in range(LAYERS)))
        self.norm = nn.LayerNorm(WIDTH)
        self.head = nn.Linear(2 * WIDTH, labels)

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
        maps = self.stem(pixels.flatten(0, 1)).unflatten(0, pixels.shape[:2])
        patches = maps.permute(0, 1, 3, 4, 2)
        placed = patches + self.places + self.moments[_moments(patches.shape[1])]
        found: Tensor = self.norm(self.layers(placed.flatten(2, 3)))
        return found.unflatten(2, patches.shape[2:4])

    def pool(self, tokens: Tensor) -> Tensor:
        """Of each channel the mean over all places and frames, and the highest value."""
        everywhere = (1, 2, 3)
        parts = [tokens.mean(dim=everywhere), tokens.amax(dim=everywhere)]
        return torch.cat(parts, dim=1)

    @torch.no_grad()
    def embed(self, pictures: Sequence[np.ndarray]) -> Tensor:
        """What the last layer reads, float (clip, channel); lengths may differ."""
        lengths = np.array([len(clip) for clip in pictures])
        rows = torch.empty(len(pictures), self.head.in_features)
        for length in np.unique(lengths):
            alike = np.flatnonzero(lengths == length).tolist()
            rows[alike] = super().embed([pictures[number] for number in alike])
        return rows


def _moments(frames: int) -> list[int]:
    """Which learned moment each frame has: spread over all, and one in the middle."""
    apart = LENGTH / frames
    return [int((number + 0.5) * apart) for number in range(frames)]
