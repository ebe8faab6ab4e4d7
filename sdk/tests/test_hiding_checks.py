"""The checks of `HideTokens` pass a sound image tower and catch unsound ones."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import hiding_checks
import numpy as np
import pytest
import torch
from PIL import Image
from torch import Tensor, nn

from cuescope_sdk import Frame
from cuescope_sdk.torch._image_tower import (
    Block,
    ImageTower,
    Inputs,
    Masked,
    Pooling,
    additive,
)
from cuescope_testing._contract import ContractViolation

DIM, SIDE, PATCH = 8, 12, 4
GRID = (SIDE // PATCH, SIDE // PATCH)


class Layer(nn.Module):
    """Single-head attention with a residual."""

    def __init__(self) -> None:
        super().__init__()
        self.inwards = nn.Linear(DIM, 3 * DIM)

    def forward(self, tokens: Tensor, mask: Tensor | None = None) -> Tensor:
        queries, keys, values = self.inwards(tokens)[:, None].chunk(3, dim=-1)
        attended = nn.functional.scaled_dot_product_attention(
            queries, keys, values, mask
        )
        return tokens + attended[:, 0]


class Network(nn.Module):
    """A ViT without a class token, averaged."""

    def __init__(self) -> None:
        super().__init__()
        self.embed = nn.Linear(PATCH * PATCH * 3, DIM)
        self.place = nn.Parameter(torch.empty(GRID[0] * GRID[1], DIM))
        self.layers = nn.ModuleList([Layer(), Layer()])
        self.norm = nn.LayerNorm(DIM)
        generator = torch.Generator().manual_seed(0)
        with torch.no_grad():
            for parameter in self.parameters():
                parameter.normal_(std=0.3, generator=generator)

    def forward(self, pixels: Tensor) -> Tensor:
        patches = pixels.unflatten(2, (GRID[1], PATCH)).unflatten(1, (GRID[0], PATCH))
        tokens = (
            self.embed(patches.transpose(2, 3).flatten(3).flatten(1, 2)) + self.place
        )
        for layer in self.layers:
            tokens = layer(tokens, None)
        return self.norm(tokens).mean(dim=1)


def sound() -> ImageTower:
    network = Network()

    def prepare(frames: Any) -> Inputs:
        shown = [np.asarray(f.resize((SIDE, SIDE)), np.float32) / 255 for f in frames]
        return {"pixels": torch.from_numpy(np.stack(shown))}

    def block(layer: Any) -> Block:
        masked = Masked(
            layer, "mask", 1, lambda visible: additive(visible, torch.float32)
        )
        return Block(
            masked, layer, lambda tokens: (tokens,) * 3, lambda: layer.inwards.weight
        )

    return ImageTower(
        "sound",
        prepare,
        lambda image: np.asarray(image.resize((SIDE, SIDE))),
        lambda inputs: network(inputs["pixels"]),
        lambda inputs: GRID,
        tuple(map(block, network.layers)),
        Pooling("average", module=network.norm),
        torch.device("cpu"),
        prefix=0,
    )


def one_block_unmasked(tower: ImageTower) -> ImageTower:
    return replace(tower, blocks=tower.blocks[:1])


def one_block_fully_masked(tower: ImageTower) -> ImageTower:
    masked = replace(
        tower.blocks[1].masked, form=lambda visible: torch.full((1, 1), -torch.inf)
    )
    return replace(
        tower, blocks=(tower.blocks[0], replace(tower.blocks[1], masked=masked))
    )


def plain_mean(tower: ImageTower) -> ImageTower:
    return replace(tower, pooling=Pooling("token"))


def nothing_is_hidden(tower: ImageTower) -> ImageTower:
    blocks = [
        replace(block, masked=replace(block.masked, form=lambda visible: None))
        for block in tower.blocks
    ]
    return replace(tower, blocks=tuple(blocks), pooling=Pooling("token"))


def transposed_grid(tower: ImageTower) -> ImageTower:
    def prepare(frames: Any) -> Inputs:
        return {
            name: value.transpose(1, 2) for name, value in tower.prepare(frames).items()
        }

    return replace(tower, prepare=prepare)


def shifting_forward(tower: ImageTower) -> ImageTower:
    """One whose answers drift with every call."""
    calls: list[None] = []

    def encode(inputs: Inputs) -> Tensor:
        calls.append(None)
        return tower.encode(inputs) + 0.01 * len(calls)

    return replace(tower, encode=encode)


def batch_norm(tower: ImageTower) -> ImageTower:
    """One whose answers depend on what is asked beside them."""
    return replace(
        tower, encode=lambda i: tower.encode(i) * (1 + 0.01 * len(i["pixels"]))
    )


@pytest.fixture(scope="module")
def frames() -> tuple[Frame, ...]:
    pixels = np.random.default_rng(0).integers(0, 256, (5, 20, 20, 3), dtype=np.uint8)
    return tuple(Frame.from_array(image) for image in pixels)


@pytest.mark.parametrize(
    "check", hiding_checks.CHECKS, ids=lambda check: check.__name__
)
def test_a_sound_tower_passes(
    check: hiding_checks.Check, frames: tuple[Frame, ...]
) -> None:
    check(sound(), frames)


@pytest.mark.parametrize(
    ("check", "spoil"),
    [
        (hiding_checks.hiding_nothing_is_the_plain_forward, shifting_forward),
        (hiding_checks.dropping_is_masking, one_block_unmasked),
        (hiding_checks.dropping_is_masking, plain_mean),
        (hiding_checks.hidden_content_does_not_matter, nothing_is_hidden),
        (hiding_checks.hiding_everything_is_answered, plain_mean),
        (hiding_checks.different_counts_share_a_batch, one_block_unmasked),
        (hiding_checks.different_counts_share_a_batch, one_block_fully_masked),
        (hiding_checks.padded_chunks_answer_alike, batch_norm),
        (hiding_checks.patch_features_lie_on_the_grid, transposed_grid),
    ],
    ids=lambda part: part.__name__,
)
def test_an_unsound_one_is_caught(
    check: hiding_checks.Check,
    spoil: Callable[[ImageTower], ImageTower],
    frames: tuple[Frame, ...],
) -> None:
    with pytest.raises(ContractViolation):
        check(spoil(sound()), frames)


def test_the_sound_tower_reads_patches_row_by_row() -> None:
    """The tower of this file is what its description says: patch 1 is right of patch 0."""
    pixels = np.zeros((SIDE, SIDE, 3), np.uint8)
    tower = sound()
    before = hiding_checks._entering_tokens(tower, Image.fromarray(pixels))
    pixels[:PATCH, PATCH : 2 * PATCH] = 255
    after = hiding_checks._entering_tokens(tower, Image.fromarray(pixels))
    assert np.argwhere((before != after).any(axis=-1)).tolist() == [[0, 1]]
