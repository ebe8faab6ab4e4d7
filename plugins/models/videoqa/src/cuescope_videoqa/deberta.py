"""DeBERTa-v2 with adapters and a video before the text (FrozenBiLM), on the library's own modules.

Modules have the names of the authors' checkpoints. The attention of every layer is a fusion layer:
the disentangled position bias goes into it as an additive mask. Where the word embeddings hold no
positions (position_biased_input is false), the last layer is run twice over the states before it,
with the positions as queries: the enhanced mask decoder of DeBERTa (He et al., 2021, section 3.2).
"""

from typing import Any

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn
from transformers.models.deberta_v2 import modeling_deberta_v2

from cuescope_sdk.torch import additive, fused_attention, split_heads

States = Float[Tensor, "batch token dim"]
Mask = Bool[Tensor, "batch token"]


class Adapter(nn.Module):
    """A bottleneck beside the identity (Houlsby et al., 2019)."""

    def __init__(self, dim: int, inner: int) -> None:
        super().__init__()
        self.down = nn.Linear(dim, inner)
        self.up = nn.Linear(inner, dim)

    def forward(
        self, states: Float[Tensor, "*batch dim"]
    ) -> Float[Tensor, "*batch dim"]:
        """The states, and what passes the bottleneck."""
        inner = torch.relu(self.down(states))
        return states + self.up(inner)  # type: ignore[no-any-return]


class VideoDeberta(nn.Module):
    """`deberta`, `lm_predictions`: from tokens and video features to states ready for scoring."""

    def __init__(self, config: Any, features: int, inner: tuple[int, int]) -> None:
        """`inner` are the widths of the adapters after attention and feed-forward, 0 for none."""
        super().__init__()
        library: Any = modeling_deberta_v2
        self.config = config
        self.deberta: Any = library.DebertaV2Model(config)
        self.lm_predictions: Any = library.DebertaV2OnlyMLMHead(config)
        embeddings = self.deberta.embeddings
        dim = config.hidden_size
        embeddings.linear_video = nn.Linear(features, dim)
        if embeddings.position_embeddings is None:  # the mask decoder reads them
            embeddings.position_embeddings = nn.Embedding(
                config.max_position_embeddings, dim
            )
        after_attention, after_mlp = inner
        for layer in self.deberta.encoder.layer:
            layer.attention.output.adapter = _adapter(dim, after_attention)
            layer.output.adapter = _adapter(dim, after_mlp)

    def forward(
        self,
        ids: Int[Tensor, "batch text"],
        video: Float[Tensor, "batch feature size"],
        mask: Mask,
    ) -> States:
        """States of the tokens, video first, as the prediction head compares them with words."""
        encoder = self.deberta.encoder
        states = embedded = self._embed(ids, video, mask)
        bias = PositionBias(encoder, mask)
        # Where words enter without positions, the mask decoder adds them before the prediction.
        decodes = not self.config.position_biased_input
        layers = list(encoder.layer)
        last = layers.pop() if decodes else None
        for number, layer in enumerate(layers):
            states = self._layer(layer, number, states, states, bias)
            # DeBERTa-v2 adds its convolution to the first layer alone
            if number == 0 and encoder.conv is not None:
                states = encoder.conv(embedded, states, mask.long())
        if last is not None:
            position = torch.arange(mask.shape[1], device=mask.device)
            queries = states + self.deberta.embeddings.position_embeddings(position)
            for _ in range(2):
                queries = self._layer(last, len(layers), queries, states, bias)
            states = queries
        head = self.lm_predictions.lm_head
        states = head.transform_act_fn(head.dense(states))
        return head.LayerNorm(states)  # type: ignore[no-any-return]

    def _embed(self, ids: Tensor, video: Tensor, mask: Tensor) -> States:
        embeddings = self.deberta.embeddings
        words = embeddings.word_embeddings(ids)
        states = torch.cat([embeddings.linear_video(video), words], dim=1)
        if self.config.position_biased_input:
            position = torch.arange(states.shape[1], device=states.device)
            states = states + embeddings.position_embeddings(position)
        if embeddings.token_type_embeddings is not None:
            # video and words are one segment
            states = states + embeddings.token_type_embeddings.weight[0]
        return embeddings.LayerNorm(states) * mask[..., None]  # type: ignore[no-any-return]

    def _layer(
        self,
        layer: Any,
        number: int,
        queries: Tensor,
        states: Tensor,
        bias: "PositionBias",
    ) -> States:
        attention = layer.attention
        mixed = _attention(attention.self, number, queries, states, bias)
        states = _output(attention.output, mixed, queries)
        return _output(layer.output, layer.intermediate(states), states)


def _adapter(dim: int, inner: int) -> nn.Module:
    return Adapter(dim, inner) if inner else nn.Identity()


class PositionBias:
    """The disentangled position bias: relative positions and padding, shared by all layers."""

    def __init__(self, encoder: Any, mask: Mask) -> None:
        self.mask = mask
        self.embeddings = encoder.get_rel_embedding()
        self.relative_positions = encoder.get_rel_pos(mask[..., None])

    def of(
        self,
        module: Any,
        query: Tensor,
        key: Tensor,
        parts: int,
    ) -> Float[Tensor, "batch _ _ key"]:
        """Additive: the disentangled scores, and -inf for a key that is padding."""
        # -inf: padding must have no weight at all, also in the averages of an edit.
        padding = additive(self.mask, query.dtype)
        if self.embeddings is None:
            return padding
        query_rows = query.flatten(0, 1)
        key_rows = key.flatten(0, 1)
        scores = module.disentangled_attention_bias(
            query_rows, key_rows, self.relative_positions, self.embeddings, parts
        )
        scores = scores.reshape(*query.shape[:3], -1)
        return scores + padding  # type: ignore[no-any-return]


def _attention(
    module: Any,
    number: int,
    queries: Tensor,
    states: Tensor,
    bias: PositionBias,
) -> States:
    heads = module.num_attention_heads
    query = split_heads(module.query_proj(queries), heads)
    key = split_heads(module.key_proj(states), heads)
    value = split_heads(module.value_proj(states), heads)
    # DeBERTa scales by the number of score terms that are added up: content, and each position.
    parts = 1 + ("c2p" in module.pos_att_type) + ("p2c" in module.pos_att_type)
    scaling = (query.shape[-1] * parts) ** -0.5
    mask = bias.of(module, query, key, parts)
    mixed = fused_attention(query, key, value, layer=number, mask=mask, scaling=scaling)
    return mixed.transpose(1, 2).flatten(2)


def _output(module: Any, states: Tensor, residual: Tensor) -> States:
    """Dense, adapter, residual, norm: both outputs of a layer are built so."""
    changed = module.adapter(module.dense(states))
    return module.LayerNorm(changed + residual)  # type: ignore[no-any-return]
