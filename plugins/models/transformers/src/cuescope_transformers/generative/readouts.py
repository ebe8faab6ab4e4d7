"""What is read off the rows of each batch: answers, what tokens are, how they attend."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import torch
from jaxtyping import Bool, Float, Int8
from torch import Tensor

from cuescope_sdk import Output, Response, Trial, UserError
from cuescope_sdk.fusion import OTHER, TEXT, AverageTokens
from cuescope_sdk.torch import quiet, to_array
from cuescope_transformers.generative.batches import (
    Row,
    Rows,
    batches,
    fusion_of,
    require_editable,
    require_visual_tokens,
    rows_of,
)
from cuescope_transformers.generative.embedding import embeddings
from cuescope_transformers.generative.generation import generate_tokens, predict_logits
from cuescope_transformers.generative.inputs import Batch, Modality
from cuescope_transformers.generative.loading import GenerativeModel
from cuescope_transformers.generative.modules import blocks
from cuescope_transformers.generative.prompts import (
    Tokens,
    answer_tokens,
    gap_before_answer,
    require_tokens,
    with_letters,
)


def respond(model: GenerativeModel, trials: Sequence[Trial]) -> list[Response]:
    """Logits, text and embedding, as each trial asks.

    The engine divides a batch for which memory does not suffice. A single trial may still have many
    rows, one for each answer of several words: then these are halved.
    """
    for trial in trials:
        require_editable(model, trial)
    while True:
        try:
            # once, around the many calls that are quiet each for itself
            with quiet():
                return _respond(model, trials)
        except torch.OutOfMemoryError:
            if len(trials) > 1 or model.rows == 1:
                raise
            model.halve_rows()


def _respond(model: GenerativeModel, trials: Sequence[Trial]) -> list[Response]:
    rows = rows_of(model, trials)
    # where some are edited, both sides of a contrast take the same way
    reuse = model.options.reuse_prefix and not any(trial.edit for trial in trials)
    logits = _logits(model, _rows_with("logits", rows), reuse)
    texts = _texts(model, _rows_with("text", rows), reuse)
    # never behind a prefix, where the frames are in the cache and pass no layer
    vectors = embeddings(model, _rows_with("embedding", rows))
    return [
        Response(
            logits=logits.get(index),
            text=texts.get(index),
            embedding=vectors.get(index),
        )
        for index in range(len(trials))
    ]


def _rows_with(output: Output, rows: Rows) -> Rows:
    """The rows whose trials want an output."""
    return [row for row in rows if output in row.trial.outputs]


def _texts(model: GenerativeModel, rows: Rows, reuse: bool) -> dict[int, str]:
    """The greedy answer of each row, by its index."""
    texts = {}
    for part, batch in batches(model, rows, reuse=reuse):
        fusion = fusion_of(model, batch, part[0].trial)
        tokens = generate_tokens(model, batch, fusion, model.options.max_new_tokens)
        words = model.tokenizer.batch_decode(tokens, skip_special_tokens=True)
        for row, text in zip(part, words, strict=True):
            texts[row.index] = text.strip()
    return texts


def _logits(
    model: GenerativeModel,
    rows: Rows,
    reuse: bool,
) -> dict[int, np.ndarray]:
    """Log-probabilities of the choices of each row, by its index."""
    answers = {row.index: answers_of(model, row) for row in rows}
    logits: dict[int, np.ndarray] = {}
    feeding = []
    for row in rows:
        tokens = answers[row.index]
        # every choice is filled in below, by one row or another
        logits[row.index] = np.zeros(len(tokens), dtype=np.float32)
        for fed, choices in rows_to_feed(tokens).items():
            feeding.append(replace(row, fed=fed, choices=tuple(choices)))
    for part, batch in batches(model, feeding, reuse=reuse):
        fusion = fusion_of(model, batch, part[0].trial)
        continuations = [row.fed for row in part]
        steps = predict_logits(model, batch, fusion, continuations)
        for row, predicted in zip(part, steps, strict=True):
            for choice in row.choices:
                answer = answers[row.index][choice]
                logits[row.index][choice] = log_probability(answer, predicted)
    return logits


def answers_of(model: GenerativeModel, row: Row) -> list[Tokens]:
    """The tokens that stand for each choice: its words, or its letter."""
    choices: Sequence[str] = row.trial.sample.choices
    if model.options.scoring == "letters":
        choices = [letter for letter, _ in with_letters(choices)]
    tokenizer = model.tokenizer
    # a decoder's answer is a sequence of its own, after the token that opens each (BART, Florence)
    if model.network.config.is_encoder_decoder:
        first = model.network.generation_config.forced_bos_token_id
        start = () if first is None else (first,)
        return [
            (*start, *answer_tokens(tokenizer, "", "", choice)) for choice in choices
        ]
    chat = bool(getattr(model.processor, "chat_template", None))
    gap = gap_before_answer(row.prompt, model.kind, chat, tokenizer.all_special_tokens)
    answers = [answer_tokens(tokenizer, row.prompt, gap, choice) for choice in choices]
    for choice, answer in zip(choices, answers, strict=True):
        require_tokens(model.title, row.trial.sample, choice, answer)
    return answers


def rows_to_feed(answers: Sequence[Tokens]) -> dict[Tokens, list[int]]:
    """What must be fed after the prompt, with the indices of the answers that it serves.

    The last token of an answer is only predicted, never fed, and a row also serves what it begins
    with: answers of one token share the row () or any other.
    """
    rows: dict[Tokens, list[int]] = {}
    # longest first, so that a shorter answer finds the row that begins with it
    order = sorted(range(len(answers)), key=lambda index: -len(answers[index]))
    for index in order:
        fed = answers[index][:-1]
        serving = [row for row in rows if row[: len(fed)] == fed]
        row = serving[0] if serving else fed
        rows.setdefault(row, []).append(index)
    return rows


def log_probability(
    answer: Tokens, predicted: Float[Tensor, "step vocabulary"]
) -> float:
    """Sum over the answer's tokens of their log-probability; `predicted` are raw logits."""
    # in float32: sums of half-precision logarithms would order close answers by chance
    logits = predicted[: len(answer)].float()
    logs = logits.log_softmax(-1)
    step = torch.arange(len(answer))
    of_answer = logs[step, torch.tensor(answer)]
    return float(of_answer.sum())


