"""The attention of every fusion layer: plain where nothing is asked, edited where something is.

Averaged quadrants never need the matrix: the keys of one get equal weights, so together they give
their mass times the mean of their values, and both come out of the kernel. Whoever watches gets the
matrix itself, and QUAG-attention is made on it, some rows at a time. Memory is linear in tokens.
"""

from collections.abc import Callable

import torch
from jaxtyping import Bool, Float, Int8
from torch import Tensor
from torch.nn.functional import pad, scaled_dot_product_attention

from cuescope_sdk.fusion import MODALITIES, AverageAttention, AverageTokens
from cuescope_sdk.torch._fusion.state import active_fusion

Query = Float[Tensor, "batch head query dim"]
Mixed = Float[Tensor, "batch head query value"]
Weights = Float[Tensor, "batch head query key"]
Seen = Bool[Tensor, "#batch #head #query key"]
QueryKinds = Int8[Tensor, "batch query"]
KeyKinds = Int8[Tensor, "batch key"]
Edit = AverageAttention | AverageTokens | None

NUMBERS = 2**25  # of the matrix at once
KERNEL_WIDTH = 8  # fused kernels want head dims that are multiples of it


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
    count = query.shape[2]
    total = key.shape[2]
    # a lone query is the last one: it sees all
    causal = causal and mask is None and count > 1
    if causal and count != total:
        ends = torch.arange(total - count, total, device=query.device)
        mask = (torch.arange(total, device=query.device) <= ends[:, None])[None, None]
        causal = False
    fusion = active_fusion.get()
    edit = fusion.edit_at(layer) if fusion else None
    # where nothing is asked the library's own kernel runs (docs/adr/0011)
    if fusion is None or (edit is None and fusion.watch is None):
        return scaled_dot_product_attention(
            query, key, value, attn_mask=mask, is_causal=causal, scale=scaling
        )
    queries, keys = fusion.sides(count, total, cross)
    if isinstance(edit, AverageAttention) and fusion.watch is None:
        return _mix_averaged(
            query, key, value, mask, causal, scaling, queries, keys, edit.quadrants
        )
    a_row = query.shape[0] * query.shape[1] * total
    size = max(1, NUMBERS // max(1, a_row))
    mixed = []
    watched = []
    for rows in torch.split(torch.arange(count, device=query.device), size):
        logits = query[:, :, rows] @ key.mT
        logits = _exact(logits) * scaling
        seen = _seen(mask, rows, total)
        if causal:
            seen = torch.arange(total, device=query.device) <= rows[:, None]
            seen = seen[None, None]
        elif mask is not None and mask.dtype != torch.bool:
            logits = logits + _of_rows(mask, rows)
        weights = _edited(logits, seen, queries[:, rows], keys, edit)
        if fusion.watch is None:
            mixed.append(weights.to(value.dtype) @ value)
        else:
            watched.append(weights)
    if fusion.watch is None:
        return torch.cat(mixed, dim=2)
    whole = torch.cat(watched, dim=2)
    fusion.watch(layer, whole)  # after the edit, in float32
    # of the same numbers that were watched: they have a gradient where it is asked for
    return whole.to(value.dtype) @ value


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
    """Self-attention from projections (dim -> inner); `mask` is True for what is no padding."""

    def split(projected: Tensor) -> Tensor:
        by_head = projected.view(*projected.shape[:2], heads, -1)
        return by_head.transpose(1, 2)

    mixed = fused_attention(
        split(query(states)),
        split(key(states)),
        split(value(states)),
        layer=layer,
        mask=None if mask is None else mask[:, None, None],
    )
    return mixed.transpose(1, 2).flatten(2)


def _mix_averaged(
    query: Query,
    key: Tensor,
    value: Tensor,
    mask: Tensor | None,
    causal: bool,
    scaling: float,
    queries: QueryKinds,
    keys: KeyKinds,
    quadrants: frozenset[str],
) -> Mixed:
    """Attention under `_average_quadrants`, by one call of the kernel.

    Values stand there once for the keys of each averaged modality, and once for all others, beside
    a column for each that is 1 at its keys: what comes out of it is their mass.
    """
    sides = [AverageAttention.sides(quadrant) for quadrant in quadrants]
    averaged = sorted({col for _, col in sides})
    here = [(keys == col)[:, None, :, None] for col in averaged]
    apart = torch.stack(here).any(dim=0)
    masses = torch.cat(here, dim=-1).expand(-1, value.shape[1], -1, -1)
    values = [value * ~apart, *(value * block for block in here), masses]
    wide = torch.cat(values, dim=-1).to(value.dtype)
    # fused kernels want equal widths, which are multiples of it
    width = max(wide.shape[-1], query.shape[-1])
    width = -(-width // KERNEL_WIDTH) * KERNEL_WIDTH
    query, key, wide = (
        pad(part, (0, width - part.shape[-1])) for part in (query, key, wide)
    )
    mixed = scaled_dot_product_attention(
        query, key, wide, attn_mask=mask, is_causal=causal, scale=scaling
    )
    # NaN: a query of padding sees nothing, and gets nothing
    mixed = mixed.nan_to_num()
    dim = value.shape[-1]
    mass = mixed[..., dim * (1 + len(averaged)) :]
    out: Tensor = mixed[..., :dim]
    for number, (col, block) in enumerate(zip(averaged, here, strict=True)):
        rows = torch.zeros_like(queries, dtype=torch.bool)
        for row in (row for row, other in sides if other == col):
            rows |= queries == row
        mean = _mean_seen(value, block, mask, causal)
        average = mass[..., number, None] * mean
        plain = mixed[..., dim * (1 + number) : dim * (2 + number)]
        out = out + torch.where(rows[:, None, :, None], average, plain)
    return out


def _mean_seen(
    value: Tensor,
    block: Bool[Tensor, "batch 1 key 1"],
    mask: Tensor | None,
    causal: bool,
) -> Float[Tensor, "batch head #query value"]:
    """The mean over the keys of a block that each query sees, 0 where it sees none."""
    exact = _exact(value) * block
    counts = block.to(exact.dtype)
    if mask is None:
        # a causal query sees the keys up to its own
        total, count = (
            part.cumsum(-2) if causal else part.sum(-2, keepdim=True)
            for part in (exact, counts)
        )
        mean: Tensor = total / count.clamp_min(1)
        return mean.to(value.dtype)
    means = []
    size = max(1, NUMBERS // max(1, mask.shape[0] * mask.shape[1] * mask.shape[-1]))
    for rows in torch.split(torch.arange(mask.shape[-2], device=value.device), size):
        seen = _seen(mask, rows, value.shape[2]).to(exact.dtype)
        means.append((seen @ exact) / (seen @ counts).clamp_min(1))
    return torch.cat(means, dim=2).to(value.dtype)


def _exact(states: Tensor) -> Tensor:
    """The states in float32, or in float64 where they are: half precision counts only to 2048."""
    return states.to(torch.promote_types(states.dtype, torch.float32))


def _seen(mask: Tensor | None, rows: Tensor, keys: int) -> Seen:
    """The keys that these rows may see by a mask."""
    if mask is None:
        return torch.ones(1, 1, 1, keys, dtype=torch.bool, device=rows.device)
    if mask.dtype != torch.bool:
        # it hides with -inf or with a number next to it, which biases on top may move a little
        mask = mask > torch.finfo(mask.dtype).min / 2
    return _of_rows(mask, rows)


def _of_rows(mask: Tensor, rows: Tensor) -> Tensor:
    """These rows of a mask that may have one for all."""
    return mask if mask.shape[-2] == 1 else mask[..., rows, :]


def _edited(
    logits: Weights,
    seen: Seen,
    queries: QueryKinds,
    keys: KeyKinds,
    edit: Edit,
) -> Weights:
    """The weights of some rows under the edit, as the paper writes it."""
    if isinstance(edit, AverageTokens):
        logits = _average_logits(logits, seen, keys, edit)
    # NaN: a query of padding sees nothing, and gets nothing
    weights = logits.masked_fill(~seen, -torch.inf).softmax(-1).nan_to_num()
    if isinstance(edit, AverageAttention):
        weights = _average_quadrants(weights, seen, queries, keys, edit.quadrants)
    return weights


def _average_quadrants(
    weights: Weights,
    seen: Seen,
    queries: QueryKinds,
    keys: KeyKinds,
    quadrants: frozenset[str],
) -> Weights:
    """Every row of a quadrant replaced by its mean over the keys that the query may see.

    QUAG, section 2.2. The mass that a row has in the quadrant is preserved.
    """
    # any order gives the same: quadrants do not overlap
    for quadrant in sorted(quadrants):
        row, col = AverageAttention.sides(quadrant)
        # the paper leaves causal masks open: the mean is over visible keys (docs/adr/0011)
        seen_keys = (keys == col)[:, None, None] & seen
        mass = (weights * seen_keys).sum(-1, keepdim=True)
        # clamped: a query may see no key of the kind
        count = seen_keys.sum(-1, keepdim=True).clamp_min(1)
        here = (queries == row)[:, None, :, None] & seen_keys
        weights = torch.where(here, mass / count, weights)
    return weights


def _average_logits(
    logits: Weights, seen: Seen, keys: KeyKinds, edit: AverageTokens
) -> Weights:
    """QUAG-attention (section 2.4): the tokens of a modality become one before keys and values.

    Projections are linear, so the logit of an average is the mean of its keys' logits. The paper's
    equation adds log(size) to it, its listing multiplies by it. Each of the n keys gets an equal
    part of the average's weight, so log(n) less than all of it.
    """
    for name in edit.modalities:
        here = (keys == MODALITIES[name])[:, None, None] & seen
        count = here.sum(-1, keepdim=True).clamp_min(1)
        mean = logits.masked_fill(~here, 0).sum(-1, keepdim=True) / count
        size = count.to(logits.dtype).log()
        # as the listing has it, which does not keep the attention mass, or as the equation
        average = mean * size if edit.size_term == "multiply" else mean + size
        logits = torch.where(here, average - size, logits)
    return logits
