"""Readings of the fusion layers: what their tokens are, and how they attend to one another."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import torch
from jaxtyping import Bool, Float, Int8
from torch import Tensor

from cuescope_sdk import Trial, UserError
from cuescope_sdk.fusion import OTHER, TEXT, AverageTokens
from cuescope_transformers.generative.batching import batches, row_of
from cuescope_transformers.generative.editing import (
    fusion_of,
    require_editable,
    require_told,
    shape_of,
)
from cuescope_transformers.generative.loading import Loaded
from cuescope_transformers.generative.running import generated
from cuescope_transformers.generative.shape import blocks
from cuescope_transformers.generative.showing import Batch
from cuescope_transformers.generative.tokens import cross_layers

if TYPE_CHECKING:
    from cuescope_transformers.generative import VLMOptions


@dataclass(frozen=True)
class Side:
    """What the queries, or the keys, of a layer are; `kept` is False where there is padding."""

    modality: Int8[Tensor, "row token"]
    kept: Bool[Tensor, "row token"]


def modalities(
    loaded: Loaded, options: "VLMOptions", trials: Sequence[Trial], layer: int, batch_size: int
) -> list[Int8[np.ndarray, " query_then_key"]]:
    """Of the prompt's tokens as queries of a layer, then of its keys; padding is left out."""
    require_layer(loaded, layer)
    rows = [row_of(loaded, options, *numbered) for numbered in enumerate(trials)]
    found = {}
    for part, batch in batches(loaded, rows, options.fps, batch_size):
        require_told(loaded, batch, part[0].trial)
        both = sides(loaded, batch, layer)
        for place, row in enumerate(part):
            of_row = [side.modality[place][side.kept[place]] for side in both]
            found[row.index] = torch.cat(of_row).cpu().numpy()
    return [found[index] for index in range(len(trials))]


def attention(
    loaded: Loaded, options: "VLMOptions", trials: Sequence[Trial], layer: int, batch_size: int
) -> list[Float[np.ndarray, "head query key"]]:
    """Weights of a layer over the prompt, after the trial's edit; padding is left out.

    Raises UserError under `AverageTokens`, where there is no weight of each token.
    """
    require_layer(loaded, layer)
    for trial in trials:
        require_editable(loaded, trial)
        if isinstance(trial.edit, AverageTokens):
            raise UserError(
                f"{loaded.title} has no attention weights under average-tokens",
                expected="no edit, or average-attention",
            )
    rows = [row_of(loaded, options, *numbered) for numbered in enumerate(trials)]
    found = {}
    for part, batch in batches(loaded, rows, options.fps, batch_size):
        weights = _watched(loaded, batch, part[0].trial, layer)
        queries, keys = sides(loaded, batch, layer)
        for place, row in enumerate(part):
            of_row = weights[place][:, queries.kept[place]][:, :, keys.kept[place]]
            found[row.index] = of_row.float().cpu().numpy()
    return [found[index] for index in range(len(trials))]


def _watched(
    loaded: Loaded, batch: Batch, trial: Trial, layer: int
) -> Float[Tensor, "row head query key"]:
    """What one layer's attention is while the prompt is read."""
    seen: list[Tensor] = []
    fusion = fusion_of(
        loaded, batch, trial, lambda at, weights: seen.append(weights) if at == layer else None
    )
    generated(loaded, batch, fusion, most=1)
    if not seen:
        raise UserError(
            f"{loaded.title}: layer {layer} looks at frames alone",
            expected="a sample with frames",
            got=f"none in '{trial.sample.key}'",
        )
    return seen[-1]  # of a decoder's two attentions the later one, to the encoder


def require_layer(loaded: Loaded, layer: int) -> None:
    """Raises UserError for a layer that is not there."""
    layers = shape_of(loaded).layers
    if not 0 <= layer < layers:
        raise UserError(
            f"{loaded.title} has no fusion layer {layer}", expected=f"layers 0 to {layers - 1}"
        )


def sides(loaded: Loaded, batch: Batch, layer: int) -> tuple[Side, Side]:
    """The queries and the keys of a layer.

    The keys of a decoder's layer are the encoder's tokens, to which its first token attends.
    """
    mask = batch.inputs["attention_mask"].bool()
    prompt = Side(batch.modality, mask)
    if layer in cross_layers(loaded.model.config) and batch.cross is not None:
        return prompt, Side(batch.cross, batch.cross != OTHER)
    if loaded.model.config.is_encoder_decoder and layer >= len(blocks(loaded.model.get_encoder())):
        first = Side(torch.full_like(batch.modality[:, :1], TEXT), torch.ones_like(mask[:, :1]))
        return first, prompt
    return prompt, prompt
