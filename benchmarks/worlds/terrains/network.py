"""Gated scans: states that run along rows and choose what they keep, solved as products of
matrices (Mamba-2: Dao and Gu, 2024), in four ways over a picture (VMamba: Liu et al., 2024).
Deviates: each row and each column is scanned on its own, and each way has channels of its own.
"""

from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor, nn

from worlds.networks import PlacesNetwork

STEM = 32  # channels of the first convolution
WIDTH = 48  # channels of a place
WAYS = 4  # of scanning: right, and so after each quarter turn
HEADS = 2  # of a way; each forgets at its own rate
DEEP = 8  # channels of a head
INSIDE = WAYS * HEADS * DEEP
STATES = 8  # of each of these channels
GROUPS = 4  # of channels that are normalised together
BLOCKS = 2


class RowScan(nn.Module):
    """States that run to the right; each place says how much it keeps, takes up and shows."""

    def __init__(self) -> None:
        super().__init__()
        self.step = nn.Linear(INSIDE, HEADS)
        self.take = nn.Linear(INSIDE, STATES)
        self.show = nn.Linear(INSIDE, STATES)
        self.rate = nn.Parameter(torch.linspace(-1.5, 0.5, HEADS))

    def forward(self, maps: Tensor, value: Tensor) -> Tensor:
        """What is read from maps of all channels is done to `value`.

        Both are float (picture, row, col, channel), and so is what returns.
        """
        step = nn.functional.softplus(self.step(maps)).movedim(-1, 2)
        heads = value.unflatten(-1, (HEADS, DEEP)).movedim(-2, 2)
        # of each head and row: from a column (last) to a column that is as far right or further
        passed = (-self.rate.exp()[:, None] * step).cumsum(dim=-1)
        kept = (passed[..., :, None] - passed[..., None, :]).tril().exp().tril()
        match = self.show(maps) @ self.take(maps).transpose(-1, -2)
        scanned = (kept * match[:, :, None]) @ (step[..., None] * heads)
        return scanned.movedim(2, -2).flatten(-2)


class FourScans(nn.Module):
    """A scan after each quarter turn of the picture; each has a part of the channels."""

    def __init__(self) -> None:
        super().__init__()
        self.ways = nn.ModuleList(RowScan() for _ in range(WAYS))
        self.skip = nn.Parameter(torch.ones(INSIDE))

    def forward(self, maps: Tensor) -> Tensor:
        """Float (picture, row, col, channel), of the same shape."""
        parts = maps.chunk(WAYS, dim=-1)
        scanned = []
        for turns, (way, part) in enumerate(zip(self.ways, parts, strict=True)):
            seen = way(maps.rot90(turns, (1, 2)), part.rot90(turns, (1, 2)))
            scanned.append(seen.rot90(-turns, (1, 2)))
        return torch.cat(scanned, dim=-1) + self.skip * maps


class Block(nn.Module):
    """What is scanned is weighed by a gate, and added."""

    def __init__(self) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(WIDTH)
        self.enter = nn.Linear(WIDTH, 2 * INSIDE)
        self.near = nn.Conv2d(INSIDE, INSIDE, 3, padding=1, groups=INSIDE)
        self.scan = FourScans()
        self.even = nn.LayerNorm(INSIDE)
        self.leave = nn.Linear(INSIDE, WIDTH)

    def forward(self, maps: Tensor) -> Tensor:
        """Float (picture, row, col, channel), of the same shape."""
        values, gate = self.enter(self.norm(maps)).chunk(2, dim=-1)
        near = self.near(values.permute(0, 3, 1, 2)).permute(0, 2, 3, 1)
        scanned = self.even(self.scan(nn.functional.silu(near)))
        change: Tensor = self.leave(scanned * nn.functional.silu(gate))
        return maps + change


class Scans(PlacesNetwork):
    """Logits of labels from pictures, float (picture, row, col, 3)."""

    def __init__(self, labels: int) -> None:
        super().__init__()
        self.stem = nn.Sequential(
            nn.Conv2d(3, STEM, 8, stride=4, padding=2),
            nn.GroupNorm(GROUPS, STEM),
            nn.ReLU(),
            nn.Conv2d(STEM, WIDTH, 4, stride=2, padding=1),
        )
        self.blocks = nn.Sequential(*(Block() for _ in range(BLOCKS)))
        self.norm = nn.LayerNorm(WIDTH)
        self.head = nn.Linear(WIDTH, labels)

    @staticmethod
    def as_input(pictures: Sequence[np.ndarray]) -> Tensor:
        """Float (picture, row, col, 3), about -2 to 2."""
        return torch.from_numpy(np.stack(pictures)).float() / 64 - 2

    def tokens(self, pictures: Tensor) -> Tensor:
        """Of each of 8 x 8 places: float (picture, row, col, channel)."""
        maps = self.stem(pictures.permute(0, 3, 1, 2)).permute(0, 2, 3, 1)
        tokens: Tensor = self.norm(self.blocks(maps))
        return tokens

    def pool(self, tokens: Tensor) -> Tensor:
        """What the last layer reads: float (picture, channel)."""
        return tokens.amax(dim=(1, 2))
