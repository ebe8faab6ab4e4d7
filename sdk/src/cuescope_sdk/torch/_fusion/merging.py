"""QUAG-attention (section 2.4): the tokens of a modality become one before keys and values.

`average_logits` works on the attention matrix. `attend_averages` puts averages in the place of the
averaged keys, and lets the fused kernel do the rest.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import torch
from jaxtyping import Bool, Float, Int8
from torch import Tensor
from torch.nn.functional import pad, scaled_dot_product_attention

from cuescope_sdk.fusion import MODALITIES, AverageTokens
from cuescope_sdk.torch._fusion.averaging import KERNEL_WIDTH
from cuescope_sdk.torch._fusion.state import Mean, Visible, among, at_least_float32, put, take


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
    size = counts.to(exact).clamp_min(1).log().to(dtype)
    zero = torch.zeros_like(counts, dtype=dtype)
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
        visible = self.visible
        dtype = query.dtype
        keys = [self.key[:, :, self.kept]]
        values = [self.value[:, :, self.kept]]
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
        count = len(self.blocks)
        dim = self.value.shape[-1]
        width = max(self.key.shape[-1], dim) + count
        width = -(-width // KERNEL_WIDTH) * KERNEL_WIDTH  # of zeros, which add nothing
        keys = self._after_axes(take(self.key, self.kept), count, width)
        values = self._after_axes(take(self.value, self.kept), count, width)
        logits = self._logits(query, scaling) / scaling

        def queries(rows: Tensor, front: int = 0) -> Tensor:
            wide = query.new_zeros((*query.shape[:2], front + rows.numel(), width))
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
            put(out, aligned, self._with_means(mixed[:, :, count:], aligned))
            rest = rest[~among(rest, aligned, self.visible.queries)]
        for part in of_kept.chunks(rest):
            end = of_kept.end(part)
            mask = of_kept.mask(part, end)
            mask = None if mask is None else pad(mask, (count, 0), value=True)
            seen = slice(None, count + end)
            mixed = scaled_dot_product_attention(
                queries(part), keys[:, :, seen], values[:, :, seen], attn_mask=mask, scale=scaling
            )
            put(out, part, self._with_means(mixed, part))
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
            out = torch.addcmul(out, mixed[..., column, None], mean_value(rows))
        every = torch.ones(self.visible.keys, dtype=torch.bool, device=out.device)
        seeing = self.visible.counts(every, rows) > 0
        return out if bool(seeing.all()) else out * seeing

    def mixed(self, query: Tensor, rows: Tensor, scaling: float) -> Tensor:
        """Each query has averages of its own: scores of the kept keys, and a column a block."""
        visible = self.visible
        bias = self.visible.bias_of(rows)
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
