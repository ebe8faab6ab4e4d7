"""The row-wise average of attention quadrants (QUAG, section 2.2), twice.

`average_quadrants` works on the attention matrix. `attend_averaged` never forms it. For a query,
the keys of an averaged quadrant all get the mean of their weights, so together they give their
mass times the mean of their values. Where that mean is the same for every query, it takes the place
of the values and the fused kernel does the rest. Under a causal or other mask it differs from query
to query: then the kernel mixes the untouched values alone, and beside them one column for each
averaged modality that is 1 at its keys, which comes out as the mass.
"""

from collections.abc import Iterator
from typing import Any

import torch
from jaxtyping import Bool, Float, Int, Int8
from torch import Tensor
from torch.nn.functional import pad, scaled_dot_product_attention

from cuescope_sdk.fusion import LETTERS, OTHER, TEXT, VIDEO
from cuescope_sdk.torch._fusion.state import Mean, Visible, among, put, take

KERNEL_WIDTH = 8  # fused kernels want head dims that are multiples of it


def average_quadrants(
    weights: Float[Tensor, "batch head query key"],
    queries: Int8[Tensor, "batch query"],
    keys: Int8[Tensor, "batch key"],
    visible: Bool[Tensor, "#batch #head #query key"],
    quadrants: frozenset[str],
) -> Float[Tensor, "batch head query key"]:
    """Every row of a quadrant replaced by its mean over the keys that the query may see.

    The mass that a row has in the quadrant is preserved.
    """
    for quadrant in sorted(quadrants):  # any order gives the same: quadrants do not overlap
        row, col = map(LETTERS.__getitem__, quadrant)
        seen_keys = (keys == col)[:, None, None, :] & visible
        mass = (weights * seen_keys).sum(-1, keepdim=True)
        # a query may see no key of the kind
        mean = mass / seen_keys.sum(-1, keepdim=True).clamp_min(1)
        here = (queries == row)[:, None, :, None] & seen_keys
        weights = torch.where(here, mean, weights)
    return weights


def attend_averaged(
    query: Float[Tensor, "batch head query dim"],
    key: Float[Tensor, "batch head key dim"],
    value: Float[Tensor, "batch head key value"],
    visible: Visible,
    queries: Int8[Tensor, " query"],
    keys: Int8[Tensor, " key"],
    quadrants: frozenset[str],
    scaling: float,
) -> Float[Tensor, "batch head query value"]:
    """Attention under `average_quadrants` of samples that are laid out alike, in linear memory."""
    out = query.new_empty((*query.shape[:3], value.shape[-1]))
    # queries that see the keys of one modality alone, which comes first
    alone = visible.blind(keys != keys[:1])[0] if len(keys) else 0
    for averaged, rows in _alike(queries, quadrants, int(keys[0]) if alone else None, alone):
        end = visible.end(rows)
        modalities = keys[:end]
        blocks = [block for modality in sorted(averaged) if (block := modalities == modality).any()]
        if len(blocks) == 1 and blocks[0].all():  # the mean of all values: no weight is needed
            put(out, rows, visible.mean_of(value, keys == keys[0])(rows))
            continue
        if not end:  # queries of padding before all tokens
            out[:, :, rows] = 0
            continue
        mixing = _Mixing(key[:, :, :end], value[:, :, :end], visible, rows, blocks, scaling)
        rest = rows
        if visible.aligned is not None and 2 * rows.numel() > end:
            aligned = visible.aligned[:end]
            # one causal pass, of some rows for nothing
            mixed = mixing.of_all(take(query, aligned), aligned)
            ours = among(aligned, rows, visible.queries).nonzero().squeeze(1)
            put(out, aligned[ours], take(mixed, ours))
            rest = rows[~among(rows, aligned, visible.queries)]
        for part in visible.chunks(rest):
            put(out, part, mixing.of(take(query, part), part))
    return out


def _alike(
    queries: Int8[Tensor, " query"], quadrants: frozenset[str], modality: int | None, alone: int
) -> Iterator[tuple[frozenset[int], Tensor]]:
    """The rows that are averaged over the same keys.

    Where `modality` is averaged, the first `alone` rows, which see nothing else, go apart: their
    attention is its mean.
    """
    groups: dict[frozenset[int], list[int]] = {}
    for kind in (kind for kind in (OTHER, VIDEO, TEXT) if bool((queries == kind).any())):
        averaged = frozenset(LETTERS[q[1]] for q in quadrants if LETTERS[q[0]] == kind)
        groups.setdefault(averaged, []).append(kind)
    for averaged, kinds in groups.items():
        of = torch.tensor(kinds, device=queries.device, dtype=queries.dtype)
        rows = torch.isin(queries, of).nonzero().squeeze(1)
        early = rows < alone if modality in averaged else None
        for part in (rows,) if early is None else (rows[early], rows[~early]):
            if part.numel():
                yield averaged, part


class _Mixing:
    """Keys and values made ready for queries that are averaged over some blocks of them."""

    def __init__(
        self,
        key: Float[Tensor, "batch head key dim"],
        value: Float[Tensor, "batch head key value"],
        visible: Visible,
        rows: Int[Tensor, " row"],
        blocks: list[Bool[Tensor, " key"]],
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
        self._key, wide = self._wide(key), self._wide(value)
        if blocks and wide is value:
            wide = value.clone()
        of_mass = torch.eye(len(varying), self._width - self._dim).to(wide)
        for block in blocks:
            places = block.nonzero().squeeze(1)
            own = [block is other for other in varying]
            if any(own):  # its part comes back as mass times mean
                unit = pad(of_mass[own.index(True)], (self._dim, 0))
                put(wide, places, unit)
            else:
                put(wide[..., : self._dim], places, visible.whole_mean_of(value, block))
        self._value = wide

    def of(
        self, query: Float[Tensor, "batch head row dim"], rows: Tensor
    ) -> Float[Tensor, "batch head row value"]:
        """Attention of these queries, which are the rows `rows` of all."""
        end = self._visible.end(rows)
        if not end:
            return query.new_zeros((*query.shape[:3], self._dim))
        mask = self._visible.mask(rows, end)
        return self._with_means(self._mixed(query, end, attn_mask=mask), rows)

    def of_all(
        self, query: Float[Tensor, "batch head key dim"], rows: Int[Tensor, " key"]
    ) -> Float[Tensor, "batch head key value"]:
        """Attention of as many queries (`rows` of all) as keys, each seeing those up to its own."""
        return self._with_means(self._mixed(query, query.shape[2], is_causal=True), rows)

    def _mixed(self, query: Tensor, end: int, **masked: Any) -> Tensor:
        return scaled_dot_product_attention(
            self._wide(query),
            self._key[:, :, :end],
            self._value[:, :, :end],
            scale=self._scaling,
            **masked,
        )

    def _with_means(self, mixed: Tensor, rows: Tensor) -> Tensor:
        """The mass of each averaged modality, in its column, times the mean of its values."""
        out = mixed[..., : self._dim]
        for column, mean in enumerate(self._means, start=self._dim):
            out = torch.addcmul(out, mixed[..., column, None], mean(rows))
        return out

    def _wide(self, states: Tensor) -> Tensor:
        """Padded with zeros, which add nothing to a product."""
        missing = self._width - states.shape[-1]
        return pad(states, (0, missing)) if missing else states
