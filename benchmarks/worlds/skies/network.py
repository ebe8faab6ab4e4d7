"""Densely connected convolutions (Huang et al., 2017) that see a part of the picture at once, and
a pool that counts them by learned words (NetVLAD: Arandjelovic et al., 2016).
"""

from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor, nn

from worlds.networks import PlacesNetwork

STEM = 16
GROWTHS = (10, 16)  # channels that each layer adds
LAYERS = (3, 2)
BETWEEN = 32
WIDTH = 24  # channels of a place
WORDS = 10
APART = 0.6  # how unlike the words choose before they have learned
SHARP = 16.0  # of logits, as embeddings have length 1


class Dense(nn.Module):
    """Layers of which each reads all that the ones before it have said."""

    def __init__(self, channels: int, growth: int, layers: int) -> None:
        super().__init__()
        self.layers = nn.ModuleList()
        for number in range(layers):
            before = channels + number * growth
            convolution = nn.Conv2d(before, growth, 3, padding=1)
            self.layers.append(nn.Sequential(nn.GroupNorm(1, before), convolution))
        self.channels = channels + layers * growth

    def forward(self, maps: Tensor) -> Tensor:
        """Float (picture, channel, row, col), of more channels."""
        for layer in self.layers:
            maps = torch.cat([maps, layer(maps).relu()], dim=1)
        return maps


class Words(nn.Module):
    """How the places differ from the words that are next to them, on average for each word.

    Deviates from NetVLAD: a mean and not a sum, as most places are of the empty sky.
    """

    def __init__(self, width: int, words: int) -> None:
        super().__init__()
        self.choose = nn.Linear(width, words)
        nn.init.normal_(self.choose.weight, std=APART)
        self.words = nn.Parameter(0.1 * torch.randn(words, width))

    def forward(self, places: Tensor) -> Tensor:
        """From float (picture, place, channel): (picture, word x channel), of length 1."""
        shares = self.choose(places).softmax(dim=-1)
        sums = shares.transpose(1, 2) @ places
        # one more, so that a word of no place has a mean
        counts = shares.sum(dim=1)[:, :, None] + 1
        apart = sums / counts - self.words
        return nn.functional.normalize(apart.flatten(1), dim=1)


class DenseWords(PlacesNetwork):
    """Logits of labels from pictures, float (picture, row, col, 3)."""

    def __init__(self, labels: int) -> None:
        super().__init__()
        self.stem = nn.Conv2d(3, STEM, 5, stride=2, padding=2)
        self.fine = Dense(STEM, GROWTHS[0], LAYERS[0])
        self.between = nn.Conv2d(self.fine.channels, BETWEEN, 1)
        self.coarse = Dense(BETWEEN, GROWTHS[1], LAYERS[1])
        self.narrow = nn.Conv2d(self.coarse.channels, WIDTH, 1)
        self.norm = nn.LayerNorm(WIDTH)
        self.words = Words(WIDTH, WORDS)
        self.head = nn.Linear(WORDS * WIDTH, labels)
        for layer in self.modules():
            if isinstance(layer, nn.Conv2d):
                nn.init.kaiming_normal_(layer.weight, nonlinearity="relu")
                nn.init.zeros_(layer.bias)

    @staticmethod
    def as_input(pictures: Sequence[np.ndarray]) -> Tensor:
        """Float (picture, row, col, 3), about -1 to 2."""
        return torch.from_numpy(np.stack(pictures)).float() / 85 - 1

    def tokens(self, pictures: Tensor) -> Tensor:
        """Of each of 16 x 16 places: float (picture, row, col, channel)."""
        maps = self.stem(pictures.permute(0, 3, 1, 2)).relu()
        maps = self.between(self.fine(maps)).relu()
        maps = self.coarse(nn.functional.avg_pool2d(maps, 2))
        return self.norm(self.narrow(maps).permute(0, 2, 3, 1))

    def pool(self, tokens: Tensor) -> Tensor:
        """What the last layer reads: float (picture, word x channel)."""
        return self.words(tokens.flatten(1, 2))

    def last(self, embeddings: Tensor) -> Tensor:
        """Logits of embeddings: float (picture, label)."""
        logits: Tensor = self.head(SHARP * embeddings)
        return logits
