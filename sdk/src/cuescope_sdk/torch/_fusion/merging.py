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
from cuescope_sdk.torch._fusion.averaging import KERNEL_WIDTH, add_means
from cuescope_sdk.torch._fusion.shapes import (
    BatchKeyKinds,
    Block,
    Key,
    KeyKinds,
    Mixed,
    Query,
    Seen,
    SeenByRow,
    Sizes,
    Value,
    Weights,
)
from cuescope_sdk.torch._fusion.state import (
    Mean,
    Visible,
    among,
    at_least_float32,
    put,
    take,
)


def averaged_blocks(
    modality: Int8[Tensor, "*batch token"], edit: AverageTokens
) -> list[Bool[Tensor, "*batch token"]]:
    """Where the tokens of each averaged modality are."""
    return [
        modality == MODALITIES[name] for name in sorted(edit.modalities, reverse=True)
    ]


def size_terms(
    counts: Sizes,
    edit: AverageTokens,
    dtype: torch.dtype,
) -> tuple[Sizes, Sizes]:
    """Factor and offset of the logit of an average over `counts` keys.

    The paper's equation adds log(size), its listing multiplies by it. -inf is added for no key.
    """
    exact = torch.promote_types(dtype, torch.float32)
    size = counts.to(exact).clamp_min(1).log().to(dtype)
    if edit.size_term == "add":
        factor = torch.ones_like(size)
        term = size
    else:
        # as the paper's listing has it: this one does not keep the attention mass
        factor = size
        term = torch.zeros_like(size)
    return factor, term.masked_fill(counts == 0, -torch.inf)


def average_logits(
    logits: Weights,
    keys: BatchKeyKinds,
    visible: Seen,
    edit: AverageTokens,
) -> Weights:
    """The same on the matrix: the logit of an averaged key is the mean of its keys' logits.

    Each of the n keys gets an equal part of the weight, so log(n) less than all of it.
    """
    for block in averaged_blocks(keys, edit):
        here = block[:, None, None, :] & visible
        # half precision counts only to 2048
        exact = torch.promote_types(logits.dtype, torch.float32)
        count = here.sum(-1, keepdim=True, dtype=exact)
        factor, term = size_terms(count, edit, logits.dtype)
        count = count.clamp_min(1)
        mean = logits.masked_fill(~here, 0).sum(-1, keepdim=True) / count
        logit = mean * factor + term - count.log()
        logits = torch.where(here, logit, logits)
    return logits


def attend_averages(
    query: Query,
    key: Key,
    value: Value,
    visible: Visible,
    keys: KeyKinds,
    edit: AverageTokens,
    scaling: float,
) -> Mixed:
    """QUAG-attention of samples that are laid out alike."""
    blocks = [block for block in averaged_blocks(keys, edit) if block.any()]
    is_kept = torch.ones_like(keys, dtype=torch.bool)
    for block in blocks:
        is_kept &= ~block
    kept = is_kept.nonzero().squeeze(1)
    averages = _Averages(key, value, visible, kept, blocks, edit)
    # a bias differs from key to key, so it needs its mean
    if not visible.varies and visible.bias is None:
        return averages.mix_alike(query, scaling)
    if visible.prefix is not None:
        return averages.mix_before(query, scaling)
    return averages.mix(query, scaling)


