"""Area under deletion and insertion curves, with intervals by resampling images."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Shaped

from cuescope_sdk.maths._stats import bootstrap_mean_interval

Curves = Shaped[np.ndarray, "image step"]


def areas(curves: Curves) -> Float[np.ndarray, " image"]:
    """Each image's area under its curve, by trapezoid, with the first step at 0 and the last at 1.

    The axis is the share of the schedule, not of the image, although the paper's schedule ends
    at half of the pixels: tables 1 and 2 of CCI have areas above 0.5, which half a width cannot
    hold. A constant curve has its own value as its area.
    """
    values = np.asarray(curves, dtype=np.float64)
    ends = (values[:, 0] + values[:, -1]) / 2
    return np.asarray((values.sum(axis=1) - ends) / (values.shape[1] - 1))


def auc(curves: Curves) -> float:
    """Area under the mean curve, which is the mean of the areas."""
    return float(areas(curves).mean())


def auc_interval(
    curves: Curves, rng: np.random.Generator, *, confidence: float = 0.95
) -> tuple[float, float]:
    """Bootstrap interval of the area over images.

    In retrieval an image's curve depends on the others of the set, which stays as it is.
    """
    return bootstrap_mean_interval(areas(curves), rng, confidence=confidence)


@dataclass(frozen=True)
class Difference:
    """A mean difference with its interval; `sign` is 0 where the interval holds 0."""

    value: float
    low: float
    high: float

    @property
    def sign(self) -> int:
        """1: above 0 for sure, -1: below, 0: undecided."""
        return int(self.low > 0) - int(self.high < 0)


def paired_difference(
    first: Curves, second: Curves, rng: np.random.Generator, *, confidence: float = 0.95
) -> Difference:
    """Area of `first` minus area of `second` on the same images, which are resampled together."""
    if first.shape != second.shape:
        raise ValueError(f"expected curves of the same images, got {first.shape}, {second.shape}")
    each = areas(first) - areas(second)
    low, high = bootstrap_mean_interval(each, rng, confidence=confidence)
    return Difference(float(each.mean()), low, high)
