"""QUAG-attention (QUAG, section 2.4): a modality's keys and values are one averaged token.

The paper averages the tokens before the projection to keys and values. A projection is linear, so
averaging projected keys and values is the same; positions that are rotated into the keys are
averaged with them. Where queries see different keys (causal models), each has its own average.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import torch
from jaxtyping import Bool, Float, Int8
from torch import Tensor
from torch.nn.functional import scaled_dot_product_attention

from cuescope_sdk.fusion import MODALITIES, AverageTokens
from cuescope_sdk.torch._fusion.visible import Mean, Visible


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
    seen: Bool[Tensor, "#batch #head #query key"],
    edit: AverageTokens,
) -> Float[Tensor, "batch head query key"]:
    """The same on the matrix: the logit of an averaged key is the mean of its keys' logits.

    Each of the n keys gets an equal part of the weight, so log(n) less than all of it.
    """
    for block in averaged_blocks(keys, edit):
        here = block[:, None, None, :] & seen
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
        seen = visible.seen_by(None)[..., self.kept]
        bias = [torch.zeros_like(seen, dtype=dtype).masked_fill(~seen, -torch.inf)]
        for block, (mean_key, mean_value) in zip(self.blocks, self.means, strict=True):
            factor, term = size_terms(visible.counts(block, None), self.edit, dtype)
            keys.append(mean_key.over(None) * factor)
            values.append(mean_value.over(None))
            bias.append(term.expand(*seen.shape[:-1], 1))
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
        seen = visible.seen_by(rows)
        kept = query @ self.key[:, :, self.kept].transpose(-1, -2) * scaling
        if bias is not None:
            kept = kept + bias[..., self.kept]
        columns = [kept.masked_fill(~seen[..., self.kept], -torch.inf)]
        for block, (mean_key, _) in zip(self.blocks, self.means, strict=True):
            column = (query * mean_key.over(rows)).sum(-1, keepdim=True) * scaling
            if bias is not None:
                column = column + _mean_bias(bias, seen & block)
            factor, term = size_terms(visible.counts(block, rows), self.edit, query.dtype)
            columns.append(column * factor + term)
        weights = torch.cat(columns, dim=-1).float().softmax(-1).nan_to_num().to(query.dtype)
        mixed = weights[..., : len(self.kept)] @ self.value[:, :, self.kept]
        for place, (_, mean_value) in enumerate(self.means, start=len(self.kept)):
            mixed = mixed + weights[..., place, None] * mean_value.over(rows)
        return mixed


def _mean_bias(
    bias: Float[Tensor, "#batch #head #row key"], here: Bool[Tensor, "#batch #head #row key"]
) -> Float[Tensor, "batch head row 1"]:
    """The mean of an additive mask over the visible keys of a block."""
    total = bias.masked_fill(~here, 0).sum(-1, keepdim=True)
    return total / here.sum(-1, keepdim=True).clamp_min(1)
