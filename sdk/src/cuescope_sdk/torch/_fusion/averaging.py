"""The row-wise average of attention quadrants (QUAG, section 2.2), twice.

`average_quadrants` works on the attention matrix. `attend_averaged` never forms it. For a query,
the keys of an averaged quadrant all get the mean of their weights, so together they give their
mass times the mean of their values. Where that mean is the same for every query, it takes the place
of the values and the fused kernel does the rest. Under a causal or other mask it differs from query
to query: then the kernel mixes the untouched values alone, and beside them one column for each
averaged modality that is 1 at its keys, which comes out as the mass.
"""

from collections.abc import Iterable, Iterator
from typing import Any

import torch
from jaxtyping import Float, Int
from torch import Tensor
from torch.nn.functional import pad, scaled_dot_product_attention

from cuescope_sdk.fusion import OTHER, TEXT, VIDEO, AverageAttention
from cuescope_sdk.torch._fusion.shapes import (
    BatchKeyKinds,
    BatchQueryKinds,
    Block,
    Key,
    KeyKinds,
    Mixed,
    Query,
    QueryKinds,
    Rows,
    RowStates,
    Seen,
    Value,
    Weights,
)
from cuescope_sdk.torch._fusion.state import Mean, Visible, among, put, take

KERNEL_WIDTH = 8  # fused kernels want head dims that are multiples of it


def average_quadrants(
    weights: Weights,
    queries: BatchQueryKinds,
    keys: BatchKeyKinds,
    visible: Seen,
    quadrants: frozenset[str],
) -> Weights:
    """Every row of a quadrant replaced by its mean over the keys that the query may see.

    The mass that a row has in the quadrant is preserved.
    """
    # any order gives the same: quadrants do not overlap
    for quadrant in sorted(quadrants):
        row, col = AverageAttention.sides(quadrant)
        # the paper leaves causal masks open: the mean is over visible keys (docs/adr/0011)
        seen_keys = (keys == col)[:, None, None, :] & visible
        mass = (weights * seen_keys).sum(-1, keepdim=True)
        # clamped: a query may see no key of the kind
        count = seen_keys.sum(-1, keepdim=True).clamp_min(1)
        here = (queries == row)[:, None, :, None] & seen_keys
        weights = torch.where(here, mass / count, weights)
    return weights


def attend_averaged(
    query: Query,
    key: Key,
    value: Value,
    visible: Visible,
    queries: QueryKinds,
    keys: KeyKinds,
    quadrants: frozenset[str],
    scaling: float,
) -> Mixed:
    """Attention under `average_quadrants` of samples that are laid out alike, in linear memory."""
    out = query.new_empty((*query.shape[:3], value.shape[-1]))
    # queries that see the keys of one modality alone, which comes first
    alone = visible.blind(keys != keys[:1])[0] if len(keys) else 0
    for averaged, rows in _alike(
        queries, quadrants, int(keys[0]) if alone else None, alone
    ):
        end = visible.end(rows)
        modalities = keys[:end]
        blocks = [modalities == modality for modality in sorted(averaged)]
        blocks = [block for block in blocks if block.any()]
        # the mean of all values: no weight is needed
        if len(blocks) == 1 and blocks[0].all():
            mean = visible.mean_of(value, keys == keys[0])
            put(out, rows, mean(rows))
            continue
        if not end:  # queries of padding before all tokens
            out[:, :, rows] = 0
            continue
        mixing = _Mixing(
            key[:, :, :end], value[:, :, :end], visible, rows, blocks, scaling
        )
        rest = rows
        if visible.aligned is not None and 2 * rows.numel() > end:
            aligned = visible.aligned[:end]
            # one causal pass, of some rows for nothing
            mixed = mixing.of_all(take(query, aligned), aligned)
            wanted = among(aligned, rows, visible.queries).nonzero().squeeze(1)
            put(out, aligned[wanted], take(mixed, wanted))
            rest = rows[~among(rows, aligned, visible.queries)]
        for part in visible.chunks(rest):
            put(out, part, mixing.of(take(query, part), part))
    return out


