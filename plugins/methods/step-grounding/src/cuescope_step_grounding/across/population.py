"""Scripted reasoners of which it is known whether grounding drives what they keep."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from cuescope_sdk import Report, Request
from cuescope_step_grounding.across.law import Measured
from cuescope_step_grounding.across.reports import measured

DrivenBy = Literal["grounding", "accuracy", "nothing"]
LOWEST, HIGHEST = 0.2, 1.0  # grounding
WEAKEST, STRONGEST = 0.6, 0.95  # accuracy
KEPT, MORE = 0.4, 0.55  # retention of one that is not driven, and what its cause adds at most


@dataclass(frozen=True, slots=True)
class Dials:
    """How a reasoner is made: all shares from 0 to 1."""

    grounding: float
    accuracy: float
    ood_accuracy: float


def dials(count: int, driven_by: DrivenBy, rng: np.random.Generator) -> list[Dials]:
    """Reasoners drawn evenly; retention follows their grounding, their accuracy, or neither."""
    low, high = np.array([LOWEST, WEAKEST]), np.array([HIGHEST, STRONGEST])
    drawn = (low + (high - low) * rng.random((count, 2))).tolist()
    return [Dials(one, two, kept(one, two, driven_by, rng)) for one, two in drawn]


def kept(grounding: float, accuracy: float, driven_by: DrivenBy, rng: np.random.Generator) -> float:
    """The accuracy out of distribution that its cause leaves to a reasoner."""
    cause = {
        "grounding": (grounding - LOWEST) / (HIGHEST - LOWEST),
        "accuracy": (accuracy - WEAKEST) / (STRONGEST - WEAKEST),
        "nothing": float(rng.random()),
    }[driven_by]
    return accuracy * (KEPT + MORE * cause)


def requests(one: Dials, videos: int, seed: int) -> tuple[Request, Request]:
    """The audits of a reasoner: on shapes that it knows, and on others."""
    shown = {"grounding": one.grounding, "accuracy": one.accuracy}
    options = {**shown, "ood_accuracy": one.ood_accuracy, "seed": seed}

    def on(split: str) -> Request:
        return Request(
            method="step-grounding",
            model="scripted",
            data=f"shape-world:{split}",
            model_options=options,
            data_options={split: videos},
            method_options={"perturbations": [], "shown": 0, "resamples": 200},
        )

    return on("test"), on("ood")


def audited(
    reasoners: list[Dials], videos: int, seed: int, recall: Callable[[Request], Report]
) -> Iterator[Measured]:
    """Every reasoner, measured as any model would be."""
    for index, one in enumerate(reasoners):
        known, other = map(recall, requests(one, videos, seed + index))
        yield replace(measured(known, other), model=f"grounding {one.grounding:.2f}")
