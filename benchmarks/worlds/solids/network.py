"""A small vision transformer with a convolutional stem (Xiao et al., 2021), trained in a minute."""

from collections.abc import Iterator, Sequence

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

GRID = 6  # tokens along a side
WIDTH = 64
HEADS = 4
LAYERS = 2


class Block(nn.Module):
    """Attention, then two layers, each on what is normalised and added (pre-norm)."""

    def __init__(self) -> None:
        super().__init__()
        self.before = nn.LayerNorm(WIDTH)
        self.mix = nn.Linear(WIDTH, 3 * WIDTH)
        self.out = nn.Linear(WIDTH, WIDTH)
        self.between = nn.LayerNorm(WIDTH)
        self.wide = nn.Linear(WIDTH, 2 * WIDTH)
        self.narrow = nn.Linear(2 * WIDTH, WIDTH)

    def forward(self, tokens: Tensor, seen: Tensor) -> Tensor:
        """`seen` (picture, token) is False where no token may look."""
        mixed = self.mix(self.before(tokens))
        split = mixed.unflatten(-1, (3, HEADS, WIDTH // HEADS)).permute(2, 0, 3, 1, 4)
        queries, keys, values = split.unbind(0)
        looked = functional.scaled_dot_product_attention(
            queries, keys, values, attn_mask=seen[:, None, None, :]
        )
        tokens = tokens + self.out(looked.transpose(1, 2).flatten(-2))
        return tokens + self.narrow(functional.gelu(self.wide(self.between(tokens))))


class SmallViT(nn.Module):
    """48 pixels a side, 36 patches and a class token."""

    def __init__(self, labels: int) -> None:
        super().__init__()
        self.stem = nn.Sequential(
            nn.Conv2d(3, 24, 3, stride=2, padding=1),
            nn.GELU(),
            nn.Conv2d(24, 48, 3, stride=2, padding=1),
            nn.GELU(),
            nn.Conv2d(48, WIDTH, 3, stride=2, padding=1),
        )
        self.first = nn.Parameter(torch.zeros(1, 1, WIDTH))
        self.places = nn.Parameter(torch.zeros(1, GRID**2 + 1, WIDTH))
        self.blocks = nn.ModuleList(Block() for _ in range(LAYERS))
        self.last = nn.LayerNorm(WIDTH)
        self.head = nn.Linear(WIDTH, labels)

    def tokens(self, pictures: Tensor, seen: Tensor | None = None) -> Tensor:
        """All tokens after the last block; the class token is the first.

        `seen` (picture, token) is for the patches.
        """
        patches = self.stem(pictures).flatten(2).transpose(1, 2)
        count = len(patches)
        tokens = torch.cat([self.first.expand(count, -1, -1), patches], 1) + self.places
        if seen is None:
            seen = torch.ones(patches.shape[:2], dtype=torch.bool)
        with_first = torch.cat([torch.ones((count, 1), dtype=torch.bool), seen], 1)
        for block in self.blocks:
            tokens = block(tokens, with_first)
        return self.last(tokens)

    def forward(self, pictures: Tensor) -> Tensor:
        """Logits (picture, label)."""
        return self.head(self.tokens(pictures)[:, 0])


def as_input(pictures: Sequence[np.ndarray]) -> Tensor:
    """Float (picture, channel, row, col), around 0."""
    pixels = torch.from_numpy(np.stack(pictures))
    return pixels.permute(0, 3, 1, 2).float() / 127.5 - 1


def new_network(labels: int, generator: torch.Generator) -> SmallViT:
    """With first weights from this generator."""
    network = SmallViT(labels)
    with torch.no_grad():
        for weight in network.parameters():
            if weight.ndim > 1:
                fan_in = weight[0].numel()
                weight.normal_(0, fan_in**-0.5, generator=generator)
    return network


def fit(
    network: SmallViT,
    pictures: Sequence[np.ndarray],
    labels: Sequence[int],
    generator: torch.Generator,
    *,
    epochs: int,
    rate: float,
) -> None:
    """Train with AdamW and a rate that rises and falls once."""
    inputs = as_input(pictures)
    targets = torch.tensor(labels)
    optimizer = torch.optim.AdamW(network.parameters(), lr=rate, weight_decay=0.02)
    steps = epochs * -(-len(targets) // 64)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, rate, total_steps=steps)
    network.train()
    for rows in _batches(len(targets), epochs, generator):
        loss = functional.cross_entropy(network(inputs[rows]), targets[rows])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        schedule.step()
    network.eval()


def _batches(count: int, epochs: int, generator: torch.Generator) -> Iterator[Tensor]:
    for _ in range(epochs):
        order = torch.randperm(count, generator=generator)
        yield from order.split(64)
