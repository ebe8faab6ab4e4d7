"""The attention of every fusion layer: plain where nothing is asked, edited where something is."""

from collections.abc import Callable

import torch
from jaxtyping import Bool, Float, Int8
from torch import Tensor
from torch.nn.functional import scaled_dot_product_attention

from cuescope_sdk.fusion import MODALITIES, AverageAttention, AverageTokens
from cuescope_sdk.torch._fusion.averaging import attend_averaged, average_quadrants
from cuescope_sdk.torch._fusion.merging import (
    attend_averages,
    average_logits,
    averaged_blocks,
    size_terms,
)
from cuescope_sdk.torch._fusion.shapes import (
    BatchKeyKinds,
    BatchQueryKinds,
    Key,
    KeyKinds,
    Mixed,
    Query,
    QueryKinds,
    Value,
    Weights,
)
from cuescope_sdk.torch._fusion.state import (
    Fusion,
    Padding,
    Visible,
    active_fusion,
    at_least_float32,
    take,
    uses_matrix_form,
)


def fused_attention(
    query: Query,
    key: Float[Tensor, "batch kv_head key dim"],
    value: Float[Tensor, "batch kv_head key value"],
    *,
    layer: int,
    mask: Tensor | None = None,
    causal: bool = False,
    scaling: float | None = None,
    cross: bool = False,
) -> Mixed:
    """Attention that follows the `Fusion` under which it runs; without one, the stock kernel's.

    `key` and `value` may have fewer heads (grouped-query attention). `mask` is bool, True where a
    key may be seen, or additive, broadcastable to (batch, head, query, key); `causal` without a
    mask aligns the last query with the last key. `scaling` is dim**-0.5 where it is None. `cross`
    says that the keys are another sequence. `layer` counts from 0.
    """
    scaling = query.shape[-1] ** -0.5 if scaling is None else scaling
    groups = query.shape[1] // key.shape[1]
    if groups > 1:
        # averages need each head's own weights
        key = key.repeat_interleave(groups, dim=1)
        value = value.repeat_interleave(groups, dim=1)
    fusion = active_fusion.get()
    edit = fusion.edit_at(layer) if fusion else None
    visible = Visible(query.shape[2], key.shape[2], mask, causal, query.device)
    # where nothing is asked the library's own kernel runs (docs/adr/0011)
    if fusion is None or (edit is None and fusion.watch is None):
        # no mask: only so the fast causal kernel runs
        mask = None if visible.square else visible.mask(None, key.shape[2])
        return scaled_dot_product_attention(
            query,
            key,
            value,
            attn_mask=mask,
            is_causal=visible.square,
            scale=scaling,
        )
    sides = fusion.sides(query.shape[2], key.shape[2], cross)
    if edit is None or fusion.watch is not None or uses_matrix_form.get():
        weights = _edited_weights(query, key, visible, scaling, sides, edit)
        if fusion.watch is not None:
            fusion.watch(layer, weights)  # after the edit, in float32
        return weights.to(value.dtype) @ value
    padding = fusion.padding(mask, query.shape[2], key.shape[2])
    return _by_layout(query, key, value, visible, scaling, sides, edit, padding)


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
        by_head = projected.view(*projected.shape[:2], heads, -1)
        return by_head.transpose(1, 2)

    fusion = active_fusion.get()
    edit = fusion.edit_at(layer) if fusion else None
    needs_matrix = uses_matrix_form.get() or (
        fusion is not None and fusion.watch is not None
    )
    if fusion is not None and isinstance(edit, AverageTokens) and not needs_matrix:
        context, bias, sizes = _shorten(states, fusion, edit, mask)
        keys = split(key(context)) * sizes[:, None, :, None]
        mixed = scaled_dot_product_attention(
            split(query(states)),
            keys,
            split(value(context)),
            attn_mask=bias[:, None, None],
        )
    else:
        mixed = fused_attention(
            split(query(states)),
            split(key(states)),
            split(value(states)),
            layer=layer,
            mask=None if mask is None else mask[:, None, None],
        )
    return mixed.transpose(1, 2).flatten(2)


def _shorten(
    states: Tensor,
    fusion: Fusion,
    edit: AverageTokens,
    mask: Tensor | None,
) -> tuple[Tensor, Tensor, Tensor]:
    """Tokens with one average a modality at their end, their bias, and a factor on their keys."""
    present = (
        torch.ones_like(fusion.modality, dtype=torch.bool) if mask is None else mask
    )
    blocks = [block & present for block in averaged_blocks(fusion.modality, edit)]
    kept = present & ~torch.stack(blocks).any(0)
    # samples keep different numbers of tokens: the rest is padding
    most = int(kept.sum(1).max())
    hidden_last = (~kept).to(torch.int8).sort(dim=1, stable=True)
    order = hidden_last.indices[:, :most]
    index = order[..., None].expand(-1, -1, states.shape[-1])
    parts = [states.gather(1, index)]
    counts = []
    for block in blocks:
        count = block.sum(1, keepdim=True, dtype=torch.float32)
        total = (states * block[..., None]).sum(1, keepdim=True)
        # clamped: a sample may lack a modality
        mean = total / count[..., None].clamp_min(1)
        parts.append(mean.to(states.dtype))
        counts.append(count)
    factor, term = size_terms(torch.cat(counts, 1), edit, states.dtype)
    hidden = torch.zeros_like(order, dtype=states.dtype)
    hidden = hidden.masked_fill(~kept.gather(1, order), -torch.inf)
    sizes = torch.cat([torch.ones_like(hidden), factor], 1)
    return torch.cat(parts, 1), torch.cat([hidden, term], 1), sizes


