"""The tokens of the image encoder, and the pixels that it sees of an image.

Of the families in `ENCODERS`: the layers of the encoder, and after them what the language model
reads, of Qwen2-VL the tokens that its merger makes of 2 x 2 patches (SpurLens, appendix M,
averages those). In all layers the tokens are those that it reads, so that
merged patches stand side by side in one. Of an image that is shown whole and in tiles the whole is
looked at; Mllama's tiles are the image.
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
Area = tuple[tuple[float, float], tuple[float, float]]
Size = tuple[int, int]
Levels = Float[np.ndarray, "height width"]

TOWERS = ("clip_vision_model", "siglip_vision_model")
WHITE = 255
CHANNELS = 3
PROBE = (150, 222)  # of an image that is drawn
UNKNOWN = "where the tokens of its family lie on an image is not known here"


@dataclass(frozen=True)
class ImageEncoder:
    """How a family looks at one image, given its base model and what its processor makes of it.

    `pixels` are normalised, (row, col, 3), and `grid` is rows and columns of tokens. The last of
    `layers` gives what the language model reads; `run` runs them all, and `on_grid` puts on the
    grid what one of them gave.
    """

    pixels: Callable[[GenerativeModel, Inputs], Tensor]
    grid: Callable[[Any, Inputs], tuple[int, int]]
    layers: Callable[[Any], Layers]
    run: Callable[[Any, Inputs], object]
    on_grid: Callable[[Any, Inputs, Tensor], Tensor]


def why_no_patches(model: GenerativeModel) -> str | None:
    """Why nobody knows where the model's tokens lie; None where it is known."""
    return None if encoder_of(model) is not None else UNKNOWN


def canvas(
    model: GenerativeModel, frames: Sequence[Frame]
) -> list[UInt8[np.ndarray, "height width 3"]]:
    """The pixels that the encoder sees of each frame, shown as an image."""
    encoder = require_encoder(model)
    images = []
    for frame in frames:
        # of the processor alone: no weights are opened for it
        pixels = encoder.pixels(model, process(model, frame))
        images.append(as_image(pixels, model.processor.image_processor))
    return images


def grid_shape(model: GenerativeModel, frame: Frame) -> tuple[int, int] | None:
    """Rows and columns of the tokens of a frame; None where they are not known."""
    encoder = encoder_of(model)
    if encoder is None:
        return None
    size = frame.load().size
    if size not in model.shapes:
        config = model.files.config
        model.shapes[size] = encoder.grid(config, process(model, frame))
    return model.shapes[size]


def seen_area(model: GenerativeModel, frame: Frame) -> Area:
    """Where what the network sees lies on frames of this size, down and across.

    In shares of the sides: (0, 1) is the whole, and beyond them a frame is padded.
    """
    width, height = frame.load().size
    size = (height, width)
    if size not in model.areas:
        model.areas[size] = _find_area(model, size)
    area: Area = model.areas[size]
    return area


def _find_area(model: GenerativeModel, size: tuple[int, int]) -> Area:
    """The same by drawings of ramps."""
    frames = [draw(levels) for levels in (*ends(size), *slopes(size))]
    images = [image[..., 0].astype(float) for image in canvas(model, frames)]
    black, white, *ramps = images
    shown = white > black
    sides = []
    for axis, ramp in enumerate(ramps):
        share = (ramp - black)[shown] / (white - black)[shown]
        # a level is that of the middle of its pixel
        side = size[axis]
        middle = (share * (side - 1) + 0.5) / side
        pixel = np.nonzero(shown)[axis]
        place = (pixel + 0.5) / ramp.shape[axis]
        slope, start = np.polyfit(place, middle, 1)
        sides.append((float(start), float(start + slope)))
    down, across = sides
    return down, across


