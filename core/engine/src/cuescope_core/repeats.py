"""Answers that are drawn by chance: each trial is asked several times."""

from collections import Counter
from collections.abc import Sequence

import numpy as np

from cuescope_core.types import Response


def combine(responses: Sequence[Response]) -> Response:
    """One response for several answers to a trial.

    Logits are those of the mean probability, other numbers are averaged, and of texts the most
    frequent one stands, the first of equals.
    """
    texts = Counter(response.text for response in responses)
    del texts[None]  # of a model that gives logits alone
    return Response(
        logits=_log_mean_probability([response.logits for response in responses]),
        text=texts.most_common(1)[0][0] if texts else None,
        embedding=_mean([response.embedding for response in responses]),
        readout=_mean([response.readout for response in responses]),
    )


def agreeing(responses: Sequence[Response], combined: Response) -> int:
    """How many of the responses choose what the combined one chooses."""
    if combined.prediction is not None:
        return sum(response.prediction == combined.prediction for response in responses)
    return sum(response.text == combined.text for response in responses)


def _log_mean_probability(arrays: Sequence[np.ndarray | None]) -> np.ndarray | None:
    present = _present(arrays)
    if not present:
        return None
    logits = np.stack(present).astype(np.float64)
    shifted = logits - logits.max(axis=1, keepdims=True)  # exp would overflow
    probabilities = np.exp(shifted)
    probabilities /= probabilities.sum(axis=1, keepdims=True)
    smallest = np.finfo(np.float32).tiny  # a choice that is never given stays finite
    mean: np.ndarray = np.log(np.maximum(probabilities.mean(axis=0), smallest))
    return mean


def _mean(arrays: Sequence[np.ndarray | None]) -> np.ndarray | None:
    present = _present(arrays)
    return np.mean(present, axis=0) if present else None


def _present(arrays: Sequence[np.ndarray | None]) -> list[np.ndarray]:
    return [array for array in arrays if array is not None]
