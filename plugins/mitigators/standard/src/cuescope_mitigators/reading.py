"""Readouts of samples: what mitigators ask of a model beside answers."""

from collections.abc import Iterable, Sequence

import numpy as np

from cuescope_sdk import Readout, Sample, Trial
from cuescope_sdk.mitigation import Ask, Router

Trials = Sequence[Trial]


def read(ask: Ask, readout: Readout, samples: Iterable[Sample]) -> list[np.ndarray]:
    """Reading of each sample."""
    trials = list(map(readout.of, samples))
    return [np.asarray(answer.readout) for answer in ask(trials)]


def best_cues(
    router: Router, trials: Trials, wanted: Sequence[bool], ask: Ask
) -> list[int]:
    """The cue that each `wanted` trial shows; -1 for none, and for all other trials."""
    some = [trial for trial, is_wanted in zip(trials, wanted, strict=True) if is_wanted]
    cues = iter(router.best(some, ask))
    return [next(cues) if is_wanted else -1 for is_wanted in wanted]
