"""What leaving tokens out means to each family: image towers, packed patches, cross-attention."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from typing import Any

import torch
from jaxtyping import Bool, Int
from torch import Tensor, nn
from torch.nn.functional import pad

from cuescope_sdk.fusion import OTHER
from cuescope_sdk.torch import hook_input
from cuescope_transformers.generative.family import PACKED, WITH_TOWER
from cuescope_transformers.generative.hiding.masks import cells_with_nan, spread_nan
from cuescope_transformers.generative.hiding.tokens import (
    gather_visible,
    medium_of,
    nan_apart,
    put_back,
    visible_first,
    without_nan,
    without_placeholders,
)
from cuescope_transformers.generative.inputs import (
    Batch,
    Inputs,
    pixels_name,
    with_modalities,
)
from cuescope_transformers.generative.loading import GenerativeModel
from cuescope_transformers.generative.modules import arguments

VisibleKeys = Bool[Tensor, "row key"]


# --------------------------------------------- an image tower and a projector: LLaVA, PaliGemma


@torch.inference_mode()
def without_patches(model: GenerativeModel, inputs: Inputs) -> Batch:
    """The batch without the patches that are NaN, and without the tokens that read one.

    In a model of tiles the mask hides in the tiles and in the whole image; the tokens that end
    lines see nothing, and stay.
    """
    base = model.network.base_model
    medium = medium_of(inputs)
    name = pixels_name(inputs)
    # some towers are wrapped, and others stand alone
    tower = getattr(base.vision_tower, "vision_model", base.vision_tower)
    # only videos go through the resampler
    pooling = getattr(base, "vision_resampler", None) if medium == "video" else None
    merge = _patches_a_side(base.config, medium)
    # a token that pools over several patches goes as a whole, and so do all its patches
    if merge > 1:
        patch = base.config.vision_config.patch_size
        inputs = {**inputs, name: spread_nan(inputs[name], patch * merge)}
    features_of = getattr(base, f"get_{medium}_features")
    names = arguments(features_of) & inputs.keys()
    reader = pooling or base.multi_modal_projector
    with (
        nan_apart(tower.embeddings.patch_embedding),
        without_nan(tower.encoder) as entered,
        hook_input(reader, lambda tokens: _put_back_patches(tokens, entered[-1])),
    ):
        output = features_of(**{key: inputs[key] for key in names}, return_dict=True)
    features = output.pooler_output
    # NaN went through the projector: the tokens that read a hidden patch are those that are NaN
    parts = [part.reshape(-1, part.shape[-1]) for part in features]
    rows = torch.cat(parts)
    visible = ~rows.isnan().any(dim=1)
    left = rows[visible]
    packed = left[None] if isinstance(features, Tensor) else [left]
    return without_placeholders(model, inputs, medium, visible, packed)


def _put_back_patches(tokens: Tensor, visible: Tensor) -> Tensor:
    """Tokens of the encoder, perhaps without its class token, at their places."""
    # the library drops CLIP's class token before it projects, and SigLIP has none
    class_tokens = visible_first(visible).shape[1] - tokens.shape[1]
    return put_back(tokens, visible[:, class_tokens:])


def _patches_a_side(config: Any, medium: str) -> int:
    """Patches a side that one token of the language model reads, 1 where tokens share them."""
    if medium == "image":
        return 1
    if config.model_type == "llava_next_video":
        return int(config.spatial_pool_stride)
    side = config.vision_config.image_size // config.vision_config.patch_size
    return 2 if side % 2 == 0 else 1  # LLaVA-OneVision halves it by interpolation


# ---------------------------------------------------------- packed patches: Qwen2-VL, Qwen2.5-VL


@torch.inference_mode()
def without_packed(model: GenerativeModel, inputs: Inputs) -> Batch:
    """The batch without the merged tokens of which a patch is NaN; patches come block by block.

    The others keep their rotary positions, their windows and their frames.
    """
    visual = model.network.base_model.visual
    medium = medium_of(inputs)
    pixels = inputs[pixels_name(inputs)]
    grid = inputs[f"{medium}_grid_thw"]
    # four patches become one token: if any of them is hidden, the token goes
    merged = visual.spatial_merge_size**2
    hidden = pixels.isnan().any(dim=1).view(-1, merged)
    visible = ~hidden.any(dim=1)
    features: tuple[Tensor, ...] = ()
    # the encoder cannot run on no patch at all
    if visible.any():
        patches = pixels[visible.repeat_interleave(merged)]
        output = visual(patches, grid_thw=grid, **_layout(visual, grid, visible))
        features = (output.pooler_output,)
    return without_placeholders(model, inputs, medium, visible, features)


def _layout(
    visual: Any,
    grid: Int[Tensor, "image 3"],
    visible: Bool[Tensor, " merged"],
) -> Inputs:
    """What the encoder would work out from the grid, for the patches that are there."""
    from transformers.vision_utils import (  # newer than what the other families need
        get_vision_cu_seqlens,
        get_vision_position_ids,
        get_vision_window_index,
    )

    size = visual.spatial_merge_size
    patches = visible.repeat_interleave(size**2)
    # what attends to what is told by bounds of segments (frames, windows), not by a mask
    layout = {
        "position_ids": get_vision_position_ids(grid, size)[patches],
        "cu_seqlens": _bounds(get_vision_cu_seqlens(grid), patches),
    }
    if hasattr(visual, "window_size"):
        order, bounds = get_vision_window_index(
            grid, size, visual.window_size, visual.patch_size
        )
        order = order.to(visible.device)
        # window_index[i] is the token that comes i-th: in that order, counted among those left
        number = visible.cumsum(dim=0) - 1
        in_order = visible[order]
        layout["window_index"] = number[order[in_order]]
        layout["cu_window_seqlens"] = _bounds(
            bounds, in_order.repeat_interleave(size**2)
        )
    return layout


def _bounds(
    bounds: Int[Tensor, " bound"], visible: Bool[Tensor, " patch"]
) -> Int[Tensor, " fewer"]:
    """The bounds of segments of which only the patches that are `visible` are left."""
    # a segment of which nothing is left has no bound of its own
    count = pad(visible.cumsum(dim=0), (1, 0))
    before = count[bounds.long()]
    # the first bound is 0, whatever is hidden
    grows = pad(before.diff() > 0, (1, 0), value=True)
    return before[grows].to(bounds.dtype)


# -------------------------------------------------------------- cross-attention to tiles: Mllama


def without_keys(model: GenerativeModel, inputs: Inputs) -> Batch:
    """The batch without the patches that are NaN, in the encoder and among the crossed keys.

    The class token of each tile stays, and so does what pads the tiles.
    """
    base = model.network.base_model
    patch = base.config.vision_config.patch_size
    visible = visible_keys(inputs[pixels_name(inputs)], patch)
    batch = with_modalities(model, inputs)
    if batch.cross is None:
        raise ValueError("Mllama's processor made no cross_attention_mask")
    order = visible_first(visible)
    hidden = ~visible.gather(1, order)
    cross = batch.cross.gather(1, order).masked_fill(hidden, OTHER)
    return replace(batch, cross=cross, around=lambda: _without(base, visible))


def visible_keys(pixels: Tensor, patch: int) -> VisibleKeys:
    """Of pixels (row, image, tile, 3, height, width): a class token and the patches, tile by tile.

    A patch with a NaN is not visible.
    """
    height, width = pixels.shape[-2:]
    # a cell that is cut off is no patch: the convolution drops it
    cells = cells_with_nan(pixels, patch)[..., : height // patch, : width // patch]
    hidden = pad(cells.flatten(-2), (1, 0), value=False)
    return ~hidden.flatten(1)


@contextmanager
def _without(base: Any, visible: VisibleKeys) -> Iterator[None]:
    """While open, the model runs without the patches that are NaN."""
    vision = base.vision_model
    with ExitStack() as stack:
        stack.enter_context(nan_apart(vision.patch_embedding))
        for encoder in (vision.transformer, vision.global_transformer):
            entered = stack.enter_context(without_nan(encoder))
            leave = _put_back_layers(entered)
            stack.enter_context(encoder.register_forward_hook(leave))
        cross = _cross_visible(visible)
        with base.language_model.register_forward_pre_hook(cross, with_kwargs=True):
            yield


def _put_back_layers(entered: list[Tensor]) -> Any:
    """A hook that puts the tokens of each layer back at their places."""

    def put_back_layers(module: nn.Module, args: Any, output: Any) -> Any:
        visible = entered[-1]
        last = put_back(output.last_hidden_state, visible)
        # Mllama joins the states of some earlier layers to those of the last
        states = tuple(put_back(state, visible) for state in output.hidden_states)
        return type(output)(last, states)

    return put_back_layers


def _cross_visible(visible: VisibleKeys) -> Any:
    """A hook that leaves the keys that are not `visible` out of cross-attention."""
    order = visible_first(visible)
    fills = ~visible.gather(1, order)[:, None, None]

    def cross(module: nn.Module, args: Any, kwargs: Any) -> Any:
        mask = kwargs["cross_attention_mask"]
        states = kwargs["cross_attention_states"]
        if mask is not None:
            index = order[:, None, None].expand(-1, -1, mask.shape[2], -1)
            # not -inf: a row that sees no key would become NaN
            lowest = torch.finfo(mask.dtype).min
            mask = mask.gather(3, index).masked_fill(fills, lowest)
        # after the prompt the keys are in the cache
        if states is not None:
            rows = states.reshape(len(visible), -1, states.shape[-1])
            states = gather_visible(rows, visible)
        return args, {
            **kwargs,
            "cross_attention_mask": mask,
            "cross_attention_states": states,
        }

    return cross


HIDING: dict[str, Callable[[GenerativeModel, Inputs], Batch]] = {
    **dict.fromkeys(PACKED, without_packed),
    **dict.fromkeys(WITH_TOWER, without_patches),
    "mllama": without_keys,
}