def patch_features(
    model: GenerativeModel,
    frames: Sequence[Frame],
    layer: int,
) -> list[Float[np.ndarray, "row col dim"]]:
    """Tokens after a layer; raises UserError for one that is not there."""
    encoder = require_encoder(model)
    layers = encoder.layers(model.network.base_model)
    depth = len(layers)
    if not -depth <= layer < depth:
        raise UserError(
            f"{model.title} has no image layer {layer}",
            expected=f"0 to {depth - 1}, what the language model reads",
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
    inputs = network_inputs(model, *without_words(model, frame))
    outputs: list[Tensor] = []
    with quiet(), hook_output(layer, outputs.append):
        encoder.run(base, inputs)
    return to_array(encoder.on_grid(base, inputs, outputs[0]))


def encoder_of(model: GenerativeModel) -> ImageEncoder | None:
    """What is written for the family; None where nothing is."""
    encoder = ENCODERS.get(model.kind)
    # these families take any tower, and only some are known here
    if encoder is TOWER and model.files.config.vision_config.model_type not in TOWERS:
        return None
    return encoder


def require_encoder(model: GenerativeModel) -> ImageEncoder:
    """The same; raises UserError where nothing is written for the family."""
    encoder = encoder_of(model)
    if encoder is None:
        raise UserError(f"{model.title} does not show its patches", got=UNKNOWN)
    return encoder


def takes_pixels_apart(model: GenerativeModel) -> bool:
    """Whether a pixel becomes what it is whatever the rest of the image shows.

    Of an image half black and half white most then is what comes of black, or of white.
    """
    black, white = ends(PROBE)
    half = np.where(np.arange(black.shape[1]) < black.shape[1] // 2, black, white)
    try:
        outputs = [process(model, draw(levels)) for levels in (black, white, half)]
    # a processor that refuses a drawing may take photos
    except UserError:
        return True
    for name, dark in outputs[0].items():
        if isinstance(dark, Tensor) and dark.is_floating_point():
            light, mixed = (output[name] for output in outputs[1:])
            near = torch.isclose(mixed, dark) | torch.isclose(mixed, light)
            shown = dark != light
            if shown.any():
                return bool(near[shown].float().mean() > 0.5)
    return False


def without_words(
    model: GenerativeModel, frame: Frame
) -> tuple[list[Sample], list[str]]:
    """A frame with no words, as `network_inputs` takes it."""
    sample = Sample(key=frame.key, frames=(frame,))
    media = media_of(model, sample)
    return [sample], [render_prompt(model.processor, model.kind, "", media)]


def process(model: GenerativeModel, frame: Frame) -> Inputs:
    """What the processor makes of a frame; no weights are opened for it."""
    return processor_outputs(model, *without_words(model, frame))


def draw(levels: Levels) -> Frame:
    """A frame of grey levels."""
    grey = np.rint(levels).astype(np.uint8)
    return Frame.from_array(np.repeat(grey[..., None], CHANNELS, axis=2))


def ends(size: Size) -> Sequence[Levels]:
    """A black image and a white one."""
    return np.zeros(size), np.full(size, float(WHITE))


def slopes(size: Size) -> Sequence[Levels]:
    """From black to white, downwards and across."""
    height, width = size
    down = np.linspace(0, WHITE, height)[:, None] * np.ones(width)
    across = np.linspace(0, WHITE, width) * np.ones((height, 1))
    return down, across


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


def _tower_grid(config: Any, inputs: Inputs) -> tuple[int, int]:
    patch = config.vision_config.patch_size
    height, width = inputs["pixel_values"].shape[-2:]
    return height // patch, width // patch


def _on_tower_grid(base: Any, inputs: Inputs, tokens: Tensor) -> Tensor:
    """The patches of the first image, which end its tokens."""
    rows, cols = _tower_grid(base.config, inputs)
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


def _packed_grid(config: Any, inputs: Inputs) -> tuple[int, int]:
    grid = inputs["image_grid_thw"][0] // config.vision_config.spatial_merge_size
    _, rows, cols = grid.tolist()
    return rows, cols


def _on_packed_grid(base: Any, inputs: Inputs, tokens: Tensor) -> Tensor:
    """Merged tokens, or the patches of each side by side."""
    from transformers.vision_utils import get_vision_window_index

    visual = base.visual
    grid = inputs["image_grid_thw"]
    merge = visual.spatial_merge_size
    rows, cols = _packed_grid(base.config, inputs)
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
    first = inputs["pixel_values"][0, 0, : rows * cols]
    tiles = first.unflatten(0, (rows, cols))
    # rows of tiles and of pixels in them, then columns of both, then colours
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


def _tiled_grid(config: Any, inputs: Inputs) -> tuple[int, int]:
    rows, cols = _tiles(config, inputs)
    side = inputs["pixel_values"].shape[-1] // config.vision_config.patch_size
    return rows * side, cols * side


def _on_tiled_grid(base: Any, inputs: Inputs, tokens: Tensor) -> Tensor:
    """A tile is a class token, its patches and perhaps padding."""
    rows, cols = _tiles(base.config, inputs)
    values = inputs["pixel_values"]
    side = values.shape[-1] // base.config.vision_config.patch_size
    by_tile = tokens.reshape(values.shape[2], -1, tokens.shape[-1])
    patches = by_tile[: rows * cols, 1 : 1 + side**2]
    tiles = patches.reshape(rows, cols, side, side, -1).transpose(1, 2)
    return tiles.flatten(0, 1).flatten(1, 2)


TOWER = ImageEncoder(
    pixels=_whole_image,
    grid=_tower_grid,
    layers=_tower_layers,
    run=_image_features,
    on_grid=_on_tower_grid,
)
BLOCKED = ImageEncoder(
    pixels=_unpack_pixels,
    grid=_packed_grid,
    layers=_packed_layers,
    run=_image_features,
    on_grid=_on_packed_grid,
)
TILED = ImageEncoder(
    pixels=_join_tiles,
    grid=_tiled_grid,
    layers=_tiled_layers,
    run=_run_tiled,
    on_grid=_on_tiled_grid,
)
ENCODERS: dict[str, ImageEncoder] = {
    "qwen2_vl": BLOCKED,
    "qwen2_5_vl": BLOCKED,
    "llava": TOWER,
    "llava_next": TOWER,
    "llava_next_video": TOWER,
    "llava_onevision": TOWER,
    "paligemma": TOWER,
    "mllama": TILED,
}
