"""The attention of every fusion layer: plain where nothing is asked, edited where something is."""

from collections.abc import Callable

import torch
from jaxtyping import Bool, Float
from torch import Tensor
from torch.nn.functional import scaled_dot_product_attention

from cuescope_sdk.fusion import AverageAttention, AverageTokens
from cuescope_sdk.torch._fusion.averaging import attend_averaged, average_quadrants
from cuescope_sdk.torch._fusion.state import Fusion, active_fusion, uses_matrix_form
from cuescope_sdk.torch._fusion.tokens import (
    attend_averages,
    average_logits,
    averaged_blocks,
    size_terms,
)
from cuescope_sdk.torch._fusion.visible import Visible


def fused_attention(
    query: Float[Tensor, "batch head query dim"],
    key: Float[Tensor, "batch kv_head key dim"],
    value: Float[Tensor, "batch kv_head key value"],
    *,
    layer: int,
    mask: Tensor | None = None,
    causal: bool = False,
    scaling: float | None = None,
    cross: bool = False,
) -> Float[Tensor, "batch head query value"]:
    """Attention that follows the `Fusion` under which it runs; without one, the stock kernel's.

    `key` and `value` may have fewer heads (grouped-query attention). `mask` is bool, True where a
    key may be seen, or additive, broadcastable to (batch, head, query, key); `causal` without a
    mask aligns the last query with the last key. `scaling` is dim**-0.5 where it is None. `cross`
    says that the keys are another sequence. `layer` counts from 0.
    """
    scaling = query.shape[-1] ** -0.5 if scaling is None else scaling
    groups = query.shape[1] // key.shape[1]
    if groups > 1:
        key, value = (states.repeat_interleave(groups, dim=1) for states in (key, value))
    fusion = active_fusion()
    edit = fusion.edit_at(layer) if fusion else None
    if fusion is None or (edit is None and fusion.watch is None):
        visible = Visible(query.shape[2], key.shape[2], mask, causal, query.device)
        mask = None if visible.square else visible.mask(None, key.shape[2])
        return scaled_dot_product_attention(
            query, key, value, attn_mask=mask, is_causal=visible.square, scale=scaling
        )
    if edit is None or fusion.watch is not None or uses_matrix_form():
        return _by_matrix(query, key, value, layer, mask, causal, scaling, fusion, cross)
    return _by_layout(query, key, value, mask, causal, scaling, fusion, edit, cross)


def fused_self_attention(
    states: Float[Tensor, "batch token dim"],
    query: Callable[[Tensor], Tensor],
    key: Callable[[Tensor], Tensor],
    value: Callable[[Tensor], Tensor],
    *,
    heads: int,
    layer: int,
    mask: Bool[Tensor, "batch token"] | None = None,
) -> Float[Tensor, "batch token inner"]:
    """Self-attention from projections (dim -> inner), `mask` True for tokens that are no padding.

    Under `AverageTokens` it projects averaged tokens only, as the paper does, so that what is saved
    is saved.
    """

    def split(projected: Tensor) -> Tensor:
        return projected.view(*projected.shape[:2], heads, -1).transpose(1, 2)

    fusion = active_fusion()
    edit = fusion.edit_at(layer) if fusion else None
    formed = uses_matrix_form() or (fusion is not None and fusion.watch is not None)
    if fusion is not None and isinstance(edit, AverageTokens) and not formed:
        context, bias, sizes = _shortened(states, fusion, edit, mask)
        keys = split(key(context)) * sizes[:, None, :, None]
        mixed = scaled_dot_product_attention(
            split(query(states)), keys, split(value(context)), attn_mask=bias[:, None, None]
        )
    else:
        seen = None if mask is None else mask[:, None, None]
        mixed = fused_attention(
            split(query(states)), split(key(states)), split(value(states)), layer=layer, mask=seen
        )
    return mixed.transpose(1, 2).flatten(2)


def _shortened(
    states: Tensor, fusion: Fusion, edit: AverageTokens, mask: Tensor | None
) -> tuple[Tensor, Tensor, Tensor]:
    """Tokens with one average a modality at their end, their bias, and a factor on their keys."""
    seen = torch.ones_like(fusion.modality, dtype=torch.bool) if mask is None else mask
    blocks = [block & seen for block in averaged_blocks(fusion.modality, edit)]
    kept = seen & ~torch.stack(blocks).any(0)
    most = int(kept.sum(1).max())
    order = (~kept).to(torch.int8).sort(dim=1, stable=True).indices[:, :most]
    parts = [states.gather(1, order[..., None].expand(-1, -1, states.shape[-1]))]
    counts = torch.stack([block.sum(1, dtype=torch.float32) for block in blocks], dim=1)
    for block, count in zip(blocks, counts.unbind(1), strict=True):
        total = (states * block[..., None]).sum(1, keepdim=True)
        parts.append((total / count.clamp_min(1)[:, None, None]).to(states.dtype))
    factor, term = size_terms(counts, edit, states.dtype)
    hidden = torch.zeros_like(order, dtype=states.dtype)
    hidden = hidden.masked_fill(~kept.gather(1, order), -torch.inf)
    sizes = torch.cat([torch.ones_like(hidden), factor], 1)
    return torch.cat(parts, 1), torch.cat([hidden, term], 1), sizes


def _by_matrix(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    layer: int,
    mask: Tensor | None,
    causal: bool,
    scaling: float,
    fusion: Fusion,
    cross: bool,
) -> Tensor:
    """The edit as the paper writes it."""
    visible = Visible(query.shape[2], key.shape[2], mask, causal, query.device)
    logits = query @ key.transpose(-1, -2) * scaling
    if visible.bias is not None:
        logits = logits + visible.bias
    seen = visible.seen_by(None)
    edit, sides = fusion.edit_at(layer), fusion.sides(query.shape[2], key.shape[2], cross)
    if isinstance(edit, AverageTokens):
        logits = average_logits(logits, sides[1], seen, edit)
    # a query of padding sees nothing, and gets nothing
    weights = logits.masked_fill(~seen, -torch.inf).float().softmax(-1).nan_to_num()
    if isinstance(edit, AverageAttention):
        weights = average_quadrants(weights, *sides, seen, edit.quadrants)
    if fusion.watch is not None:
        fusion.watch(layer, weights)
    return weights.to(value.dtype) @ value


def _by_layout(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    mask: Tensor | None,
    causal: bool,
    scaling: float,
    fusion: Fusion,
    edit: AverageAttention | AverageTokens,
    cross: bool,
) -> Tensor:
    """Samples whose tokens are laid out alike go through the kernels together."""
    queries, keys = fusion.sides(query.shape[2], key.shape[2], cross)
    layouts, of = torch.unique(torch.cat([queries, keys], dim=1), dim=0, return_inverse=True)
    out = query.new_empty((*query.shape[:3], value.shape[-1]))
    for place in range(len(layouts)):
        rows = (of == place).nonzero().squeeze(1)
        first = rows[0]
        part = mask if mask is None or mask.shape[0] == 1 else mask[rows]
        visible = Visible(query.shape[2], key.shape[2], part, causal, query.device)
        states = query[rows], key[rows], value[rows]
        if isinstance(edit, AverageTokens):
            mixed = attend_averages(*states, visible, keys[first], edit, scaling)
        else:
            mixed = attend_averaged(
                *states, visible, queries[first], keys[first], edit.quadrants, scaling
            )
        out[rows] = mixed
    return out