# ---------------------------------------------------------------------------- of the fusion layers


@dataclass(frozen=True)
class Axis:
    """What the queries, or the keys, of a layer are; `real` is False where there is padding."""

    modality: Modality
    real: Bool[Tensor, "row token"]


def modalities(
    model: GenerativeModel,
    trials: Sequence[Trial],
    layer: int,
) -> list[Int8[np.ndarray, " query_then_key"]]:
    """Of the prompt's tokens as queries of a layer, then of its keys; padding is left out."""
    model.fusion.require_layers(model.title, [layer])
    by_trial = {}
    for part, batch in batches(model, rows_of(model, trials)):
        require_visual_tokens(model, batch, part[0].trial)
        axes = query_and_key(model, batch, layer)
        for at, row in enumerate(part):
            tokens = [axis.modality[at][axis.real[at]] for axis in axes]
            by_trial[row.index] = to_array(torch.cat(tokens))
    # batches group the rows by edit: back to the order of the trials
    return [by_trial[index] for index in sorted(by_trial)]


def attention(
    model: GenerativeModel,
    trials: Sequence[Trial],
    layer: int,
) -> list[Float[np.ndarray, "head query key"]]:
    """Weights of a layer over the prompt, after the trial's edit; padding is left out.

    Raises UserError under `AverageTokens`, where there is no weight of each token.
    """
    model.fusion.require_layers(model.title, [layer])
    for trial in trials:
        require_editable(model, trial)
        if isinstance(trial.edit, AverageTokens):
            raise UserError(
                f"{model.title} has no attention weights under average-tokens",
                expected="no edit, or average-attention",
            )
    by_trial = {}
    for part, batch in batches(model, rows_of(model, trials)):
        weights = _watch_attention(model, batch, part[0].trial, layer)
        queries, keys = query_and_key(model, batch, layer)
        for at, row in enumerate(part):
            of_queries = weights[at][:, queries.real[at]]
            by_trial[row.index] = to_array(of_queries[:, :, keys.real[at]])
    # batches group the rows by edit: back to the order of the trials
    return [by_trial[index] for index in sorted(by_trial)]


def _watch_attention(
    model: GenerativeModel,
    batch: Batch,
    trial: Trial,
    layer: int,
) -> Float[Tensor, "row head query key"]:
    """What one layer's attention is while the prompt is read."""
    passes: list[Tensor] = []

    def watch(number: int, weights: Tensor) -> None:
        if number == layer:
            passes.append(weights)

    generate_tokens(model, batch, fusion_of(model, batch, trial, watch), most=1)
    if not passes:
        raise UserError(
            f"{model.title}: layer {layer} looks at frames alone",
            expected="a sample with frames",
            got=f"none in '{trial.sample.key}'",
        )
    # a decoder's layer attends twice: to its own tokens, and then to the encoder's
    return passes[-1]


def query_and_key(
    model: GenerativeModel,
    batch: Batch,
    layer: int,
) -> tuple[Axis, Axis]:
    """The queries and the keys of a layer.

    The keys of a decoder's layer are the encoder's tokens, to which its first token attends.
    """
    # layers are numbered as the library runs them: an encoder's first, then its decoder's
    network = model.network
    mask = batch.inputs["attention_mask"].bool()
    prompt = Axis(batch.modality, mask)
    # Mllama's, whose keys are the visual tokens, beside a sequence of text alone
    config = network.config.get_text_config()
    crossing = getattr(config, "cross_attention_layers", None) or ()
    if layer in crossing and batch.cross is not None:
        return prompt, Axis(batch.cross, batch.cross != OTHER)
    if not network.config.is_encoder_decoder:
        return prompt, prompt
    if layer < len(blocks(network.get_encoder())):
        return prompt, prompt
    first = torch.full_like(batch.modality[:, :1], TEXT)
    real = torch.ones_like(mask[:, :1])
    return Axis(first, real), prompt
