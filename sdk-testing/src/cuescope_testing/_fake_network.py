"""The network of `FakeTower`, on torch."""

from collections.abc import Sequence

import numpy as np
import torch
from jaxtyping import Float
from PIL import Image
from torch import Tensor, nn

from cuescope_sdk.torch import (
    Block,
    ImageTower,
    Inputs,
    Masked,
    Pooling,
    additive,
    split_heads,
)

SIDE = 8
PATCH = 4
WIDTH = 16
HEADS = 2
BLOCKS = 2
SEED = 3
GRID = SIDE // PATCH
Tokens = Float[Tensor, "image token dim"]


class Attention(nn.Module):
    """Attention of several heads, as a mask of one row lets it."""

    def __init__(self) -> None:
        super().__init__()
        self.project = nn.Linear(WIDTH, 3 * WIDTH)
        self.out = nn.Linear(WIDTH, WIDTH)

    def heads_of(self, tokens: Tokens) -> tuple[Tensor, Tensor, Tensor]:
        """Queries, keys and values (image, head, token, dim), queries scaled."""
        query, key, value = (
            split_heads(part, HEADS) for part in self.project(tokens).chunk(3, dim=-1)
        )
        return query * query.shape[-1] ** -0.5, key, value

    def forward(self, tokens: Tokens, mask: Tensor | None = None) -> Tokens:
        """The mixed tokens."""
        query, key, value = self.heads_of(tokens)
        scores = query @ key.mT
        if mask is not None:
            scores = scores + mask
        mixed = scores.softmax(dim=-1) @ value
        return torch.as_tensor(self.out(mixed.transpose(1, 2).flatten(2)))


class Layer(nn.Module):
    """Attention and a small network, each beside the stream."""

    def __init__(self) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(WIDTH)
        self.attention = Attention()
        self.mix = nn.Sequential(
            nn.LayerNorm(WIDTH), nn.Linear(WIDTH, WIDTH), nn.GELU()
        )

    def forward(self, tokens: Tokens, mask: Tensor | None = None) -> Tokens:
        """The tokens after it."""
        tokens = tokens + self.attention(self.norm(tokens), mask)
        return torch.as_tensor(tokens + self.mix(tokens))


class Network(nn.Module):
    """A class token and the patches through the layers; the class token answers."""

    def __init__(self) -> None:
        super().__init__()
        self.embed = nn.Conv2d(3, WIDTH, PATCH, PATCH)
        self.first = nn.Parameter(torch.randn(1, 1, WIDTH))
        self.places = nn.Parameter(torch.randn(1, 1 + GRID**2, WIDTH))
        self.layers = nn.ModuleList(Layer() for _ in range(BLOCKS))

    def forward(self, pixels: Float[Tensor, "image 3 row col"]) -> Tensor:
        """Embeddings (image, dim)."""
        patches = self.embed(pixels).flatten(2).mT
        tokens = torch.cat([self.first.expand(len(patches), -1, -1), patches], dim=1)
        tokens = tokens + self.places
        for layer in self.layers:
            tokens = layer(tokens)
        return tokens[:, 0]


def build_tower() -> ImageTower:
    """The network as an `ImageTower`; the same weights each time."""
    with torch.random.fork_rng():
        torch.manual_seed(SEED)
        network = Network().eval()
    return ImageTower(
        name="fake-tower",
        prepare=_prepare,
        canvas=lambda image: np.asarray(image.resize((SIDE, SIDE))),
        encode=lambda inputs: torch.as_tensor(network(inputs["pixels"])),
        grid=lambda inputs: (GRID, GRID),
        blocks=tuple(_block(layer) for layer in network.layers),
        pooling=Pooling("token"),
        device=torch.device("cpu"),
    )


def _prepare(frames: Sequence[Image.Image]) -> Inputs:
    pixels = np.stack([np.asarray(frame.resize((SIDE, SIDE))) for frame in frames])
    return {"pixels": torch.from_numpy(pixels / 255).float().permute(0, 3, 1, 2)}


def _block(layer: nn.Module) -> Block:
    attention = layer.attention
    if not isinstance(attention, Attention):
        raise TypeError(f"expected an Attention, got {type(attention).__name__}")
    masked = Masked(layer, "mask", 1, lambda visible: additive(visible, torch.float32))
    return Block(masked, attention, attention.heads_of, lambda: attention.out.weight)
