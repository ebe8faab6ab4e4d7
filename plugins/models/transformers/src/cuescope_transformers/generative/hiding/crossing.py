"""Mllama: tiles that one encoder reads together, and a language model that crosses over to them."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from typing import Any

import torch
from jaxtyping import Bool
from torch import Tensor, nn
from torch.nn.functional import pad

from cuescope_sdk.fusion import OTHER
from cuescope_transformers.generative.hiding.marking import cells_with_nan
from cuescope_transformers.generative.hiding.sparse import (
    embedding_apart,
    gathered,
    leaving_out,
    placed,
    seen_first,
)
from cuescope_transformers.generative.loading import Loaded
from cuescope_transformers.generative.showing import Batch, described, pixels_in


def without_keys(loaded: Loaded, inputs: dict[str, Any]) -> Batch:
    """The batch without the patches that are NaN, in the encoder and among the crossed keys.

    The class token of each tile stays, and so does what pads the tiles.
    """
    base = loaded.model.base_model
    seen = keys_seen(inputs[pixels_in(inputs)], base.config.vision_config.patch_size)
    batch = described(loaded, inputs)
    if batch.cross is None:
        raise ValueError("Mllama's processor made no cross_attention_mask")
    places = seen_first(seen)
    cross = batch.cross.gather(1, places).masked_fill(~seen.gather(1, places), OTHER)
    return replace(batch, cross=cross, around=lambda: _without(base, seen))


def keys_seen(pixels: Tensor, patch: int) -> Bool[Tensor, "row key"]:
    """Of pixels (row, image, tile, 3, height, width): a class token and the patches, tile by tile.

    A patch with a NaN is not seen.
    """
    rows, cols = (side // patch for side in pixels.shape[-2:])
    hidden = cells_with_nan(pixels, patch)[..., :rows, :cols].flatten(-2)
    return ~pad(hidden, (1, 0), value=False).flatten(1)


@contextmanager
def _without(base: Any, seen: Bool[Tensor, "row key"]) -> Iterator[None]:
    """While open, the model runs without the patches that are NaN."""
    vision = base.vision_model
    with ExitStack() as stack:
        stack.enter_context(embedding_apart(vision.patch_embedding))
        for encoder in (vision.transformer, vision.global_transformer):
            entered = stack.enter_context(leaving_out(encoder))
            _hook(stack, encoder.register_forward_hook(_placing(entered)))
        cross = _crossing(seen)
        _hook(stack, base.language_model.register_forward_pre_hook(cross, with_kwargs=True))
        yield


def _hook(stack: ExitStack, handle: Any) -> None:
    stack.callback(handle.remove)


def _placing(entered: list[Tensor]) -> Any:
    """A hook that puts the tokens of each layer back at their places."""

    def place(module: nn.Module, args: Any, output: Any) -> Any:
        seen = entered[-1]
        states = tuple(placed(state, seen) for state in output.hidden_states)
        return type(output)(placed(output.last_hidden_state, seen), states)

    return place


def _crossing(seen: Bool[Tensor, "row key"]) -> Any:
    """A hook that leaves the keys that are not `seen` out of cross-attention."""
    places = seen_first(seen)
    fills = ~seen.gather(1, places)[:, None, None]

    def cross(module: nn.Module, args: Any, kwargs: Any) -> Any:
        mask, states = kwargs["cross_attention_mask"], kwargs["cross_attention_states"]
        if mask is not None:
            index = places[:, None, None].expand(-1, -1, mask.shape[2], -1)
            mask = mask.gather(3, index).masked_fill(fills, torch.finfo(mask.dtype).min)
        if states is not None:
            states = gathered(states.reshape(len(seen), -1, states.shape[-1]), seen)
        return args, {**kwargs, "cross_attention_mask": mask, "cross_attention_states": states}

    return cross
