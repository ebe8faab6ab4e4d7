"""Temperature scaling: confidences that mean what they say (Guo et al., 2017)."""

import numpy as np
from jaxtyping import Float, Int
from scipy import optimize

from cuescope_sdk.maths import softmax

Logits = Float[np.ndarray, "sample class"]

TEMPERATURES = (1e-3, 1e3)


def fit_temperature(logits: Logits, labels: Int[np.ndarray, " sample"]) -> float:
    """The temperature with the lowest negative log-likelihood, within `TEMPERATURES`.

    The likelihood is convex in 1 / temperature, so its only stationary point is the minimum.
    Where there is none (all right, no better than guessing, or no samples at all) the best
    temperature is none at all or infinite, which is no calibration: the answer is 1.
    """
    if len(labels) == 0:
        return 1.0
    wide = np.asarray(logits, dtype=np.float64)
    chosen = wide[np.arange(len(labels)), labels]

    def slope(log_temperature: float) -> float:
        """Expected minus observed logit: the likelihood's slope in 1 / temperature."""
        probability = softmax(wide, float(np.exp(log_temperature)))
        expected = (probability * wide).sum(axis=1)
        return float((expected - chosen).mean())

    coldest, hottest = np.log(TEMPERATURES)
    if slope(coldest) <= 0 or slope(hottest) >= 0:
        return 1.0
    return float(np.exp(optimize.brentq(slope, coldest, hottest, xtol=1e-12)))


def cross_fitted_temperatures(
    logits: Logits,
    labels: Int[np.ndarray, " sample"],
    rng: np.random.Generator,
) -> Float[np.ndarray, " sample"]:
    """A temperature a sample, fitted on the half of the samples that it is not in.

    Two random halves; each is scaled as the other half asks, so that every confidence is
    calibrated on held-out predictions and no sample is spent. One sample alone keeps 1.
    """
    half = rng.permutation(len(labels)) % 2
    temperature = np.ones(len(labels))
    for side in (0, 1):
        others = half != side
        temperature[half == side] = fit_temperature(logits[others], labels[others])
    return temperature
