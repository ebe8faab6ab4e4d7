"""Probabilities of logits."""

import numpy as np
from jaxtyping import Float
from scipy import special

Logits = Float[np.ndarray, "sample class"]


def softmax(
    logits: Logits, temperature: float | Float[np.ndarray, " sample"] = 1.0
) -> Logits:
    """Probabilities in float64; `temperature` is one for all or one a row."""
    scale = np.asarray(temperature, dtype=np.float64)[..., None]
    return np.asarray(special.softmax(logits.astype(np.float64) / scale, axis=1))
