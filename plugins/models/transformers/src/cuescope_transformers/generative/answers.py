"""Trials to answers: what is read off the rows of each batch."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from cuescope_sdk import Response, Trial
from cuescope_transformers.generative.batches import (
    Row,
    batches,
    fusion_of,
    require_editable,
    rows_of,
)
from cuescope_transformers.generative.generation import generate_tokens, predict_logits
from cuescope_transformers.generative.loading import GenerativeModel
from cuescope_transformers.generative.prompts import (
    Tokens,
    answer_tokens,
    gap_before_answer,
    with_letters,
)


def respond(model: GenerativeModel, trials: Sequence[Trial]) -> list[Response]:
    """Logits and text, as each trial asks."""
    for trial in trials:
        require_editable(model, trial)
    rows = rows_of(model, trials)
    logits = _logits(model, [row for row in rows if "logits" in row.trial.outputs])
    texts = _texts(model, [row for row in rows if "text" in row.trial.outputs])
    return [Response(logits=logits.get(i), text=texts.get(i)) for i in range(len(trials))]


def _texts(model: GenerativeModel, rows: Sequence[Row]) -> dict[int, str]:
    """The greedy answer of each row, by its index."""
    texts = {}
    for part, batch in batches(model, rows):
        fusion = fusion_of(model, batch, part[0].trial)
        tokens = generate_tokens(model, batch, fusion, model.options.max_new_tokens)
        words = model.tokenizer.batch_decode(tokens, skip_special_tokens=True)
        texts.update({row.index: text.strip() for row, text in zip(part, words, strict=True)})
    return texts


def _logits(model: GenerativeModel, rows: Sequence[Row]) -> dict[int, np.ndarray]:
    """Log-probabilities of the choices of each row, by its index."""
    answers = {row.index: answers_of(model, row) for row in rows}
    # every choice is filled in below, by one row or another
    logits = {index: np.zeros(len(of_row), dtype=np.float32) for index, of_row in answers.items()}
    feeding = [
        replace(row, fed=fed, choices=tuple(choices))
        for row in rows
        for fed, choices in rows_to_feed(answers[row.index]).items()
    ]
    for part, batch in batches(model, feeding):
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
