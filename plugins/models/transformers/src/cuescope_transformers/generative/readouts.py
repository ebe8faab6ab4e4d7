"""What is read off the rows of each batch: answers, what tokens are, how they attend."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import torch
from jaxtyping import Bool, Float, Int8
from torch import Tensor

from cuescope_sdk import Response, Trial, UserError
from cuescope_sdk.fusion import OTHER, TEXT, AverageTokens
from cuescope_transformers.generative.batches import (
    Row,
    batches,
    fusion_of,
    require_editable,
    require_visual_tokens,
    rows_of,
)
from cuescope_transformers.generative.embedding import embeddings
from cuescope_transformers.generative.generation import generate_tokens, predict_logits
from cuescope_transformers.generative.inputs import Batch, cross_layers
from cuescope_transformers.generative.loading import GenerativeModel, blocks
from cuescope_transformers.generative.prompts import (
    Tokens,
    answer_tokens,
    gap_before_answer,
    with_letters,
)


def respond(model: GenerativeModel, trials: Sequence[Trial]) -> list[Response]:
    """Logits, text and embedding, as each trial asks."""
    for trial in trials:
        require_editable(model, trial)
    rows = rows_of(model, trials)
    # where some are edited, both sides of a contrast take the same way
    reuse = model.options.reuse_prefix and not any(trial.edit for trial in trials)
    logits = _logits(model, [row for row in rows if "logits" in row.trial.outputs], reuse)
    texts = _texts(model, [row for row in rows if "text" in row.trial.outputs], reuse)
    embedded = embeddings(model, [row for row in rows if "embedding" in row.trial.outputs])
    return [
        Response(logits=logits.get(i), text=texts.get(i), embedding=embedded.get(i))
        for i in range(len(trials))
    ]


def _texts(model: GenerativeModel, rows: Sequence[Row], reuse: bool) -> dict[int, str]:
    """The greedy answer of each row, by its index."""
    texts = {}
    for part, batch in batches(model, rows, reuse=reuse):
        fusion = fusion_of(model, batch, part[0].trial)
        tokens = generate_tokens(model, batch, fusion, model.options.max_new_tokens)
        words = model.tokenizer.batch_decode(tokens, skip_special_tokens=True)
        texts.update({row.index: text.strip() for row, text in zip(part, words, strict=True)})
    return texts


def _logits(model: GenerativeModel, rows: Sequence[Row], reuse: bool) -> dict[int, np.ndarray]:
    """Log-probabilities of the choices of each row, by its index."""
    answers = {row.index: answers_of(model, row) for row in rows}
    # every choice is filled in below, by one row or another
    logits = {index: np.zeros(len(of_row), dtype=np.float32) for index, of_row in answers.items()}
    feeding = [
        replace(row, fed=fed, choices=tuple(choices))
        for row in rows
        for fed, choices in rows_to_feed(answers[row.index]).items()
    ]
    for part, batch in batches(model, feeding, reuse=reuse):
        fusion = fusion_of(model, batch, part[0].trial)
        steps = predict_logits(model, batch, fusion, [row.fed for row in part])
        for row, of_row in zip(part, steps, strict=True):
            for choice in row.choices:
                answer = answers[row.index][choice]
                logits[row.index][choice] = log_probability(answer, of_row)
    return logits


def answers_of(model: GenerativeModel, row: Row) -> list[Tokens]:
    """The tokens that stand for each choice: its words, or its letter."""
    choices: Sequence[str] = row.trial.sample.choices
    if model.options.scoring == "letters":
        choices = [letter for letter, _ in with_letters(choices)]
    tokenizer, config = model.tokenizer, model.network.generation_config
    # a decoder's answer is a sequence of its own, after the token that opens each (BART, Florence)
    if model.network.config.is_encoder_decoder:
        first = config.forced_bos_token_id
        start = () if first is None else (first,)
        return [(*start, *answer_tokens(tokenizer, "", "", choice)) for choice in choices]
    chat = bool(getattr(model.processor, "chat_template", None))
    gap = gap_before_answer(row.prompt, model.kind, chat, tokenizer.all_special_tokens)
    return [answer_tokens(tokenizer, row.prompt, gap, choice) for choice in choices]


def rows_to_feed(answers: Sequence[Tokens]) -> dict[Tokens, list[int]]:
    """What must be fed after the prompt, with the indices of the answers that it serves.

    The last token of an answer is only predicted, never fed, and a row also serves what it begins
    with: answers of one token share the row () or any other.
    """
    # longest first, so that a shorter answer finds the row that begins with it
    rows: dict[Tokens, list[int]] = {}
    for index in sorted(range(len(answers)), key=lambda index: -len(answers[index])):
        fed = answers[index][:-1]
        row = next((row for row in rows if row[: len(fed)] == fed), fed)
        rows.setdefault(row, []).append(index)
    return rows


def log_probability(answer: Tokens, predicted: Float[Tensor, "step vocabulary"]) -> float:
    """Sum over the answer's tokens of their log-probability; `predicted` are raw logits."""
    # in float32: sums of half-precision logarithms would order close answers by chance
    steps = predicted[: len(answer)].float().log_softmax(-1)
    return float(steps[torch.arange(len(answer)), torch.tensor(answer)].sum())


# ---------------------------------------------------------------------------- of the fusion layers


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
