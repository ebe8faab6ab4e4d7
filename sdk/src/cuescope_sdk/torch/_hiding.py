"""`HideTokens` on a stock image encoder: hidden tokens are absent from every layer.

Two implementations of one mathematics. "mask" sets the attention logits of hidden keys to -inf in
every layer and head (CCI, section 3). "drop" takes the tokens away after position embedding:
no visible token ever sees them, so the visible ones end the same, for less work.
"""

from collections.abc import Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from typing import Any, Literal

import numpy as np
import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn
from torch.nn.functional import pad

from cuescope_core.errors import UserError
from cuescope_sdk.models._tokens_under import cells_under
from cuescope_sdk.torch._image_tower import (
    ImageTower,
    Inputs,
    Masked,
    Pooling,
    hook_input,
    hook_output,
)

Hiding = Literal["drop", "mask"]
Patches = Bool[Tensor, "image patch"]
Tokens = Bool[Tensor, "image token"]


def encode_visible(
    tower: ImageTower,
    inputs: Inputs,
    hidden: Patches | None,
    how: Hiding = "drop",
) -> Float[Tensor, "input dim"]:
    """Embeddings of inputs of which the `hidden` patches are absent; None is the plain forward.

    An image of which nothing is left, and that has no token of its own to answer for it, has the
    embedding 0: similar to nothing.
    """
    if hidden is None:
        return tower.embed(inputs)
    tower.require_tokens()
    if tower.joint:
        hidden = hidden.reshape(-1, tower.frames * hidden.shape[1])
    if tower.pooling.kind == "token":
        # the class token stays, so nothing is NaN where every patch is hidden
        with show_only(tower, ~hidden, how):
            return tower.embed(inputs)
    empty = hidden.all(dim=1, keepdim=True)
    # softmax over no key is NaN: such an image is shown, and its row zeroed
    with show_only(tower, ~hidden | empty, how):
        embeddings = tower.embed(inputs)
    nothing = empty.view(len(embeddings), -1).all(dim=1, keepdim=True)
    return embeddings.masked_fill(nothing, 0.0)


@contextmanager
def show_only(
    tower: ImageTower,
    visible: Patches,
    how: Hiding = "drop",
) -> Iterator[None]:
    """While open, the forward pass of these images sees the `visible` patches and no other."""
    images = len(visible)
    device = tower.device
    if not tower.drops:
        how = "mask"
    prefix = torch.ones(images, tower.prefix, dtype=torch.bool, device=device)
    present = torch.cat([prefix, visible.to(device)], dim=1)
    index = torch.arange(present.shape[1], device=device).expand(images, -1)
    with ExitStack() as hooks:
        keys = present
        # both ways agree within 1e-5, which the contract checks (docs/adr/0009)
        if how == "drop":
            # stable: the visible ones stay in order
            index = present.int().argsort(dim=1, descending=True, stable=True)
            most = int(present.sum(dim=1).max())
            index = index[:, :most]  # images with more hidden keep some, masked
            keys = present.gather(1, index)
            hooks.enter_context(_keeping(tower.blocks[0].module, index))
        for block in tower.blocks:
            hooks.enter_context(_masking(block.masked, keys))
        match tower.pooling:
            case Pooling(kind="average", module=nn.Module() as module):
                hooks.enter_context(_averaging(module, keys, tower.prefix))
            case Pooling(kind="attention", masked=Masked() as masked, first=first):
                hooks.enter_context(_masking(masked, keys[:, first:]))
            case Pooling(kind="average" | "attention"):
                raise ValueError(f"{tower.name}: pooling without the module that pools")
            case Pooling(module=nn.Module() as module):
                hooks.enter_context(_placing(module, index, present))
        yield


def _keeping(first: nn.Module, index: Tensor) -> AbstractContextManager[None]:
    """Only the tokens at `index` (image, token) enter the first block."""

    def keep(tokens: Tensor) -> Tensor:
        whole = index[..., None].expand(-1, -1, tokens.shape[-1])
        return tokens.gather(1, whole)

    return hook_input(first, keep)


def _masking(masked: Masked, present: Tokens) -> AbstractContextManager[None]:
    """The module's mask is ours: what is `present`; tokens that pad are not."""

    def mask(args: Any, kwargs: Any) -> Tensor | None:
        keys = present
        if masked.padded:
            tokens = args[0] if args else kwargs["hidden_states"]
            more = tokens.shape[1] - present.shape[1]
            keys = pad(present, (0, more), value=False)
        # without a mask the fast kernel runs
        return None if bool(keys.all()) else masked.form(keys)

    return masked.hook_mask(mask)


def _averaging(
    module: nn.Module,
    present: Tokens,
    prefix: int,
) -> AbstractContextManager[None]:
    """Hidden tokens take the mean of the seen ones, which leaves the mean of all at just that."""
    patches = present[:, prefix:, None]
    count = patches.sum(dim=1, keepdim=True)

    def fill(output: Tensor) -> Tensor:
        tokens = output[:, prefix:]
        mean = (tokens * patches).sum(dim=1, keepdim=True) / count
        filled = torch.where(patches, tokens, mean)
        return torch.cat([output[:, :prefix], filled], dim=1)

    return hook_output(module, fill)


def _placing(
    module: nn.Module,
    index: Tensor,
    present: Tokens,
) -> AbstractContextManager[None]:
    """The tokens at `index` (image, token) go back to their places; the hidden ones are NaN."""

    def put_back(output: Tensor) -> Tensor:
        kept = output[:, : index.shape[1]]
        # NaN, so that whoever reads a hidden one notices
        empty = output.new_full((*present.shape, output.shape[-1]), torch.nan)
        whole = empty.scatter(1, index[..., None].expand_as(kept), kept)
        return whole.masked_fill(~present[..., None], torch.nan)

    return hook_output(module, put_back)


def patches_under(
    mask: Bool[np.ndarray, "row col"],
    grid: tuple[int, int],
    canvas: Bool[np.ndarray, "height width"] | None,
) -> Bool[np.ndarray, " patch"]:
    """The patches under a mask, row by row.

    A mask of the grid's own shape names patches. Any other is in pixels: `canvas` is the mask as
    the network would see it, and a patch is under it if any of its pixels is.
    """
    if mask.shape == grid:
        return mask.ravel()
    if canvas is None:
        raise UserError(
            "hide-tokens: a mask that fits neither the model's patches nor the frame",
            expected=f"{grid[0]} x {grid[1]} patches, or the frame's own pixels (rows x columns)",
            got=f"{mask.shape[0]} x {mask.shape[1]}",
        )
    return cells_under(canvas, grid).ravel()