Sides = tuple[BatchQueryKinds, BatchKeyKinds]


def _edited_weights(
    query: Tensor,
    key: Tensor,
    visible: Visible,
    scaling: float,
    sides: Sides,
    edit: AverageAttention | AverageTokens | None,
) -> Weights:
    """The attention matrix under the edit, as the paper writes it."""
    logits = query @ key.transpose(-1, -2) * scaling
    if visible.bias is not None:
        logits = logits + visible.bias
    seen_keys = visible.keys_seen(None)
    if isinstance(edit, AverageTokens):
        logits = average_logits(logits, sides[1], seen_keys, edit)
    logits = logits.masked_fill(~seen_keys, -torch.inf)
    # a query of padding sees nothing, and gets nothing
    weights = at_least_float32(logits).softmax(-1).nan_to_num()
    if isinstance(edit, AverageAttention):
        weights = average_quadrants(weights, *sides, seen_keys, edit.quadrants)
    return weights


def _by_layout(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    visible: Visible,
    scaling: float,
    sides: Sides,
    edit: AverageAttention | AverageTokens,
    padding: Padding | None,
) -> Tensor:
    """Samples whose tokens are laid out alike go through the kernels together.

    Padding is taken out of their keys first, so that no mask is needed for it.
    """
    queries, keys = sides
    kinds = [queries, keys]
    if padding is not None:
        seen_keys = padding.seen.to(queries.dtype)
        kinds.append(seen_keys.expand(len(queries), -1))
    out = query.new_empty((*query.shape[:3], value.shape[-1]))
    # one kernel call a layout: most batches have very few
    layouts = _alike_rows(torch.cat(kinds, dim=1))
    for rows in layouts:
        first = rows[0]
        samples = slice(None) if len(layouts) == 1 else rows
        row_query = query[samples]
        row_key = key[samples]
        row_value = value[samples]
        of_keys = keys[first]
        if padding is None:
            seen = visible.of_samples(rows)
        else:
            kept = kinds[2][first].nonzero().squeeze(1)
            whole = Visible(
                query.shape[2], key.shape[2], None, padding.causal, query.device
            )
            seen = whole.of_keys(kept)
            of_keys = of_keys[kept]
            row_key = take(row_key, kept)
            row_value = take(row_value, kept)
        mixed = _attend_edited(
            row_query, row_key, row_value, seen, queries[first], of_keys, edit, scaling
        )
        if len(layouts) == 1:
            return mixed
        out[rows] = mixed
    return out


def _attend_edited(
    query: Query,
    key: Key,
    value: Value,
    visible: Visible,
    queries: QueryKinds,
    keys: KeyKinds,
    edit: AverageAttention | AverageTokens,
    scaling: float,
) -> Mixed:
    """Attention under an edit of samples that are laid out alike, in linear memory."""
    if isinstance(edit, AverageTokens):
        modalities = {MODALITIES[name] for name in edit.modalities}
    else:
        modalities = {edit.sides(quadrant)[1] for quadrant in edit.quadrants}
    block = torch.zeros_like(keys, dtype=torch.bool)
    for modality in modalities:
        block |= keys == modality
    blind, first = visible.blind(block)
    parts = []
    if blind:  # queries before all that is averaged: nothing changes for them
        early = visible.part(0, blind, first)
        states = query[:, :, :blind], key[:, :, :first], value[:, :, :first]
        if early.square:
            mixed = scaled_dot_product_attention(*states, is_causal=True, scale=scaling)
        else:
            sides = queries[:blind], keys[:first]
            mixed = attend_averaged(*states, early, *sides, frozenset(), scaling)
        parts.append(mixed)
        query = query[:, :, blind:]
        queries = queries[blind:]
        visible = visible.part(blind, visible.queries, visible.keys)
    if visible.queries:
        states = query, key, value
        if isinstance(edit, AverageTokens):
            mixed = attend_averages(*states, visible, keys, edit, scaling)
        else:
            sides = queries, keys
            mixed = attend_averaged(*states, visible, *sides, edit.quadrants, scaling)
        parts.append(mixed)
    return torch.cat(parts, dim=2) if len(parts) > 1 else parts[0]


def _alike_rows(layouts: Int8[Tensor, "batch place"]) -> list[Tensor]:
    """The samples of each layout."""
    # sorting thousands of places takes as long as a short attention
    if len(layouts) == 1:
        return [torch.zeros(1, dtype=torch.long, device=layouts.device)]
    number_of = torch.unique(layouts, dim=0, return_inverse=True)[1]
    order = number_of.argsort(stable=True)
    return list(torch.split(order, number_of.bincount().tolist()))
