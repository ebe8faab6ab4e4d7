"""Readouts of the fusion layers: what their tokens are, and how they attend to one another."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Bool, Float, Int8
from torch import Tensor

from cuescope_sdk import Trial, UserError
from cuescope_sdk.fusion import OTHER, TEXT, AverageTokens
from cuescope_transformers.generative.batches import (
    batches,
    fusion_of,
    require_editable,
    require_visual_tokens,
    rows_of,
)
from cuescope_transformers.generative.generation import generate_tokens
from cuescope_transformers.generative.inputs import Batch, cross_layers
from cuescope_transformers.generative.loading import GenerativeModel, blocks


@dataclass(frozen=True)
class Axis:
    """What the queries, or the keys, of a layer are; `real` is False where there is padding."""

    modality: Int8[Tensor, "row token"]
    real: Bool[Tensor, "row token"]


def modalities(
    model: GenerativeModel, trials: Sequence[Trial], layer: int
) -> list[Int8[np.ndarray, " query_then_key"]]:
    """Of the prompt's tokens as queries of a layer, then of its keys; padding is left out."""
    require_layer(model, layer)
    by_trial = {}
    for part, batch in batches(model, rows_of(model, trials)):
        require_visual_tokens(model, batch, part[0].trial)
        axes = query_and_key(model, batch, layer)
        for at, row in enumerate(part):
            of_row = [axis.modality[at][axis.real[at]] for axis in axes]
            by_trial[row.index] = torch.cat(of_row).cpu().numpy()
    return [by_trial[index] for index in range(len(trials))]


def attention(
    model: GenerativeModel, trials: Sequence[Trial], layer: int
) -> list[Float[np.ndarray, "head query key"]]:
    """Weights of a layer over the prompt, after the trial's edit; padding is left out.

    Raises UserError under `AverageTokens`, where there is no weight of each token.
    """
    require_layer(model, layer)
    for trial in trials:
        require_editable(model, trial)
        if isinstance(trial.edit, AverageTokens):
            raise UserError(
                f"{model.files.title} has no attention weights under average-tokens",
                expected="no edit, or average-attention",
            )
    by_trial = {}
    for part, batch in batches(model, rows_of(model, trials)):
        weights = _watch_attention(model, batch, part[0].trial, layer)
        queries, keys = query_and_key(model, batch, layer)
        for at, row in enumerate(part):
            of_row = weights[at][:, queries.real[at]][:, :, keys.real[at]]
            by_trial[row.index] = of_row.float().cpu().numpy()
    return [by_trial[index] for index in range(len(trials))]


def _watch_attention(
    model: GenerativeModel, batch: Batch, trial: Trial, layer: int
) -> Float[Tensor, "row head query key"]:
    """What one layer's attention is while the prompt is read."""
    passes: list[Tensor] = []
    fusion = fusion_of(
        model, batch, trial, lambda at, weights: passes.append(weights) if at == layer else None
    )
    generate_tokens(model, batch, fusion, most=1)
    if not passes:
        raise UserError(
            f"{model.files.title}: layer {layer} looks at frames alone",
            expected="a sample with frames",
            got=f"none in '{trial.sample.key}'",
        )
    # a decoder's layer attends twice: to its own tokens, and then to the encoder's
    return passes[-1]


def require_layer(model: GenerativeModel, layer: int) -> None:
    """Raises UserError for a layer that is not there."""
    layers = model.fusion.layers
    if not 0 <= layer < layers:
        raise UserError(
            f"{model.files.title} has no fusion layer {layer}", expected=f"layers 0 to {layers - 1}"
        )


def query_and_key(model: GenerativeModel, batch: Batch, layer: int) -> tuple[Axis, Axis]:
    """The queries and the keys of a layer.

    The keys of a decoder's layer are the encoder's tokens, to which its first token attends.
    """
    # layers are numbered as the library runs them: an encoder's first, then its decoder's
    mask = batch.inputs["attention_mask"].bool()
    prompt = Axis(batch.modality, mask)
    if layer in cross_layers(model.network.config) and batch.cross is not None:
        return prompt, Axis(batch.cross, batch.cross != OTHER)
    if model.network.config.is_encoder_decoder and layer >= len(
        blocks(model.network.get_encoder())
    ):
        first = Axis(torch.full_like(batch.modality[:, :1], TEXT), torch.ones_like(mask[:, :1]))
        return first, prompt
    return prompt, prompt
