"""The tokens of the image encoder, and the pixels that it sees of an image.

Layers are those of the encoder, and after them what the language model reads: of Qwen2-VL the
tokens that its merger makes of 2 x 2 patches (SpurLens, appendix M, averages those). In all layers
the tokens are those that it reads, so that merged patches stand side by side in one. Of an image
that is shown whole and in tiles the whole is looked at; Mllama's tiles are the image.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from jaxtyping import Float, UInt8
from torch import Tensor, nn

from cuescope_sdk import Frame, Sample, UserError
from cuescope_sdk.torch import hook_output, quiet, to_array
from cuescope_transformers.generative.family import PACKED, TOWERS, WITH_TOWER
from cuescope_transformers.generative.inputs import (
    Inputs,
    media_of,
    network_inputs,
    processor_outputs,
)
from cuescope_transformers.generative.loading import GenerativeModel
from cuescope_transformers.generative.modules import arguments
from cuescope_transformers.generative.prompts import render_prompt
from cuescope_transformers.towers import as_image

Layers = list[nn.Module]


@dataclass(frozen=True)
class ImageEncoder:
    """How a family looks at one image, given its base model and what its processor makes of it.

    `pixels` are normalised, (row, col, 3). The last of `layers` gives what the language model
    reads; `run` runs them all, and `on_grid` puts on the grid what one of them gave.
    """

    pixels: Callable[[GenerativeModel, Inputs], Tensor]
    layers: Callable[[Any], Layers]
    run: Callable[[Any, Inputs], object]
    on_grid: Callable[[Any, Inputs, Tensor], Tensor]


def shows_patches(model: GenerativeModel) -> bool:
    """Whether it is known where a family's tokens lie."""
    encoder = ENCODERS.get(model.kind)
    # these families take any tower, and only some are known here
    if encoder is TOWER:
        return model.files.config.vision_config.model_type in TOWERS
    return encoder is not None


def canvas(
    model: GenerativeModel, frames: Sequence[Frame]
) -> list[UInt8[np.ndarray, "height width 3"]]:
    """The pixels that the encoder sees of each frame, shown as an image."""
    encoder = _encoder_of(model)
    images = []
    for frame in frames:
        # of the processor alone: no weights are opened for it
        inputs = processor_outputs(model, *_without_words(model, frame))
        pixels = encoder.pixels(model, inputs)
        images.append(as_image(pixels, model.processor.image_processor))
    return images


def patch_features(
    model: GenerativeModel,
    frames: Sequence[Frame],
    layer: int,
) -> list[Float[np.ndarray, "row col dim"]]:
    """Tokens after a layer; raises UserError for one that is not there."""
    encoder = _encoder_of(model)
    layers = encoder.layers(model.network.base_model)
    if not -len(layers) <= layer < len(layers):
        raise UserError(
            f"{model.title} has no image layer {layer}",
            expected=f"0 to {len(layers) - 1}, what the language model reads",
        )
    return [_tokens(model, encoder, layers[layer], frame) for frame in frames]


@torch.inference_mode()
def _tokens(
    model: GenerativeModel,
    encoder: ImageEncoder,
    layer: nn.Module,
    frame: Frame,
) -> Float[np.ndarray, "row col dim"]:
    base = model.network.base_model
    inputs = network_inputs(model, *_without_words(model, frame))
    outputs: list[Tensor] = []
    with quiet(), hook_output(layer, outputs.append):
        encoder.run(base, inputs)
    return to_array(encoder.on_grid(base, inputs, outputs[0]))


def _without_words(
    model: GenerativeModel, frame: Frame
) -> tuple[list[Sample], list[str]]:
    """A frame with no words, as `network_inputs` takes it."""
    sample = Sample(key=frame.key, frames=(frame,))
    media = media_of(model, sample)
    prompt = render_prompt(model.processor, model.kind, "", media)
    return [sample], [prompt]


def _encoder_of(model: GenerativeModel) -> ImageEncoder:
    if not shows_patches(model):
        raise UserError(
            f"{model.title} does not show its patches",
            expected=f"{', '.join(ENCODERS)}, with {' or '.join(TOWERS)} where it has a tower",
            got=f"the architecture '{model.kind}'",
        )
    return ENCODERS[model.kind]


def _image_features(base: Any, inputs: Inputs) -> object:
    names = arguments(base.get_image_features) & inputs.keys()
    return base.get_image_features(**{name: inputs[name] for name in names})


# --------------------------------------------- an image tower and a projector: LLaVA, PaliGemma


def _whole_image(model: GenerativeModel, inputs: Inputs) -> Tensor:
    values: Tensor = inputs["pixel_values"]
    # where tiles follow, the first view is the whole image
    first = values.reshape(-1, *values.shape[-3:])[0]
    return first.permute(1, 2, 0)


