"""Patches as a graph: each is joined to those that are most like it (Vision GNN: Han et al., 2022),
and learned queries attend to all of them (pooling by attention: Lee et al., 2019).
"""

from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor, nn

from worlds.networks import PlacesNetwork

STEM = 32  # channels of the first convolution
WIDTH = 56  # channels of a patch
GRID = 8  # patches a side
GROUPS = 4  # of channels that are normalised together
NEIGHBOURS = (6, 9)  # of a patch, in each block
QUERIES = 4
READ = 24  # channels that a query reads


class Neighbours(nn.Module):
    """How the patches that are most like a patch differ from it.

    Deviates from Vision GNN: their mean and not their maximum, which is a product of matrices.
    """

    def __init__(self, count: int) -> None:
        super().__init__()
        self.count = count
        self.mix = nn.Linear(2 * WIDTH, WIDTH)

    def forward(self, patches: Tensor) -> Tensor:
        """Float (picture, patch, channel), of the same shape."""
        unit = nn.functional.normalize(patches.detach(), dim=-1)
        alike = unit @ unit.transpose(1, 2)
        nearest = alike.topk(self.count, dim=-1).indices
        edges = torch.zeros_like(alike).scatter(-1, nearest, 1 / self.count)
        differing = edges @ patches - patches
        mixed: Tensor = self.mix(torch.cat([patches, differing], dim=-1))
        return mixed


class Block(nn.Module):
    """A patch among its neighbours, then on its own."""

    def __init__(self, count: int) -> None:
        super().__init__()
        self.before = nn.LayerNorm(WIDTH)
        self.neighbours = Neighbours(count)
        self.out = nn.Linear(WIDTH, WIDTH)
        self.layers = nn.Sequential(
            nn.LayerNorm(WIDTH),
            nn.Linear(WIDTH, 2 * WIDTH),
            nn.GELU(),
            nn.Linear(2 * WIDTH, WIDTH),
        )

    def forward(self, patches: Tensor) -> Tensor:
        """Float (picture, patch, channel), of the same shape."""
        joined = nn.functional.gelu(self.neighbours(self.before(patches)))
        patches = patches + self.out(joined)
        changed: Tensor = patches + self.layers(patches)
        return changed


class PatchGraph(PlacesNetwork):
    """Logits of labels from pictures, float (picture, row, col, 3)."""

    def __init__(self, labels: int) -> None:
        super().__init__()
        self.stem = nn.Sequential(
            nn.Conv2d(3, STEM, 8, stride=4, padding=2),
            nn.GroupNorm(GROUPS, STEM),
            nn.ReLU(),
            nn.Conv2d(STEM, WIDTH, 4, stride=2, padding=1),
        )
        self.places = nn.Parameter(torch.zeros(GRID * GRID, WIDTH))
        self.blocks = nn.Sequential(*map(Block, NEIGHBOURS))
        self.norm = nn.LayerNorm(WIDTH)
        self.queries = nn.Linear(WIDTH, QUERIES)
        self.values = nn.Linear(WIDTH, QUERIES * READ)
        self.head = nn.Linear(QUERIES * READ, labels)

    @staticmethod
    def as_input(pictures: Sequence[np.ndarray]) -> Tensor:
        """Float (picture, row, col, 3), about -1 to 3, as most of a scan is dark."""
        return torch.from_numpy(np.stack(pictures)).float() / 64 - 1

    def tokens(self, pictures: Tensor) -> Tensor:
        """Of each of 8 x 8 patches: float (picture, row, col, channel)."""
        maps = self.stem(pictures.permute(0, 3, 1, 2))
        patches = maps.flatten(2).transpose(1, 2) + self.places
        tokens: Tensor = self.norm(self.blocks(patches))
        return tokens.unflatten(1, (GRID, GRID))

    def pool(self, tokens: Tensor) -> Tensor:
        """What the last layer reads: float (picture, query x channel)."""
        patches = tokens.flatten(1, 2)
        shares = self.queries(patches).softmax(dim=1)
        values = self.values(patches).unflatten(-1, (QUERIES, READ))
        return torch.einsum("npq,npqc->nqc", shares, values).flatten(1)
