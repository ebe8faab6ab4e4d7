"""Global filters (Rao et al., 2021, GFNet): places are mixed by products of spectra, in stages."""

from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor, nn

from worlds.networks import PlacesNetwork

GRIDS = (16, 8)  # tokens a side
WIDTHS = (40, 80)
BLOCKS = (2, 2)


class Filter(nn.Module):
    """A filter as large as the picture, of each channel; learned as its spectrum."""

    def __init__(self, grid: int, width: int) -> None:
        super().__init__()
        self.spectrum = nn.Parameter(
            0.02 * torch.randn(grid, grid // 2 + 1, width, 2),
        )

    def forward(self, tokens: Tensor) -> Tensor:
        """Float (picture, row, col, channel), as it came."""
        pitches = torch.fft.rfft2(tokens, dim=(1, 2), norm="ortho")
        passed = pitches * torch.view_as_complex(self.spectrum)
        return torch.fft.irfft2(passed, s=tokens.shape[1:3], dim=(1, 2), norm="ortho")


class Block(nn.Module):
    """A filter over places, then two layers over channels, and one way past both."""

    def __init__(self, grid: int, width: int) -> None:
        super().__init__()
        self.before_filter = nn.LayerNorm(width)
        self.filter = Filter(grid, width)
        self.before_layers = nn.LayerNorm(width)
        self.layers = nn.Sequential(
            nn.Linear(width, 2 * width), nn.ReLU(), nn.Linear(2 * width, width)
        )

    def forward(self, tokens: Tensor) -> Tensor:
        """Float (picture, row, col, channel), as it came."""
        filtered = self.filter(self.before_filter(tokens))
        return tokens + self.layers(self.before_layers(filtered))


class FilterNetwork(PlacesNetwork):
    """Logits of labels from pictures, float (picture, 3, 64, 64)."""

    def __init__(self, labels: int) -> None:
        super().__init__()
        self.stem = nn.Conv2d(3, WIDTHS[0], 7, stride=4, padding=3)
        self.places = nn.Parameter(torch.zeros(GRIDS[0], GRIDS[0], WIDTHS[0]))
        fine, coarse = (
            nn.Sequential(*(Block(grid, width) for _ in range(count)))
            for grid, width, count in zip(GRIDS, WIDTHS, BLOCKS, strict=True)
        )
        self.fine = fine
        self.merge = nn.Linear(4 * WIDTHS[0], WIDTHS[1])
        self.coarse = coarse
        self.norm = nn.LayerNorm(WIDTHS[1])
        self.head = nn.Linear(WIDTHS[1], labels)

    @staticmethod
    def as_input(pictures: Sequence[np.ndarray]) -> Tensor:
        """Float (picture, 3, row, col), about -2 to 2."""
        pixels = torch.from_numpy(np.stack(pictures)).permute(0, 3, 1, 2)
        return (pixels.float() - 120) / 60

    def tokens(self, pictures: Tensor) -> Tensor:
        """Of each place of the last grid: float (picture, row, col, channel)."""
        tokens = self.stem(pictures).permute(0, 2, 3, 1) + self.places
        tokens = self.fine(tokens)
        squares = tokens.unflatten(1, (GRIDS[1], 2)).unflatten(3, (GRIDS[1], 2))
        merged = self.merge(squares.transpose(2, 3).flatten(3))
        return self.norm(self.coarse(merged))

    def pool(self, tokens: Tensor) -> Tensor:
        """What the last layer reads: float (picture, channel)."""
        return tokens.mean(dim=(1, 2))
