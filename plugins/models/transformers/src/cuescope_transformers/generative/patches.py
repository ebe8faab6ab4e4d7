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
from cuescope_sdk.torch import hook_output, quiet
from cuescope_transformers.generative.hiding.towers import TOWERS
from cuescope_transformers.generative.loading import Loaded, arguments
from cuescope_transformers.generative.prompts import rendered
from cuescope_transformers.generative.showing import made, media_of, processed
from cuescope_transformers.pixels import as_image

Inputs = dict[str, Any]


@dataclass(frozen=True)
class Eye:
    """How a family looks at one image, given its base model and what its processor makes of it.

    `pixels` are normalised, (row, col, 3). The last of `layers` gives what the language model
    reads; `look` runs them all, and `placed` puts on the grid what one of them gave.
    """

    pixels: Callable[[Loaded, Inputs], Tensor]
    layers: Callable[[Any], list[nn.Module]]
    look: Callable[[Any, Inputs], object]
    placed: Callable[[Any, Inputs, Tensor], Tensor]


def shows_patches(loaded: Loaded) -> bool:
    """Whether it is known where a family's tokens lie."""
    eye = EYES.get(loaded.kind)
    if eye is TOWER:
        return loaded.files.config.vision_config.model_type in TOWERS
    return eye is not None


def canvas(loaded: Loaded, frames: Sequence[Frame]) -> list[UInt8[np.ndarray, "height width 3"]]:
    """The pixels that the encoder sees of each frame, shown as an image."""
    eye, processor = _eye(loaded), loaded.processor.image_processor
    seen = [eye.pixels(loaded, made(loaded, *_alone(loaded, frame))) for frame in frames]
    return [as_image(pixels, processor) for pixels in seen]


def patch_features(
    loaded: Loaded, frames: Sequence[Frame], layer: int
) -> list[Float[np.ndarray, "row col dim"]]:
    """Tokens after a layer; raises UserError for one that is not there."""
    eye, base = _eye(loaded), loaded.model.base_model
    layers = eye.layers(base)
    if not -len(layers) <= layer < len(layers):
        raise UserError(
            f"{loaded.title} has no image layer {layer}",
            expected=f"0 to {len(layers) - 1}, what the language model reads",
        )
    return [_tokens(loaded, eye, layers[layer], frame) for frame in frames]


@torch.inference_mode()
def _tokens(
    loaded: Loaded, eye: Eye, layer: nn.Module, frame: Frame
) -> Float[np.ndarray, "row col dim"]:
    base, inputs = loaded.model.base_model, processed(loaded, *_alone(loaded, frame))
    seen: list[Tensor] = []
    with quiet(), hook_output(layer, seen.append):
        eye.look(base, inputs)
    return np.asarray(eye.placed(base, inputs, seen[0]).float().cpu().numpy())


def _alone(loaded: Loaded, frame: Frame) -> tuple[list[Sample], list[str], float]:
    """A frame with no words, as `processed` takes it."""
    sample = Sample(key=frame.key, frames=(frame,))
    prompt = rendered(loaded.processor, loaded.kind, "", media_of(loaded, sample))
    return [sample], [prompt], 1.0


def _eye(loaded: Loaded) -> Eye:
    if not shows_patches(loaded):
        raise UserError(
            f"{loaded.title} does not show its patches",
            expected=f"{', '.join(EYES)}, with {' or '.join(TOWERS)} where it has a tower",
            got=f"the architecture '{loaded.kind}'",
        )
    return EYES[loaded.kind]


def _image_features(base: Any, inputs: Inputs) -> object:
    wanted = arguments(base.get_image_features)
    return base.get_image_features(**{key: inputs[key] for key in wanted if key in inputs})


# --------------------------------------------- an image tower and a projector: LLaVA, PaliGemma


def _whole(loaded: Loaded, inputs: Inputs) -> Tensor:
    values = inputs["pixel_values"]
    return torch.as_tensor(values.reshape(-1, *values.shape[-3:])[0].permute(1, 2, 0))


def _tower_layers(base: Any) -> list[nn.Module]:
    tower = getattr(base.vision_tower, "vision_model", base.vision_tower)
    return [*tower.encoder.layers, base.multi_modal_projector]


