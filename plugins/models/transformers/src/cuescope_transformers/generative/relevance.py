"""What attention does for an answer, and how probable each of its words is."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import torch
from jaxtyping import Float, Float32
from torch import Tensor

from cuescope_sdk import Trial, UserError
from cuescope_sdk.torch import quiet, to_array
from cuescope_transformers.generative.batches import Row, batches, fusion_of, rows_of
from cuescope_transformers.generative.generation import follow, reach
from cuescope_transformers.generative.inputs import Batch
from cuescope_transformers.generative.loading import GenerativeModel
from cuescope_transformers.generative.readouts import answers_of, respond

CACHES = ("past_key_values", "cache_position", "use_cache", "logits_to_keep")


def word_log_probabilities(
    model: GenerativeModel, trials: Sequence[Trial], words: Sequence[str]
) -> list[Float32[np.ndarray, " word"]]:
    """Log-probability of each word after those before it: of one more word, less of one fewer."""
    begun = tuple(" ".join(words[: count + 1]) for count in range(len(words)))
    asked = []
    for trial in trials:
        sample = trial.sample.with_choices(begun, "words")
        asked.append(
            replace(trial, sample=sample, readout=None, outputs=frozenset({"logits"}))
        )
    logs = []
    for response in respond(model, asked):
        sums = np.asarray(response.logits, np.float64)
        # tokens that a next word changes may make more of it than there is
        steps = np.minimum(np.diff(sums, prepend=0.0), 0.0)
        logs.append(steps.astype(np.float32))
    return logs


def attention_gradients(
    model: GenerativeModel, trials: Sequence[Trial], answer: str
) -> list[Float[np.ndarray, "layer query key"]]:
    """Of each trial by itself; see the sdk's `HasAttentionGradients`."""
    found = []
    for trial in trials:
        sample = trial.sample.with_choices((answer,), "answer")
        [row] = rows_of(model, [replace(trial, sample=sample)])
        [(_, batch)] = batches(model, [row])
        found.append(_of_row(model, row, batch))
    return found


def _of_row(
    model: GenerativeModel, row: Row, batch: Batch
) -> Float[np.ndarray, "layer query key"]:
    if batch.cross is not None or model.network.config.is_encoder_decoder:
        raise UserError(
            f"{model.title} attends to another sequence",
            expected="a model whose answer follows the picture in one sequence",
        )
    [[first, *_]] = answers_of(model, row)
    inputs = reach(model, batch, model.network)
    # tensors of inference mode can never have a gradient
    given = {
        name: value.clone() if isinstance(value, Tensor) else value
        for name, value in inputs.items()
        if name not in CACHES
    }
    weights: list[Tensor] = []

    def watch(layer: int, passed: Tensor) -> None:
        # of frozen weights nothing before it has a gradient
        weights.append(passed if passed.requires_grad else passed.requires_grad_())

    fusion = fusion_of(model, batch, row.trial, watch)
    with (
        torch.inference_mode(False),
        torch.enable_grad(),
        quiet(),
        batch.around(),
        follow(model.network, fusion),
    ):
        output = model.network(**given, use_cache=False)
        score = output.logits[0, -1].float().log_softmax(-1)[first]
        gradients = torch.autograd.grad(score, weights)
    layers = [
        (of_layer * gradient).relu()[0].mean(dim=0)
        for of_layer, gradient in zip(weights, gradients, strict=True)
    ]
    return to_array(torch.stack(layers).detach())