@dataclass(frozen=True, eq=False)
class _Averages:
    """The keys that are kept, and the blocks of those that are averaged."""

    key: Key
    value: Value
    visible: Visible
    kept: Tensor
    blocks: Sequence[Block]
    edit: AverageTokens

    @cached_property
    def means(self) -> list[tuple[Mean, Mean]]:
        """The averaged key and value of each block."""
        # behind the projection, which is linear: positions are averaged too (docs/adr/0011)
        mean_of = self.visible.mean_of
        return [
            (mean_of(self.key, block), mean_of(self.value, block))
            for block in self.blocks
        ]

    def mix_alike(self, query: Tensor, scaling: float) -> Tensor:
        """Every query sees the same: a shorter sequence of keys through the fused kernel."""
        visible = self.visible
        keys = [self.key[:, :, self.kept]]
        values = [self.value[:, :, self.kept]]
        seen_keys = visible.keys_seen(None)[..., self.kept]
        zeros = torch.zeros_like(seen_keys, dtype=query.dtype)
        bias = [zeros.masked_fill(~seen_keys, -torch.inf)]
        for block, (mean_key, mean_value) in zip(self.blocks, self.means, strict=True):
            factor, term = size_terms(
                visible.counts(block, None), self.edit, query.dtype
            )
            keys.append(mean_key(None) * factor)
            values.append(mean_value(None))
            bias.append(term.expand(*seen_keys.shape[:-1], 1))
        key = torch.cat(keys, dim=2)
        value = torch.cat(values, dim=2)
        mask = torch.cat(bias, dim=-1)
        return scaled_dot_product_attention(
            query,
            key,
            value,
            attn_mask=mask,
            scale=scaling,
        )

    def mix_before(self, query: Tensor, scaling: float) -> Tensor:
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
        # finite, for zeros times -inf are NaN; float16 ends at 65,504
        lowest = -1e4 * scaling if query.dtype == torch.float16 else -1e30
        columns = self._logits(query, None, scaling)
        # an average of no key is far below all others
        logits = torch.cat([query[..., :0], *columns], dim=-1)
        logits = logits.clamp_min(lowest) / scaling
        asked = torch.cat([query, logits], dim=-1)

        def queries(rows: Tensor, front: int = 0) -> Tensor:
            missing = width - asked.shape[-1]
            return pad(take(asked, rows), (0, missing, front, 0))

        out = query.new_zeros((*query.shape[:3], dim))
        of_kept = self.visible.of_keys(self.kept)
        aligned = of_kept.aligned
        rest = torch.arange(self.visible.queries, device=query.device)
        if aligned is not None:
            # a query in front for each average, so that the kernel's causal mask is the right one
            mixed = scaled_dot_product_attention(
                queries(aligned, count),
                keys,
                values,
                is_causal=True,
                scale=scaling,
            )
            put(out, aligned, self._with_means(mixed[:, :, count:], aligned))
            rest = rest[~among(rest, aligned, self.visible.queries)]
        for part in of_kept.chunks(rest):
            end = of_kept.end(part)
            mask = of_kept.mask(part, end)
            if mask is not None:
                mask = pad(mask, (count, 0), value=True)
            key = keys[:, :, : count + end]
            value = values[:, :, : count + end]
            mixed = scaled_dot_product_attention(
                queries(part),
                key,
                value,
                attn_mask=mask,
                scale=scaling,
            )
            put(out, part, self._with_means(mixed, part))
        return out

    @staticmethod
    def _after_axes(states: Tensor, count: int, width: int) -> Tensor:
        """Averages with nothing but their axis, then the states with nothing on it."""
        dim = states.shape[-1]
        wide = pad(states, (0, width - dim, count, 0))
        for number in range(count):
            # what comes out on this axis is the mass of the average (docs/adr/0011)
            wide[:, :, number, dim + number] = 1
        return wide

    def _with_means(self, mixed: Tensor, rows: Tensor) -> Tensor:
        """The weight of each average times the mean of its values; nothing for who sees nothing."""
        means = [mean_value for _, mean_value in self.means]
        out = add_means(mixed, self.value.shape[-1], means, rows)
        every = torch.ones(self.visible.keys, dtype=torch.bool, device=out.device)
        seeing = self.visible.counts(every, rows) > 0
        return out if bool(seeing.all()) else out * seeing

    def mix(self, query: Tensor, scaling: float) -> Tensor:
        """Each query has averages of its own: scores of the kept keys, and a column a block."""
        rows = torch.arange(self.visible.queries, device=query.device)
        bias = self.visible.bias_of(rows)
        hidden = ~self.visible.keys_seen(rows)[..., self.kept]
        key = self.key[:, :, self.kept]
        logits = query @ key.transpose(-1, -2) * scaling
        if bias is not None:
            logits = logits + bias[..., self.kept]
        logits = logits.masked_fill(hidden, -torch.inf)
        columns = self._logits(query, rows, scaling)
        logits = torch.cat([logits, *columns], dim=-1)
        # NaN: a query of padding, all of whose logits are -inf
        weights = at_least_float32(logits).softmax(-1).nan_to_num()
        weights = weights.to(query.dtype)
        count = len(self.kept)
        mixed = weights[..., :count] @ self.value[:, :, self.kept]
        for position, (_, mean_value) in enumerate(self.means, start=count):
            mixed = mixed + weights[..., position, None] * mean_value(rows)
        return mixed

    def _logits(
        self,
        query: Tensor,
        rows: Tensor | None,
        scaling: float,
    ) -> list[Float[Tensor, "batch head query 1"]]:
        """Logits of each average, for each of the queries, which are these rows."""
        bias = self.visible.bias_of(rows)
        columns = []
        for block, (mean_key, _) in zip(self.blocks, self.means, strict=True):
            column = (query * mean_key(rows)).sum(-1, keepdim=True) * scaling
            if bias is not None:
                # a mean of logits holds the mean of their biases
                column = column + _mean_bias(bias, self.visible.keys_seen(rows) & block)
            factor, term = size_terms(
                self.visible.counts(block, rows), self.edit, query.dtype
            )
            columns.append(column * factor + term)
        return columns


def _mean_bias(
    bias: Float[Tensor, "#batch #head #row key"], here: SeenByRow
) -> Float[Tensor, "batch head row 1"]:
    """The mean of an additive mask over the visible keys of a block."""
    total = bias.masked_fill(~here, 0).sum(-1, keepdim=True)
    return total / here.sum(-1, keepdim=True).clamp_min(1)