def _tower_placed(base: Any, inputs: Inputs, tokens: Tensor) -> Tensor:
    """The patches of the first image, which end its tokens."""
    patch = base.config.vision_config.patch_size
    rows, cols = (side // patch for side in inputs["pixel_values"].shape[-2:])
    return tokens[0, -rows * cols :].view(rows, cols, -1)


# ----------------------------------------------------------------- patches that come block by block


def _unpacked(loaded: Loaded, inputs: Inputs) -> Tensor:
    """Each patch is its colours, some frames of each, and rows and columns of pixels."""
    processor = loaded.processor.image_processor
    size, merge = processor.patch_size, processor.merge_size
    _, rows, cols = inputs["image_grid_thw"][0].tolist()
    blocks = (rows // merge, cols // merge, merge, merge)
    patches = inputs["pixel_values"].view(*blocks, 3, -1, size, size)[:, :, :, :, :, 0]
    return torch.as_tensor(
        patches.permute(0, 2, 5, 1, 3, 6, 4).reshape(rows * size, cols * size, 3)
    )


def _packed_placed(base: Any, inputs: Inputs, tokens: Tensor) -> Tensor:
    """Merged tokens, or the patches of each side by side; Qwen2.5-VL's come window by window."""
    from transformers.vision_utils import get_vision_window_index

    visual, grid = base.visual, inputs["image_grid_thw"]
    merge = visual.spatial_merge_size
    rows, cols = (int(side) // merge for side in grid[0, 1:])
    found = tokens.reshape(rows * cols, -1)
    if hasattr(visual, "window_size"):
        order, _ = get_vision_window_index(grid, merge, visual.window_size, visual.patch_size)
        found = found[order.to(found.device).argsort()]
    return found.view(rows, cols, -1)


# ------------------------------------------------------------------------ tiles that are the image


def _tiles(config: Any, inputs: Inputs) -> tuple[int, int]:
    """Rows and columns of them."""
    number = int(inputs["aspect_ratio_ids"][0, 0])
    rows, cols = config.vision_config.supported_aspect_ratios[number - 1]
    return rows, cols


def _tiled(loaded: Loaded, inputs: Inputs) -> Tensor:
    rows, cols = _tiles(loaded.files.config, inputs)
    values = inputs["pixel_values"][0, 0, : rows * cols].unflatten(0, (rows, cols))
    return torch.as_tensor(values.permute(0, 3, 1, 4, 2).flatten(0, 1).flatten(1, 2))


def _tiled_layers(base: Any) -> list[nn.Module]:
    vision = base.vision_model
    layers = [*vision.transformer.layers, *vision.global_transformer.layers]
    return [*layers, base.multi_modal_projector]


def _tiled_look(base: Any, inputs: Inputs) -> object:
    names = ("pixel_values", "aspect_ratio_ids", "aspect_ratio_mask")
    seen = base.vision_model(**{name: inputs[name] for name in names})
    return base.multi_modal_projector(seen.last_hidden_state)


def _tiled_placed(base: Any, inputs: Inputs, tokens: Tensor) -> Tensor:
    """A tile is a class token, its patches and perhaps padding."""
    (rows, cols), values = _tiles(base.config, inputs), inputs["pixel_values"]
    side = values.shape[-1] // base.config.vision_config.patch_size
    of_tile = tokens.reshape(values.shape[2], -1, tokens.shape[-1])
    patches = of_tile[: rows * cols, 1 : 1 + side**2].reshape(rows, cols, side, side, -1)
    return patches.transpose(1, 2).flatten(0, 1).flatten(1, 2)


TOWER = Eye(_whole, _tower_layers, _image_features, _tower_placed)
PACKED = Eye(
    _unpacked, lambda base: [*base.visual.blocks, base.visual.merger],
    _image_features, _packed_placed,
)  # fmt: skip
TILED = Eye(_tiled, _tiled_layers, _tiled_look, _tiled_placed)
EYES: dict[str, Eye] = {
    "qwen2_vl": PACKED, "qwen2_5_vl": PACKED, "llava": TOWER, "llava_next": TOWER,
    "llava_next_video": TOWER, "llava_onevision": TOWER, "paligemma": TOWER, "mllama": TILED,
}  # fmt: skip
