"""Fewer tokens in an encoder, and back at their places after it."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from cuescope_sdk.torch import additive, hook_input, hook_output
from cuescope_transformers.generative.hiding.marking import cells_with_nan


def seen_first(seen: Bool[Tensor, "row token"]) -> Int[Tensor, "row kept"]:
    """The places of the tokens that are seen, in order; rows with fewer end with others."""
    most = max(1, int(seen.sum(dim=1).max()))
    return seen.int().argsort(dim=1, descending=True, stable=True)[:, :most]


def gathered(
    tokens: Float[Tensor, "row token dim"], seen: Bool[Tensor, "row token"]
) -> Float[Tensor, "row kept dim"]:
    """The tokens that are seen; rows with fewer end with zeros."""
    places = seen_first(seen)
    kept = tokens.gather(1, places[..., None].expand(-1, -1, tokens.shape[-1]))
    return kept.masked_fill(~seen.gather(1, places)[..., None], 0.0)


def placed(
    tokens: Float[Tensor, "row kept dim"], seen: Bool[Tensor, "row token"]
) -> Float[Tensor, "row token dim"]:
    """What `gathered` took, back at its places; all others are NaN."""
    kept = torch.arange(tokens.shape[1], device=seen.device) < seen.sum(dim=1, keepdim=True)
    full = tokens.new_full((*seen.shape, tokens.shape[-1]), float("nan"))
    full[seen] = tokens[kept]
    return full


@contextmanager
def embedding_apart(patches: Any) -> Iterator[None]:
    """Within it a patch with a NaN becomes a token of NaN, and no other does.

    `patches` is the convolution that embeds them; some kernels multiply a neighbour's NaN by 0.
    """
    hidden: list[Tensor] = []

    def enter(pixels: Tensor) -> Tensor:
        hidden[:] = [cells_with_nan(pixels, patches.kernel_size[0])]
        return pixels.nan_to_num(0.0)

    def leave(tokens: Tensor) -> Tensor:
        rows, cols = tokens.shape[-2:]
        return tokens.masked_fill(hidden[0][:, None, :rows, :cols], float("nan"))

    with hook_input(patches, enter), hook_output(patches, leave):
        yield


@contextmanager
def leaving_out(encoder: nn.Module) -> Iterator[list[Bool[Tensor, "image token"]]]:
    """Within it, tokens that are NaN do not enter the encoder; the list ends with those that did.

    The encoder takes tokens (image, token, dim) and perhaps an additive `attention_mask`.
    """
    found: list[Tensor] = []

    def enter(module: nn.Module, args: Any, kwargs: Any) -> Any:
        name = next((name for name in ("inputs_embeds", "hidden_states") if name in kwargs), None)
        tokens = kwargs[name] if name else args[0]
        seen = ~tokens.isnan().any(dim=-1)
        found.append(seen)
        if bool(seen.all()):
            return None
        kept = gathered(tokens, seen)
        kwargs = {**kwargs, "attention_mask": _masked(kwargs.get("attention_mask"), seen, kept)}
        return (args, {**kwargs, name: kept}) if name else ((kept, *args[1:]), kwargs)

    hook = encoder.register_forward_pre_hook(enter, with_kwargs=True)
    try:
        yield found
    finally:
        hook.remove()


def _masked(
    mask: Float[Tensor, "image 1 token token"] | None, seen: Tensor, kept: Tensor
) -> Tensor | None:
    """The mask between the tokens that are kept; what fills a row up is seen by none."""
    places = seen_first(seen)
    keys = seen.gather(1, places)
    ours = None if bool(keys.all()) else additive(keys, kept.dtype)
    if mask is None:
        return ours
    row = torch.arange(len(places), device=places.device)[:, None, None]
    picked = mask[row, 0, places[:, :, None], places[:, None, :]][:, None]
    return picked if ours is None else picked + ours
