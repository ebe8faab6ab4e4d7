"""Trials to answers: what is read off the rows of each batch."""

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from cuescope_sdk import Response, Trial
from cuescope_transformers.generative.batching import Row, batches, row_of
from cuescope_transformers.generative.editing import fusion_of, require_editable
from cuescope_transformers.generative.loading import Loaded
from cuescope_transformers.generative.prompts import answer_tokens, gap_after, lettered
from cuescope_transformers.generative.running import generated, predicted
from cuescope_transformers.generative.scoring import Tokens, log_probability, rows_for

if TYPE_CHECKING:
    from cuescope_transformers.generative import VLMOptions


def respond(
    loaded: Loaded, options: "VLMOptions", trials: Sequence[Trial], batch_size: int
) -> list[Response]:
    """Logits and text, as each trial asks; at most `batch_size` rows go through together."""
    for trial in trials:
        require_editable(loaded, trial)
    rows = [row_of(loaded, options, *numbered) for numbered in enumerate(trials)]
    logits = _logits(loaded, options, _asking(rows, "logits"), batch_size)
    texts = _texts(loaded, options, _asking(rows, "text"), batch_size)
    return [Response(logits=logits.get(i), text=texts.get(i)) for i in range(len(trials))]


def _asking(rows: Sequence[Row], output: str) -> list[Row]:
    return [row for row in rows if output in row.trial.outputs]


def _texts(
    loaded: Loaded, options: "VLMOptions", rows: Sequence[Row], batch_size: int
) -> dict[int, str]:
    """The greedy answer of each row, by its index."""
    found = {}
    for part, batch in batches(loaded, rows, options.fps, batch_size):
        fusion = fusion_of(loaded, batch, part[0].trial)
        said = generated(loaded, batch, fusion, options.max_new_tokens)
        words = loaded.tokenizer.batch_decode(said, skip_special_tokens=True)
        found.update({row.index: text.strip() for row, text in zip(part, words, strict=True)})
    return found


def _logits(
    loaded: Loaded, options: "VLMOptions", rows: Sequence[Row], batch_size: int
) -> dict[int, np.ndarray]:
    """Log-probabilities of the choices of each row, by its index."""
    answers = {row.index: answers_of(loaded, options, row) for row in rows}
    found = {index: np.zeros(len(of), dtype=np.float32) for index, of in answers.items()}
    feeding = [
        replace(row, fed=fed, serves=tuple(serves))
        for row in rows
        for fed, serves in rows_for(answers[row.index]).items()
    ]
    for part, batch in batches(loaded, feeding, options.fps, batch_size):
        fusion = fusion_of(loaded, batch, part[0].trial)
        steps = predicted(loaded, batch, fusion, [row.fed for row in part])
        for row, of_row in zip(part, steps, strict=True):
            for choice in row.serves:
                answer = answers[row.index][choice]
                found[row.index][choice] = log_probability(answer, of_row)
    return found


def answers_of(loaded: Loaded, options: "VLMOptions", row: Row) -> list[Tokens]:
    """The tokens that stand for each choice: its words, or its letter."""
    choices: Sequence[str] = row.trial.sample.choices
    if options.scoring == "letters":
        choices = [letter for letter, _ in lettered(choices)]
    tokenizer, config = loaded.tokenizer, loaded.model.generation_config
    if loaded.model.config.is_encoder_decoder:  # an answer of its own, after how each one starts
        first = config.forced_bos_token_id
        start = () if first is None else (first,)
        return [(*start, *answer_tokens(tokenizer, "", "", choice)) for choice in choices]
    chat = bool(getattr(loaded.processor, "chat_template", None))
    gap = gap_after(row.prompt, loaded.kind, chat, tokenizer.all_special_tokens)
    return [answer_tokens(tokenizer, row.prompt, gap, choice) for choice in choices]
