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
from jaxtyping import Bool, Float, Int8
from torch import Tensor
from torch.nn.functional import pad, scaled_dot_product_attention

from cuescope_sdk.fusion import LETTERS, MODALITIES, AverageTokens
from cuescope_sdk.torch._fusion.state import Mean, Visible

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
        mixing = _Mixing(key[:, :, :end], value[:, :, :end], visible, blocks, scaling)
        if visible.square and 2 * len(rows) > end:  # one causal pass, of some rows for nothing
            out[:, :, rows] = mixing.of_all(query[:, :, :end])[:, :, rows]
            continue
        for part in visible.chunks(rows):
            out[:, :, part] = mixing.of(query[:, :, part], part)
    return out


def _alike(
    queries: Int8[Tensor, " query"], quadrants: frozenset[str]
) -> Iterator[tuple[frozenset[int], Tensor]]:
    """The rows that are averaged over the same keys."""
    groups: dict[frozenset[int], list[int]] = {}
    for modality in torch.unique(queries).tolist():
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
        blocks: list[Bool[Tensor, " key"]],
        scaling: float,
    ) -> None:
        self._visible, self._scaling, self._dim = visible, scaling, value.shape[-1]
        self._means = [visible.mean_of(value, block) for block in blocks]
        if visible.varies and blocks:
            for block in blocks:
                # their part comes back as mass times mean
                value = value.masked_fill(block[:, None], 0)
            columns = torch.stack(blocks, dim=-1).to(value.dtype)
            value = torch.cat([value, columns.expand(*value.shape[:2], -1, -1)], dim=-1)
        else:
            for block, mean in zip(blocks, self._means, strict=True):
                value = torch.where(block[:, None], mean(None), value)
        self._width = -(-max(key.shape[-1], value.shape[-1]) // KERNEL_WIDTH) * KERNEL_WIDTH
        if key.shape[-1] == value.shape[-1]:
            self._width = key.shape[-1]
        self._key, self._value = self._wide(key), self._wide(value)

    def of(
        self, query: Float[Tensor, "batch head row dim"], rows: Tensor
    ) -> Float[Tensor, "batch head row value"]:
        """Attention of these queries, which are the rows `rows` of all."""
        end = self._visible.end(rows)
        mask = self._visible.mask(rows, end)
        return self._with_means(self._mixed(query, end, attn_mask=mask), rows)

    def of_all(
        self, query: Float[Tensor, "batch head key dim"]
    ) -> Float[Tensor, "batch head key value"]:
        """Attention of as many queries as there are keys, each seeing those up to its own."""
        rows = torch.arange(query.shape[2], device=query.device)
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
        if self._visible.varies:
            for column, mean in enumerate(self._means, start=self._dim):
                out = out + mixed[..., column, None] * mean(rows)
        return out

    def _wide(self, states: Tensor) -> Tensor:
        """Padded with zeros, which add nothing to a product."""
        return pad(states, (0, self._width - states.shape[-1]))


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
    size, zero = counts.clamp_min(1).log().to(dtype), torch.zeros_like(counts, dtype=dtype)
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
        count = here.sum(-1, keepdim=True, dtype=torch.float32)
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
    rows = torch.arange(visible.queries, device=query.device)
    parts = visible.chunks(rows)
    return torch.cat([averages.mixed(query[:, :, part], part, scaling) for part in parts], dim=2)


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
        weights = torch.cat(columns, dim=-1).float().softmax(-1).nan_to_num().to(query.dtype)
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
