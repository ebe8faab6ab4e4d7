"""The row-wise average of attention quadrants (QUAG, section 2.2), twice.

`average_quadrants` works on the attention matrix. `attend_averaged` never forms it. For a query,
the keys of an averaged quadrant all get the mean of their weights, so together they give their
mass times the mean of their values. Where that mean is the same for every query, it takes the place
of the values and the fused kernel does the rest. Under a causal or other mask it differs from query
to query: then the kernel mixes the untouched values alone, and beside them one column for each
averaged modality that is 1 at its keys, which comes out as the mass.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import torch
from jaxtyping import Bool, Float, Int, Int8
from torch import Tensor
from torch.nn.functional import pad, scaled_dot_product_attention

from cuescope_sdk.fusion import LETTERS, MODALITIES, OTHER, TEXT, VIDEO, AverageTokens
from cuescope_sdk.torch._fusion.state import Mean, Visible, among, at_least_float32, take

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
    for averaged, rows in _alike(queries, quadrants):
        end = visible.end(rows)
        modalities = keys[:end]
        blocks = [block for modality in sorted(averaged) if (block := modalities == modality).any()]
        if len(blocks) == 1 and blocks[0].all():  # the mean of all values: no weight is needed
            out[:, :, rows] = visible.mean_of(value, keys == keys[0])(rows)
            continue
        if not end:  # queries of padding before all tokens
            out[:, :, rows] = 0
            continue
        mixing = _Mixing(key[:, :, :end], value[:, :, :end], visible, rows, blocks, scaling)
        rest = rows
        if visible.aligned is not None and 2 * len(rows) > end:
            aligned = visible.aligned[:end]
            # one causal pass, of some rows for nothing
            mixed = mixing.of_all(take(query, aligned), aligned)
            ours = among(aligned, rows, visible.queries)
            out[:, :, aligned[ours]] = mixed[:, :, ours]
            rest = rows[~among(rows, aligned, visible.queries)]
        for part in visible.chunks(rest):
            out[:, :, part] = mixing.of(take(query, part), part)
    return out


def _alike(
    queries: Int8[Tensor, " query"], quadrants: frozenset[str]
) -> Iterator[tuple[frozenset[int], Tensor]]:
    """The rows that are averaged over the same keys."""
    groups: dict[frozenset[int], list[int]] = {}
    for modality in (kind for kind in (OTHER, VIDEO, TEXT) if bool((queries == kind).any())):
        averaged = frozenset(LETTERS[q[1]] for q in quadrants if LETTERS[q[0]] == modality)
        groups.setdefault(averaged, []).append(modality)
    for averaged, modalities in groups.items():
        of = torch.tensor(modalities, device=queries.device, dtype=queries.dtype)
        yield averaged, torch.isin(queries, of).nonzero().squeeze(1)


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
        self._visible, self._scaling, self._dim = visible, scaling, value.shape[-1]
        varying: list[Tensor] = []
        self._means: list[Mean] = []
        for block in blocks:
            if visible.differs(block, rows):
                varying.append(block)
                self._means.append(visible.mean_of(value, block))
                # their part comes back as mass times mean
                value = value.masked_fill(block[:, None], 0)
            else:
                value = torch.where(block[:, None], visible.whole_mean_of(value, block), value)
        if varying:
            columns = torch.stack(varying, dim=-1).to(value.dtype)
            value = torch.cat([value, columns.expand(*value.shape[:2], -1, -1)], dim=-1)
        self._width = -(-max(key.shape[-1], value.shape[-1]) // KERNEL_WIDTH) * KERNEL_WIDTH
        if key.shape[-1] == value.shape[-1]:
            self._width = key.shape[-1]
        self._key, self._value = self._wide(key), self._wide(value)

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
            out = out + mixed[..., column, None] * mean(rows)
        return out

    def _wide(self, states: Tensor) -> Tensor:
        """Padded with zeros, which add nothing to a product."""
        missing = self._width - states.shape[-1]
        return pad(states, (0, missing)) if missing else states


# ------------------------------------------------------------------------------------------ tokens


def averaged_blocks(
    modality: Int8[Tensor, "*batch token"], edit: AverageTokens
) -> list[Bool[Tensor, "*batch token"]]:
    """Where the tokens of each averaged modality are."""
    return [modality == MODALITIES[name] for name in sorted(edit.modalities, reverse=True)]


def size_terms(
    counts: Float[Tensor, "*batch"], edit: AverageTokens, dtype: torch.dtype
) -> tuple[Float[Tensor, "*batch"], Float[Tensor, "*batch"]]:
    """What is multiplied with the logit of an average over `counts` keys, and what is added to it.

    The paper's equation adds log(size), its listing multiplies by it. -inf is added for no key.
    """
    exact = torch.promote_types(dtype, torch.float32)
    size, zero = (
        counts.to(exact).clamp_min(1).log().to(dtype),
        torch.zeros_like(counts, dtype=dtype),
    )
    factor, term = (zero + 1, size) if edit.size_term == "add" else (size, zero)
    return factor, term.masked_fill(counts == 0, -torch.inf)


def average_logits(
    logits: Float[Tensor, "batch head query key"],
    keys: Int8[Tensor, "batch key"],
    visible: Bool[Tensor, "#batch #head #query key"],
    edit: AverageTokens,
) -> Float[Tensor, "batch head query key"]:
    """The same on the matrix: the logit of an averaged key is the mean of its keys' logits.

    Each of the n keys gets an equal part of the weight, so log(n) less than all of it.
    """
    for block in averaged_blocks(keys, edit):
        here = block[:, None, None, :] & visible
        # half precision counts only to 2048
        exact = torch.promote_types(logits.dtype, torch.float32)
        count = here.sum(-1, keepdim=True, dtype=exact)
        mean = logits.masked_fill(~here, 0).sum(-1, keepdim=True) / count.clamp_min(1)
        factor, term = size_terms(count, edit, logits.dtype)
        logits = torch.where(here, mean * factor + term - count.clamp_min(1).log(), logits)
    return logits


def attend_averages(
    query: Float[Tensor, "batch head query dim"],
    key: Float[Tensor, "batch head key dim"],
    value: Float[Tensor, "batch head key value"],
    visible: Visible,
    keys: Int8[Tensor, " key"],
    edit: AverageTokens,
    scaling: float,
) -> Float[Tensor, "batch head query value"]:
    """QUAG-attention of samples that are laid out alike."""
    blocks = [block for block in averaged_blocks(keys, edit) if block.any()]
    averaged = torch.stack([*blocks, torch.zeros_like(keys, dtype=torch.bool)]).any(0)
    averages = _Averages(key, value, visible, (~averaged).nonzero().squeeze(1), blocks, edit)
    # a bias differs from key to key, so it needs its mean
    if not visible.varies and visible.bias is None:
        return averages.mixed_alike(query, scaling)
    if visible.prefix is not None:
        return averages.mixed_before(query, scaling)
    return averages.mixed(query, torch.arange(visible.queries, device=query.device), scaling)


@dataclass(frozen=True, eq=False)
class _Averages:
    """The keys that are kept, and the blocks of those that are averaged."""

    key: Float[Tensor, "batch head key dim"]
    value: Float[Tensor, "batch head key value"]
    visible: Visible
    kept: Tensor
    blocks: Sequence[Bool[Tensor, " key"]]
    edit: AverageTokens

    @cached_property
    def means(self) -> list[tuple[Mean, Mean]]:
        """The averaged key and value of each block."""
        of = self.visible.mean_of
        return [(of(self.key, block), of(self.value, block)) for block in self.blocks]

    def mixed_alike(self, query: Tensor, scaling: float) -> Tensor:
        """Every query sees the same: a shorter sequence of keys through the fused kernel."""
        visible, dtype = self.visible, query.dtype
        keys, values = [self.key[:, :, self.kept]], [self.value[:, :, self.kept]]
        seen_keys = visible.seen_by(None)[..., self.kept]
        bias = [torch.zeros_like(seen_keys, dtype=dtype).masked_fill(~seen_keys, -torch.inf)]
        for block, (mean_key, mean_value) in zip(self.blocks, self.means, strict=True):
            factor, term = size_terms(visible.counts(block, None), self.edit, dtype)
            keys.append(mean_key(None) * factor)
            values.append(mean_value(None))
            bias.append(term.expand(*seen_keys.shape[:-1], 1))
        return scaled_dot_product_attention(
            query,
            torch.cat(keys, dim=2),
            torch.cat(values, dim=2),
            attn_mask=torch.cat(bias, dim=-1),
            scale=scaling,
        )

    def mixed_before(self, query: Tensor, scaling: float) -> Tensor:
        """Each query sees what comes before it, through the fused kernel.

        An average stands before the kept keys as a key of its own axis. There a query has the
        logit of its own average, and what comes out of that axis is the weight of its mean.
        """
        count, dim = len(self.blocks), self.value.shape[-1]
        width = max(self.key.shape[-1], dim) + count
        width = -(-width // KERNEL_WIDTH) * KERNEL_WIDTH  # of zeros, which add nothing
        keys = self._after_axes(take(self.key, self.kept), count, width)
        values = self._after_axes(take(self.value, self.kept), count, width)
        logits = self._logits(query, scaling) / scaling

        def queries(rows: Tensor, front: int = 0) -> Tensor:
            wide = query.new_zeros((*query.shape[:2], front + len(rows), width))
            wide[:, :, front:, : query.shape[-1]] = take(query, rows)
            axes = slice(self.key.shape[-1], self.key.shape[-1] + count)
            wide[:, :, front:, axes] = take(logits, rows)
            return wide

        out = query.new_zeros((*query.shape[:3], dim))
        of_kept = self.visible.of_keys(self.kept)
        aligned = of_kept.aligned
        rest = torch.arange(self.visible.queries, device=query.device)
        if aligned is not None:
            # a query in front for each average, so that the kernel's causal mask is the right one
            mixed = scaled_dot_product_attention(
                queries(aligned, count), keys, values, is_causal=True, scale=scaling
            )
            out[:, :, aligned] = self._with_means(mixed[:, :, count:], aligned)
            rest = rest[~among(rest, aligned, self.visible.queries)]
        for part in of_kept.chunks(rest):
            end = of_kept.end(part)
            mask = of_kept.mask(part, end)
            mask = None if mask is None else pad(mask, (count, 0), value=True)
            seen = slice(None, count + end)
            mixed = scaled_dot_product_attention(
                queries(part), keys[:, :, seen], values[:, :, seen], attn_mask=mask, scale=scaling
            )
            out[:, :, part] = self._with_means(mixed, part)
        return out

    @staticmethod
    def _after_axes(states: Tensor, count: int, width: int) -> Tensor:
        """Averages with nothing but their axis, then the states with nothing on it."""
        wide = states.new_zeros((*states.shape[:2], count + states.shape[2], width))
        wide[:, :, count:, : states.shape[-1]] = states
        for number in range(count):
            wide[:, :, number, states.shape[-1] + number] = 1
        return wide

    def _logits(self, query: Tensor, scaling: float) -> Float[Tensor, "batch head query block"]:
        """Of each average for each query; far below all others where it is of no key."""
        columns = [query[..., :0]]
        for block, (mean_key, _) in zip(self.blocks, self.means, strict=True):
            column = (query * mean_key(None)).sum(-1, keepdim=True) * scaling
            factor, term = size_terms(self.visible.counts(block, None), self.edit, query.dtype)
            columns.append(column * factor + term)
        lowest = -1e4 * scaling if query.dtype == torch.float16 else -1e30
        return torch.cat(columns, dim=-1).clamp_min(lowest)

    def _with_means(self, mixed: Tensor, rows: Tensor) -> Tensor:
        """The weight of each average times the mean of its values; nothing for who sees nothing."""
        dim = self.value.shape[-1]
        out = mixed[..., :dim]
        for column, (_, mean_value) in enumerate(self.means, start=dim):
            out = out + mixed[..., column, None] * mean_value(rows)
        every = torch.ones(self.visible.keys, dtype=torch.bool, device=out.device)
        return out * (self.visible.counts(every, rows) > 0)

    def mixed(self, query: Tensor, rows: Tensor, scaling: float) -> Tensor:
        """Each query has averages of its own: scores of the kept keys, and a column a block."""
        visible, bias = self.visible, self.visible.bias_of(rows)
        seen_keys = visible.seen_by(rows)
        kept = query @ self.key[:, :, self.kept].transpose(-1, -2) * scaling
        if bias is not None:
            kept = kept + bias[..., self.kept]
        columns = [kept.masked_fill(~seen_keys[..., self.kept], -torch.inf)]
        for block, (mean_key, _) in zip(self.blocks, self.means, strict=True):
            column = (query * mean_key(rows)).sum(-1, keepdim=True) * scaling
            if bias is not None:
                # a mean of logits holds the mean of their biases
                column = column + _mean_bias(bias, seen_keys & block)
            factor, term = size_terms(visible.counts(block, rows), self.edit, query.dtype)
            columns.append(column * factor + term)
        # NaN: a query of padding, all of whose logits are -inf
        weights = at_least_float32(torch.cat(columns, dim=-1)).softmax(-1).nan_to_num()
        weights = weights.to(query.dtype)
        mixed = weights[..., : len(self.kept)] @ self.value[:, :, self.kept]
        for position, (_, mean_value) in enumerate(self.means, start=len(self.kept)):
            mixed = mixed + weights[..., position, None] * mean_value(rows)
        return mixed


def _mean_bias(
    bias: Float[Tensor, "#batch #head #row key"], here: Bool[Tensor, "#batch #head #row key"]
) -> Float[Tensor, "batch head row 1"]:
    """The mean of an additive mask over the visible keys of a block."""
    total = bias.masked_fill(~here, 0).sum(-1, keepdim=True)
    return total / here.sum(-1, keepdim=True).clamp_min(1)
