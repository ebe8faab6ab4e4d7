"""Fixed Gabor energies (Daugman, 1985), then random units and a trained last layer.

An extreme learning machine (Huang et al., 2006): only the last layer is learned.
"""

from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor

from cuescope_sdk import generator

CELLS = 8  # a side, into which energies are pooled
PITCHES = (3.0, 5.0, 9.0)  # pixels
TURNS = 6
UNITS = 900
AT_ONCE = 64


def _filters() -> Tensor:
    """Even and odd ones (filter, 1, row, col), each pair one pitch and direction."""
    half = 7
    rows, cols = np.indices((2 * half + 1, 2 * half + 1)) - half
    made = []
    for pitch in PITCHES:
        window = np.exp(-(rows**2 + cols**2) / (2 * (0.45 * pitch) ** 2))
        for turn in range(TURNS):
            angle = np.pi * turn / TURNS
            wave = 2 * np.pi * (cols * np.cos(angle) + rows * np.sin(angle)) / pitch
            for part in (np.cos(wave), np.sin(wave)):
                kernel = window * (part - (window * part).sum() / window.sum())
                made.append(kernel / np.abs(kernel).sum())
    return torch.tensor(np.array(made), dtype=torch.float32)[:, None]


FILTERS = _filters()


def maps(pictures: Sequence[np.ndarray]) -> np.ndarray:
    """Energies, light and colour in 8 x 8 cells: float32 (picture, row, col, channel)."""
    done = []
    for start in range(0, len(pictures), AT_ONCE):
        pixels = np.stack(pictures[start : start + AT_ONCE]).astype(np.float32) / 255
        colour = torch.from_numpy(pixels).permute(0, 3, 1, 2)
        light = colour.mean(dim=1, keepdim=True)
        answers = torch.nn.functional.conv2d(light, FILTERS, padding=7)
        pairs = answers.unflatten(1, (-1, 2))
        energy = pairs.square().sum(dim=2).add(1e-6).sqrt().log()
        opponents = torch.cat([light, colour[:, :1] - light, colour[:, 2:] - light], 1)
        kept = torch.cat([0.4 * energy, 3 * opponents], dim=1)
        pooled = torch.nn.functional.adaptive_avg_pool2d(kept, CELLS)
        done.append(pooled.permute(0, 2, 3, 1).numpy())
    return np.ascontiguousarray(np.concatenate(done))


class Units:
    """Random units on centred maps; they are the same for every case."""

    def __init__(self, centre: np.ndarray) -> None:
        self.centre = centre
        rng = generator(0, "cloths", "units")
        size = centre.size
        self._weights = rng.normal(size=(size, UNITS)).astype(np.float32) * 1.6
        self._weights /= np.sqrt(size)
        self._offsets = rng.uniform(-1, 1, UNITS).astype(np.float32)

    def embed(self, grids: np.ndarray) -> np.ndarray:
        """What the last layer reads: float32 (picture, unit)."""
        flat = (grids - self.centre).reshape(len(grids), -1)
        return np.tanh(flat @ self._weights + self._offsets)


def learn(rows: Tensor, labels: Tensor, count: int, ridge: float) -> Tensor:
    """Weights (unit + 1, label) of multinomial regression, by L-BFGS (Liu and Nocedal, 1989)."""
    ones = torch.ones(len(rows), 1)
    inputs = torch.cat([rows, ones], dim=1)
    weights = torch.zeros(inputs.shape[1], count, requires_grad=True)
    search = torch.optim.LBFGS([weights], max_iter=60, line_search_fn="strong_wolfe")

    def loss() -> Tensor:
        search.zero_grad()
        value = torch.nn.functional.cross_entropy(inputs @ weights, labels)
        value = value + ridge * weights.square().sum()
        value.backward()
        return value

    search.step(loss)
    return weights.detach()
