"""Qwen2-VL and Qwen2.5-VL: patches of all frames in one row, four of them merged into a token."""

from typing import Any

import torch
from jaxtyping import Bool, Int
from torch import Tensor
from torch.nn.functional import pad

from cuescope_transformers.generative.hiding.placeholding import medium_of, without_placeholders
from cuescope_transformers.generative.loading import Loaded
from cuescope_transformers.generative.showing import Batch, pixels_in


@torch.inference_mode()
def without_packed(loaded: Loaded, inputs: dict[str, Any]) -> Batch:
    """The batch without the merged tokens of which a patch is NaN; patches come block by block.

    The others keep their rotary positions, their windows and their frames.
    """
    visual, medium = loaded.model.base_model.visual, medium_of(inputs)
    pixels, grid = inputs[pixels_in(inputs)], inputs[f"{medium}_grid_thw"]
    merged = visual.spatial_merge_size**2
    seen = ~pixels.isnan().any(dim=1).view(-1, merged).any(dim=1)
    features: tuple[Tensor, ...] = ()
    if bool(seen.any()):
        patches = pixels[seen.repeat_interleave(merged)]
        layout = _layout(visual, grid, seen)
        features = (visual(patches, grid_thw=grid, **layout).pooler_output,)
    return without_placeholders(loaded, inputs, medium, seen, features)


def _layout(
    visual: Any, grid: Int[Tensor, "image 3"], seen: Bool[Tensor, " merged"]
) -> dict[str, Any]:
    """What the encoder would work out from the grid, for the patches that are there."""
    from transformers.vision_utils import (  # newer than what the other families need
        get_vision_cu_seqlens,
        get_vision_position_ids,
        get_vision_window_index,
    )

    size = visual.spatial_merge_size
    patches = seen.repeat_interleave(size**2)
    layout = {
        "position_ids": get_vision_position_ids(grid, size)[patches],
        "cu_seqlens": _bounds(get_vision_cu_seqlens(grid), patches),
    }
    if hasattr(visual, "window_size"):
        order, bounds = get_vision_window_index(grid, size, visual.window_size, visual.patch_size)
        order = order.to(seen.device)
        number = seen.cumsum(dim=0) - 1
        layout["window_index"] = number[order[seen[order]]]
        layout["cu_window_seqlens"] = _bounds(bounds, seen[order].repeat_interleave(size**2))
    return layout


def _bounds(bounds: Int[Tensor, " bound"], seen: Bool[Tensor, " patch"]) -> Int[Tensor, " fewer"]:
    """The bounds of segments of which only the patches that are `seen` are left."""
    before = pad(seen.cumsum(dim=0), (1, 0))[bounds.long()]
    return before[pad(before.diff() > 0, (1, 0), value=True)].to(bounds.dtype)