def _alike(
    queries: QueryKinds,
    quadrants: frozenset[str],
    modality: int | None,
    alone: int,
) -> Iterator[tuple[frozenset[int], Tensor]]:
    """The rows that are averaged over the same keys.

    Where `modality` is averaged, the first `alone` rows, which see nothing else, go apart: their
    attention is its mean.
    """
    groups: dict[frozenset[int], Tensor] = {}
    for kind in (OTHER, VIDEO, TEXT):
        is_kind = queries == kind
        if bool(is_kind.any()):
            sides = map(AverageAttention.sides, quadrants)
            averaged = frozenset(key for query, key in sides if query == kind)
            groups[averaged] = groups.get(averaged, False) | is_kind
    for averaged, is_member in groups.items():
        rows = is_member.nonzero().squeeze(1)
        parts = [rows]
        if modality in averaged:
            early = rows < alone
            parts = [rows[early], rows[~early]]
        for part in parts:
            if part.numel():
                yield averaged, part


def add_means(
    mixed: Float[Tensor, "batch head row column"],
    dim: int,
    means: Iterable[Mean],
    rows: Tensor,
) -> Float[Tensor, "batch head row value"]:
    """The first `dim` columns, and the mass in each column after them times the mean of a block."""
    out = mixed[..., :dim]
    for column, mean in enumerate(means, start=dim):
        out = torch.addcmul(out, mixed[..., column, None], mean(rows))
    return out


class _Mixing:
    """Keys and values made ready for queries that are averaged over some blocks of them."""

    def __init__(
        self,
        key: Key,
        value: Value,
        visible: Visible,
        rows: Rows,
        blocks: list[Block],
        scaling: float,
    ) -> None:
        self._visible = visible
        self._scaling = scaling
        self._dim = value.shape[-1]
        varying = [block for block in blocks if visible.differs(block, rows)]
        self._means: list[Mean] = [visible.mean_of(value, block) for block in varying]
        width = max(key.shape[-1], self._dim + len(varying))
        # no padding where all are of one width: kernels take it as it is
        alike = not varying and key.shape[-1] == self._dim
        self._width = width if alike else -(-width // KERNEL_WIDTH) * KERNEL_WIDTH
        self._key = self._wide(key)
        wide = self._wide(value)
        if blocks and wide is value:
            wide = value.clone()
        column = self._dim
        for block in blocks:
            places = block.nonzero().squeeze(1)
            if visible.differs(block, rows):  # its part comes back as mass times mean
                unit = torch.zeros(self._width).to(wide)
                unit[column] = 1
                column += 1
                put(wide, places, unit)
            else:
                put(wide[..., : self._dim], places, visible.whole_mean_of(value, block))
        self._value = wide

    def of(
        self,
        query: RowStates,
        rows: Tensor,
    ) -> Float[Tensor, "batch head row value"]:
        """Attention of these queries, which are the rows `rows` of all."""
        end = self._visible.end(rows)
        if not end:
            return query.new_zeros((*query.shape[:3], self._dim))
        mixed = self._mix(query, end, attn_mask=self._visible.mask(rows, end))
        return add_means(mixed, self._dim, self._means, rows)

    def of_all(self, query: Key, rows: Int[Tensor, " key"]) -> Value:
        """Attention of as many queries (`rows` of all) as keys, each seeing those up to its own."""
        mixed = self._mix(query, query.shape[2], is_causal=True)
        return add_means(mixed, self._dim, self._means, rows)

    def _mix(self, query: Tensor, end: int, **masked: Any) -> Tensor:
        key = self._key[:, :, :end]
        value = self._value[:, :, :end]
        query = self._wide(query)
        return scaled_dot_product_attention(
            query,
            key,
            value,
            scale=self._scaling,
            **masked,
        )

    def _wide(self, states: Tensor) -> Tensor:
        """Padded with zeros, which add nothing to a product."""
        missing = self._width - states.shape[-1]
        return pad(states, (0, missing)) if missing else states
