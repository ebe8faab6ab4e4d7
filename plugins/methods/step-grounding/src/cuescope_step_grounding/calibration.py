"""The similarity above which two beliefs are the same (tau of eq. 2), from labelled pairs.

A tau belongs to its sentence encoder:

    pairs = labelled_pairs()
    near = similarities([(one.first, one.second) for one in pairs], encoder)
    calibrate(near, np.array([one.same for one in pairs])).tau
"""

from dataclasses import dataclass
from importlib.resources import files

import numpy as np
from jaxtyping import Bool, Float
from pydantic import BaseModel


class LabelledPair(BaseModel):
    """Two successive steps, and whether they believe the same."""

    first: str
    second: str
    same: bool


@dataclass(frozen=True)
class Calibration:
    """A threshold, and the share of the pairs that it tells rightly."""

    tau: float
    accuracy: float


def calibrate(
    similarities: Float[np.ndarray, " pair"], same: Bool[np.ndarray, " pair"]
) -> Calibration:
    """The threshold of the highest accuracy, in the middle between two similarities.

    Of thresholds that are as good, the highest: it takes fewer changes for the same. Raises
    ValueError without both kinds of pairs.
    """
    if same.all() or not same.any():
        raise ValueError("expected pairs that are the same, and pairs that are not")
    levels = np.unique(similarities)
    between = [levels[0] - 1e-6, *((levels[1:] + levels[:-1]) / 2), levels[-1] + 1e-6]
    accuracies = [float(((similarities > tau) == same).mean()) for tau in between]
    best = max(range(len(between)), key=lambda place: (accuracies[place], place))
    return Calibration(float(between[best]), accuracies[best])


def labelled_pairs() -> list[LabelledPair]:
    """A hundred pairs of steps about rooms, kitchens, people and shapes, half of them changed."""
    text = files("cuescope_step_grounding").joinpath("step_pairs.jsonl").read_text("utf-8")
    return [LabelledPair.model_validate_json(line) for line in text.splitlines()]
