"""Tokens left out: of an encoder, and of the prompt, where what is left keeps its positions."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn
from transformers.modeling_outputs import BaseModelOutputWithPooling

from cuescope_sdk import UserError
from cuescope_sdk.torch import additive, hook_input, hook_output
from cuescope_transformers.generative.hiding.masks import cells_with_nan
from cuescope_transformers.generative.inputs import (
    Batch,
    Inputs,
    is_among,
    with_modalities,
)
from cuescope_transformers.generative.loading import GenerativeModel

Visible = Bool[Tensor, "row token"]
Kept = Float[Tensor, "row kept dim"]
Whole = Float[Tensor, "row token dim"]

# inputs with an entry for each token, which goes with it
PER_TOKEN = ("attention_mask", "mm_token_type_ids", "token_type_ids")


def visible_first(visible: Visible) -> Int[Tensor, "row kept"]:
    """The order of the visible tokens, in order; rows with fewer end with others."""
    # one at least: an encoder cannot run on no token
    most = max(1, int(visible.sum(dim=1).max()))
    return visible.int().argsort(dim=1, descending=True, stable=True)[:, :most]


def gather_visible(tokens: Whole, visible: Visible) -> Kept:
    """The visible tokens; rows with fewer end with zeros."""
    order = visible_first(visible)
    index = order[..., None].expand(-1, -1, tokens.shape[-1])
    fills = ~visible.gather(1, order)
    # not NaN: a mask does not hold it back, for 0 x NaN is NaN
    return tokens.gather(1, index).masked_fill(fills[..., None], 0.0)


def put_back(tokens: Kept, visible: Visible) -> Whole:
    """What `gather_visible` took, back at its places; all others are NaN."""
    counts = visible.sum(dim=1, keepdim=True)
    kept = torch.arange(tokens.shape[1], device=visible.device) < counts
    full = tokens.new_full((*visible.shape, tokens.shape[-1]), float("nan"))
    full[visible] = tokens[kept]
    return full


@contextmanager
def nan_apart(patches: Any) -> Iterator[None]:
    """Within it a patch with a NaN becomes a token of NaN, and no other does.

    `patches` is the convolution that embeds them.
    """
    hidden: list[Tensor] = []

    def enter(pixels: Tensor) -> Tensor:
        # some kernels multiply a neighbour's NaN by 0, which is NaN: tokens are marked afterwards
        hidden[:] = [cells_with_nan(pixels, patches.kernel_size[0])]
        return pixels.nan_to_num(0.0)

    def leave(tokens: Tensor) -> Tensor:
        rows, cols = tokens.shape[-2:]
        return tokens.masked_fill(hidden[0][:, None, :rows, :cols], float("nan"))

    with hook_input(patches, enter), hook_output(patches, leave):
        yield


@contextmanager
def without_nan(encoder: nn.Module) -> Iterator[list[Bool[Tensor, "image token"]]]:
    """Within it, tokens that are NaN do not enter the encoder; the list ends with those that did.

    The encoder takes tokens (image, token, dim) and perhaps an additive `attention_mask`.
    """
    entered: list[Tensor] = []

    def enter(module: nn.Module, args: Any, kwargs: Any) -> Any:
        # encoders differ in what they call their tokens, or get them by place
        names = [name for name in ("inputs_embeds", "hidden_states") if name in kwargs]
        tokens = kwargs[names[0]] if names else args[0]
        visible = ~tokens.isnan().any(dim=-1)
        # two passes of one encoder (tiles and the whole image) leave two entries, the last counts
        entered.append(visible)
        # nothing is hidden: the pass is the library's own, to the bit
        if visible.all():
            return None
        kept = gather_visible(tokens, visible)
        mask = _mask_between(kwargs.get("attention_mask"), visible, kept)
        kwargs = {**kwargs, "attention_mask": mask}
        if names:
            return args, {**kwargs, names[0]: kept}
        return (kept, *args[1:]), kwargs

    with encoder.register_forward_pre_hook(enter, with_kwargs=True):
        yield entered


def _mask_between(
    mask: Float[Tensor, "image 1 token token"] | None,
    visible: Tensor,
    kept: Tensor,
) -> Tensor | None:
    """The mask between the tokens that are kept; what fills a row up is seen by none."""
    order = visible_first(visible)
    keys = visible.gather(1, order)
    filled = None if keys.all() else additive(keys, kept.dtype)
    if mask is None:
        return filled
    # the library's own mask (windows, packed images) between the tokens that stay
    row = torch.arange(len(order), device=order.device)[:, None, None]
    query = order[:, :, None]
    key = order[:, None, :]
    between = mask[row, 0, query, key][:, None]
    return between if filled is None else between + filled


# ---------------------------------------------------------------- of the prompt


def medium_of(inputs: Inputs) -> str:
    """Whether the frames are shown as images or as videos."""
    return "video" if "pixel_values_videos" in inputs else "image"


def without_placeholders(
    model: GenerativeModel,
    inputs: Inputs,
    medium: str,
    visible: Bool[Tensor, " visual"],
    features: Any,
) -> Batch:
    """The batch of a prompt with all its placeholders, of which only those that are `visible` stay.

    `features` are what the language model reads at those, as the library's `pooler_output`. Raises
    UserError where configuration and prompt are at odds about placeholders.
    """
    tokens = inputs["input_ids"]
    # `generate` would count positions without what is gone: they are taken of the whole prompt
    positions = model.network._prepare_position_ids_for_generation(tokens, dict(inputs))
    kept = inputs["attention_mask"].bool()
    visual = is_among(tokens, model.visual)
    if int(visual.sum()) != len(visible):
        raise UserError(
            f"{model.title} cannot leave tokens out",
            expected=f"placeholders in the prompt for {len(visible)} visual tokens",
            got=f"{int(visual.sum())}",
            remedy="Mend image_token_id or video_token_id in config.json.",
        )
    # placeholders and visual tokens come in the same order, row after row
    kept[visual] = visible
    most = int(kept.sum(dim=1).max())
    # stable: what stays keeps its order at the end of the row, padding comes before it
    order = kept.int().argsort(dim=1, stable=True)
    order = order[:, -most:]
    fills = ~kept.gather(1, order)
    ids = tokens.gather(1, order).masked_fill(fills, model.tokenizer.pad_token_id)
    index = order.expand(*positions.shape[:-1], -1)
    left: Inputs = {
        "input_ids": ids,
        "position_ids": positions.gather(-1, index),
    }
    for name in PER_TOKEN:
        if name in inputs:
            left[name] = inputs[name].gather(1, order).masked_fill(fills, 0)
    # without any there is no placeholder left to fill
    if visible.any():
        output = BaseModelOutputWithPooling(pooler_output=features)
        left["mm_encoder_outputs"] = {medium: output}
    return with_modalities(model, left)