def _tower_layers(base: Any) -> Layers:
    # some towers are wrapped, and others stand alone
    tower = getattr(base.vision_tower, "vision_model", base.vision_tower)
    return [*tower.encoder.layers, base.multi_modal_projector]


def _tower_grid(base: Any, inputs: Inputs, tokens: Tensor) -> Tensor:
    """The patches of the first image, which end its tokens."""
    patch = base.config.vision_config.patch_size
    height, width = inputs["pixel_values"].shape[-2:]
    rows = height // patch
    cols = width // patch
    # CLIP has a class token before them
    return tokens[0, -rows * cols :].view(rows, cols, -1)


# ----------------------------------------------------------------- patches that come block by block


def _unpack_pixels(model: GenerativeModel, inputs: Inputs) -> Tensor:
    """Each patch is its colours, some frames of each, and rows and columns of pixels."""
    processor = model.processor.image_processor
    size = processor.patch_size
    merge = processor.merge_size
    _, rows, cols = inputs["image_grid_thw"][0].tolist()
    blocks = (rows // merge, cols // merge, merge, merge)
    patches = inputs["pixel_values"].view(*blocks, 3, -1, size, size)
    # the first of the frames that a patch spans: a single image is there twice
    first = patches[:, :, :, :, :, 0]
    pixels = first.permute(0, 2, 5, 1, 3, 6, 4)
    return torch.as_tensor(pixels.reshape(rows * size, cols * size, 3))


def _packed_layers(base: Any) -> Layers:
    return [*base.visual.blocks, base.visual.merger]


def _packed_grid(base: Any, inputs: Inputs, tokens: Tensor) -> Tensor:
    """Merged tokens, or the patches of each side by side."""
    from transformers.vision_utils import get_vision_window_index

    visual = base.visual
    grid = inputs["image_grid_thw"]
    merge = visual.spatial_merge_size
    _, rows, cols = (grid[0] // merge).tolist()
    merged = tokens.reshape(rows * cols, -1)
    if hasattr(visual, "window_size"):
        # Qwen2.5-VL sorts its tokens by window before the first block; this is the way back
        order, _ = get_vision_window_index(
            grid, merge, visual.window_size, visual.patch_size
        )
        merged = merged[order.to(merged.device).argsort()]
    return merged.view(rows, cols, -1)


# ------------------------------------------------------------------------ tiles that are the image


def _tiles(config: Any, inputs: Inputs) -> tuple[int, int]:
    """Rows and columns of them."""
    number = int(inputs["aspect_ratio_ids"][0, 0])
    # ids count from 1: 0 is padding
    rows, cols = config.vision_config.supported_aspect_ratios[number - 1]
    return rows, cols


def _join_tiles(model: GenerativeModel, inputs: Inputs) -> Tensor:
    rows, cols = _tiles(model.files.config, inputs)
    # the tiles behind these are padding
    tiles = inputs["pixel_values"][0, 0, : rows * cols].unflatten(0, (rows, cols))
    pixels = tiles.permute(0, 3, 1, 4, 2).flatten(0, 1)
    return torch.as_tensor(pixels.flatten(1, 2))


def _tiled_layers(base: Any) -> Layers:
    vision = base.vision_model
    layers = [*vision.transformer.layers, *vision.global_transformer.layers]
    return [*layers, base.multi_modal_projector]


def _run_tiled(base: Any, inputs: Inputs) -> object:
    names = ("pixel_values", "aspect_ratio_ids", "aspect_ratio_mask")
    output = base.vision_model(**{name: inputs[name] for name in names})
    return base.multi_modal_projector(output.last_hidden_state)


def _tiled_grid(base: Any, inputs: Inputs, tokens: Tensor) -> Tensor:
    """A tile is a class token, its patches and perhaps padding."""
    rows, cols = _tiles(base.config, inputs)
    values = inputs["pixel_values"]
    side = values.shape[-1] // base.config.vision_config.patch_size
    by_tile = tokens.reshape(values.shape[2], -1, tokens.shape[-1])
    patches = by_tile[: rows * cols, 1 : 1 + side**2]
    tiles = patches.reshape(rows, cols, side, side, -1).transpose(1, 2)
    return tiles.flatten(0, 1).flatten(1, 2)


TOWER = ImageEncoder(_whole_image, _tower_layers, _image_features, _tower_grid)
BLOCKED = ImageEncoder(_unpack_pixels, _packed_layers, _image_features, _packed_grid)
TILED = ImageEncoder(_join_tiles, _tiled_layers, _run_tiled, _tiled_grid)
ENCODERS: dict[str, ImageEncoder] = {
    **dict.fromkeys(PACKED, BLOCKED),
    **dict.fromkeys(WITH_TOWER, TOWER),
    "mllama": TILED,
}
