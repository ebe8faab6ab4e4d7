"""Tiny stock open_clip models: one with random weights, one trained to look at coloured patches."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import open_clip
import pytest
import torch
from safetensors.torch import save_file

from cuescope_sdk import Context, Frame

PATCH, CELLS = 8, 4
SIDE = PATCH * CELLS
VISION = {
    "image_size": SIDE,
    "layers": 3,
    "width": 32,
    "head_width": 16,
    "patch_size": PATCH,
}
TEXT = {"context_length": 16, "vocab_size": 49408, "width": 8, "heads": 2, "layers": 1}
COLOURS = {"red": (230, 20, 20), "green": (20, 200, 20), "blue": (20, 20, 230)}
GREY = (90, 150)


def write_folder(
    folder: Path, weights: dict[str, Any] | None = None, **vision: Any
) -> Path:
    """A model folder as on the hub: configuration and weights (random ones where None come)."""
    folder.mkdir()
    model_cfg = {"embed_dim": 16, "vision_cfg": VISION | vision, "text_cfg": TEXT}
    content = {
        "model_cfg": model_cfg,
        "preprocess_cfg": {"mean": [0.5] * 3, "std": [0.25] * 3},
    }
    (folder / "open_clip_config.json").write_text(json.dumps(content))
    if weights is None:
        with torch.random.fork_rng():
            torch.manual_seed(7)
            weights = open_clip.create_model(f"local-dir:{folder}").state_dict()
    save_file(weights, folder / "open_clip_model.safetensors")
    return folder


@pytest.fixture(scope="session")
def build(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Any]:
    """`build(**vision)`: a cuescope model with random weights, of another configuration."""

    def make(**vision: Any) -> Any:
        folder = write_folder(tmp_path_factory.mktemp("models") / "tiny", **vision)
        return Context(device="cpu").build("model", f"open-clip:{folder}")

    return make


@pytest.fixture(scope="session")
def model(build: Callable[..., Any]) -> Any:
    return build()


@pytest.fixture(scope="session")
def frame() -> Frame:
    pixels = np.random.default_rng(5).integers(0, 256, (SIDE, SIDE, 3), dtype=np.uint8)
    return Frame.from_array(pixels)


def two_patches(rng: np.random.Generator) -> tuple[np.ndarray, dict[str, int]]:
    """Grey noise with two patches of different colours, and where they are, by colour."""
    pixels = rng.integers(*GREY, (SIDE, SIDE, 1)).repeat(3, axis=2)
    patches = rng.permutation(CELLS * CELLS)[:2].tolist()
    shown = dict(zip(rng.permutation(list(COLOURS))[:2].tolist(), patches, strict=True))
    for colour, patch in shown.items():
        row, col = (PATCH * part for part in divmod(patch, CELLS))
        pixels[row : row + PATCH, col : col + PATCH] = COLOURS[colour]
    return pixels.astype(np.uint8), shown


@pytest.fixture(scope="session")
def draw() -> Callable[[np.random.Generator], tuple[np.ndarray, dict[str, int]]]:
    return two_patches


@pytest.fixture(scope="session")
def planted(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """A model written by hand: its class token takes up the colours of the patches.

    Channels 0-2 of a token are its mean colour, 3 and 4 a constant that tames the layer norms.
    The last block's first head attends to dark patches, its second to all alike; the values of
    both are the colour. The first block adds nothing. Similarity is that of hues.
    """
    folder = write_folder(
        tmp_path_factory.mktemp("planted") / "clip", layers=2, no_ln_pre=True
    )
    network = open_clip.create_model(f"local-dir:{folder}", load_weights=True)
    visual, colour, eye = network.visual, slice(0, 3), torch.eye(3)
    first, second = visual.transformer.resblocks
    with torch.no_grad():
        for tensor in (
            visual.conv1.weight,
            visual.positional_embedding,
            visual.class_embedding,
            visual.proj,
            second.attn.in_proj_weight,
            first.attn.out_proj.weight,
            second.attn.out_proj.weight,
            first.mlp.c_proj.weight,
            second.mlp.c_proj.weight,
        ):
            tensor.zero_()
        visual.conv1.weight[colour] = eye[:, :, None, None] / PATCH**2
        visual.positional_embedding[:, 3], visual.positional_embedding[:, 4] = 3.0, -3.0
        queries, keys, values = second.attn.in_proj_weight.chunk(3)
        queries[0, 3], keys[0, colour], keys[1, 3] = 1.0, -0.5, 1.0
        for head in (0, 16):
            values[head : head + 3, colour] = eye
            second.attn.out_proj.weight[colour, head : head + 3] = eye
        visual.proj[colour, colour] = eye - 1 / 3
    save_file(network.state_dict(), folder / "open_clip_model.safetensors")
    texts = np.zeros((3, 16), dtype=np.float32)
    texts[:, colour] = np.eye(3) - 1 / 3
    np.savez(folder / "colours.npz", names=np.array(list(COLOURS)), embeddings=texts)
    options = {"class_embeddings": str(folder / "colours.npz")}
    return Context(device="cpu").build("model", f"open-clip:{folder}", options)
