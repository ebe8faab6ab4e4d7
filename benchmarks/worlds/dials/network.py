"""Heads that attend to places of gated maps: the first layer is fixed, energies of Gabor pairs
whose phases are random; convolutions follow whose channels the whole picture weighs (squeeze and
excitation: Hu et al., 2018), and each head of the pool has its own softmax over places.
"""

from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.functional import avg_pool2d, conv2d, silu

from worlds.networks import PlacesNetwork

WINDOW = 9  # pixels
WAVES = (3.2, 5.5)  # pixels, the length of a wave
DIRECTIONS = 8
SEED = 18  # of phases and colours
GREY = (0.3, 0.59, 0.11)
COLOURED = 0.3  # how far from grey a filter looks
ENERGIES = len(WAVES) * DIRECTIONS
WIDTHS = (28, 40, 48)  # channels
SQUEEZED = 4  # times fewer channels
WIDTH = 24  # channels of a place
HEADS = 4
QUARTER = (0, np.pi / 2)  # of a wave, in radians
GAIN = 4.0  # of a filter
FLOOR = 1e-3  # of an energy before its root


class Gated(nn.Module):
    """A convolution, and a gate for each channel that is told by the means of all."""

    def __init__(self, channels: int, width: int, stride: int) -> None:
        super().__init__()
        self.filters = nn.Conv2d(channels, width, 3, stride, padding=1, bias=False)
        self.norm = nn.BatchNorm2d(width)
        self.squeeze = nn.Linear(width, width // SQUEEZED)
        self.excite = nn.Linear(width // SQUEEZED, width)

    def forward(self, maps: Tensor) -> Tensor:
        """From float (picture, channel, row, col) to as many channels as it is wide."""
        found = silu(self.norm(self.filters(maps)))
        gates = self.excite(silu(self.squeeze(found.mean(dim=(2, 3))))).sigmoid()
        gated: Tensor = 2 * found * gates[:, :, None, None]
        return gated


class GaborHeads(PlacesNetwork):
    """Logits of labels from pictures, float (picture, row, col, 3)."""

    gabors: Tensor

    def __init__(self, labels: int) -> None:
        super().__init__()
        first, second, third = WIDTHS
        self.register_buffer("gabors", gabor_pairs())
        self.level = nn.BatchNorm2d(ENERGIES + 3)
        self.first = Gated(ENERGIES + 3, first, stride=2)
        self.second = Gated(first, second, stride=1)
        self.third = Gated(second, third, stride=1)
        self.narrow = nn.Conv2d(third, WIDTH, 1)
        self.even = nn.LayerNorm(WIDTH)
        self.scores = nn.Linear(WIDTH, HEADS)
        self.head = nn.Linear(HEADS * WIDTH, labels)

    @staticmethod
    def as_input(pictures: Sequence[np.ndarray]) -> Tensor:
        """Float (picture, row, col, 3), from -1 to 1."""
        return torch.from_numpy(np.stack(pictures)).float() / 127.5 - 1

    def tokens(self, pictures: Tensor) -> Tensor:
        """Of each of 16 x 16 places: float (picture, row, col, channel)."""
        planes = pictures.permute(0, 3, 1, 2).contiguous()
        seen = self.level(self._energies(planes))
        maps = self.third(self.second(self.first(seen)))
        found: Tensor = self.even(self.narrow(maps).permute(0, 2, 3, 1))
        return found

    def pool(self, tokens: Tensor) -> Tensor:
        """What each head attends to, one after the other."""
        places = tokens.flatten(1, 2)
        weights = self.scores(places).softmax(dim=1)
        return (weights.transpose(1, 2) @ places).flatten(1)

    def _energies(self, pictures: Tensor) -> Tensor:
        """Roots of energies, and colours, of each second pixel both ways."""
        waves = conv2d(pictures, self.gabors, stride=2, padding=WINDOW // 2)
        even, odd = waves.chunk(2, dim=1)
        energies = (even.square() + odd.square() + FLOOR).sqrt()
        return torch.cat([energies, avg_pool2d(pictures, 2)], dim=1)


def gabor_pairs() -> Tensor:
    """Waves under a bell, then the same a quarter later: float (filter, 3, row, col)."""
    rng = np.random.default_rng(SEED)
    along = np.arange(WINDOW) - WINDOW // 2
    x, y = np.meshgrid(along, along)
    pairs = []
    for wave in WAVES:
        bell = np.exp(-(x**2 + y**2) / (2 * (0.45 * wave) ** 2))
        for turn in np.arange(DIRECTIONS) * np.pi / DIRECTIONS:
            far = 2 * np.pi / wave * (x * np.cos(turn) + y * np.sin(turn))
            phase = rng.uniform(0, 2 * np.pi)
            colour = GREY + COLOURED * rng.standard_normal(3)
            pairs.append(
                [_filter(far + phase + late, bell, colour) for late in QUARTER]
            )
    even, odd = zip(*pairs, strict=True)
    return torch.tensor(np.stack(even + odd), dtype=torch.float32)


def _filter(phases: np.ndarray, bell: np.ndarray, colour: np.ndarray) -> np.ndarray:
    wave = bell * np.cos(phases)
    # an even patch moves no filter
    wave = wave - bell * wave.sum() / bell.sum()
    return GAIN * colour[:, None, None] * wave / abs(wave).sum()
