"""The tokens of the image encoder, against the library's own modules and by place."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import transformers
from torch import Tensor

from cuescope_sdk import Frame, UserError
from cuescope_sdk.torch import quiet
from cuescope_transformers.generative import TransformersVLM
from cuescope_transformers.generative.patches import ENCODERS

Build = Callable[..., TransformersVLM]
TOWERS = ("llava", "llava-next", "llava-next-video", "llava-onevision", "paligemma")
PACKED = ("qwen2-vl", "qwen2.5-vl")
CELL = {**dict.fromkeys(TOWERS, 4), **dict.fromkeys(PACKED, 8), "mllama": 4}
FITTING = {
    **dict.fromkeys(TOWERS, (16, 16)),
    **dict.fromkeys(PACKED, (24, 40)),
    "mllama": (16, 32),
}


def noise(size: tuple[int, int], seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).integers(0, 256, (*size, 3), dtype=np.uint8)


def library(plugin: TransformersVLM, frame: Frame) -> tuple[Any, dict[str, Any]]:
    """A model that this package never touched, and what its image processor makes of a frame."""
    folder: str = plugin.options.model  # type: ignore[attr-defined]
    with quiet():
        network = transformers.AutoModelForImageTextToText.from_pretrained(
            folder
        ).eval()
        processor = transformers.AutoProcessor.from_pretrained(folder)
        shown = processor.image_processor([frame.load()], return_tensors="pt")
    return network.model, dict(shown)


@pytest.mark.parametrize("kind", CELL)
def test_the_canvas_of_a_frame_that_fits_is_the_frame(build: Build, kind: str) -> None:
    pixels = noise(FITTING[kind])
    plugin = build(kind)
    assert hasattr(plugin, "patch_features")
    [canvas] = plugin.canvas([Frame.from_array(pixels)])
    np.testing.assert_array_equal(canvas, pixels)
    odd = Frame.from_array(noise((37, 50)))
    [once] = plugin.canvas([odd])
    np.testing.assert_array_equal(plugin.canvas([Frame.from_array(once)])[0], once)


@pytest.mark.parametrize("kind", CELL)
@pytest.mark.parametrize("layer", [0, -1])
def test_a_token_lies_where_its_pixels_are(build: Build, kind: str, layer: int) -> None:
    """Other pixels in one cell change the token of that cell the most."""
    pixels, cell, plugin = noise(FITTING[kind]), CELL[kind], build(kind)
    rows, cols = (side // cell for side in pixels.shape[:2])
    [plain] = plugin.patch_features([Frame.from_array(pixels)], layer)
    assert plain.shape[:2] == (rows, cols)
    for row, col in ((0, cols - 1), (rows - 1, 1), (1, cols // 2)):
        other = pixels.copy()
        at = np.s_[row * cell : (row + 1) * cell, col * cell : (col + 1) * cell]
        other[at] = 255 - other[at]
        [changed] = plugin.patch_features([Frame.from_array(other)], layer)
        change = np.linalg.norm(changed - plain, axis=-1)
        assert np.unravel_index(change.argmax(), change.shape) == (row, col)


@pytest.mark.parametrize("kind", PACKED)
def test_merged_tokens_are_the_librarys(build: Build, kind: str) -> None:
    """The last layer is what the language model reads, and the merger of the one before."""
    plugin, frame = build(kind), Frame.from_array(noise((50, 90)))
    base, shown = library(plugin, frame)
    [last], [block] = (plugin.patch_features([frame], layer) for layer in (-1, -2))
    with torch.no_grad():
        [expected] = base.get_image_features(**shown).pooler_output
        merged = base.visual.merger(torch.from_numpy(block).reshape(-1, 32))
    np.testing.assert_allclose(last.reshape(len(expected), -1), expected, atol=1e-5)
    np.testing.assert_allclose(merged, expected, atol=1e-5)
    assert block.shape == (*last.shape[:2], 4 * 32)


@pytest.mark.parametrize("kind", TOWERS)
def test_projected_patches_are_the_librarys(build: Build, kind: str) -> None:
    """Of the whole image, which comes before the tiles; some read a layer before the last."""
    plugin, frame = build(kind), Frame.from_array(noise((30, 50)))
    base, shown = library(plugin, frame)
    read = getattr(base.config, "vision_feature_layer", -1) - 1
    [last], [block] = (plugin.patch_features([frame], layer) for layer in (-1, read))
    finish: Callable[[Tensor], Tensor] = (
        base.vision_tower.post_layernorm
        if kind == "paligemma"
        else lambda tokens: tokens
    )
    with torch.no_grad():
        features = base.get_image_features(**shown).pooler_output[0][:16]
        projected = base.multi_modal_projector(
            finish(torch.from_numpy(block).reshape(1, 16, 32))
        )
    np.testing.assert_allclose(last.reshape(16, -1), features, atol=1e-5)
    np.testing.assert_allclose(projected[0], features, atol=1e-5)


def test_tiles_are_put_together(build: Build) -> None:
    """Two tiles side by side, each of a class token and 4 x 4 patches."""
    plugin, frame = build("mllama"), Frame.from_array(noise((16, 32)))
    base, shown = library(plugin, frame)
    [found] = plugin.patch_features([frame])
    names = ("pixel_values", "aspect_ratio_ids", "aspect_ratio_mask")
    with torch.no_grad():
        states = base.vision_model(
            **{name: shown[name] for name in names}
        ).last_hidden_state
        read = base.multi_modal_projector(states)[0, 0]
    for row, col in np.ndindex(4, 8):
        tile, place = divmod(col, 4)
        np.testing.assert_allclose(
            found[row, col], read[tile, 1 + 4 * row + place], atol=1e-5
        )


def test_families_that_show_no_patches_say_so(build: Build) -> None:
    """The plan has the reason that the run gives."""
    frame = Frame.from_array(noise((16, 16)))
    for kind in ("florence2", "blip-2", "git"):
        plugin = build(kind)
        assert "patches" not in plugin.capabilities.exposes
        reason = plugin.capabilities.notes["patches"]
        for ask in (plugin.canvas, plugin.patch_features):
            with pytest.raises(UserError, match="does not show its patches") as refusal:
                ask([frame])
            assert reason in str(refusal.value)


def test_families_that_hide_tokens_show_them(
    folder_of: Callable[[str], Path], build: Build
) -> None:
    shown = [build(kind) for kind in CELL]
    assert {plugin._model.kind for plugin in shown} == ENCODERS.keys()
    assert all("patches" in plugin.capabilities.exposes for plugin in shown)


def test_half_precision_shows_about_the_same(build: Build) -> None:
    frame = Frame.from_array(noise((50, 90)))
    for kind in ("qwen2-vl", "llava-next"):
        full, half = build(kind), build(kind, dtype="bfloat16")
        np.testing.assert_array_equal(
            *(plugin.canvas([frame])[0] for plugin in (full, half))
        )
        [one], [other] = (plugin.patch_features([frame]) for plugin in (full, half))
        assert np.abs(one - other).max() < 0.05 * np.abs(one).max()
