"""What mitigators ask of a model or a router: readouts of samples, and the cue of each trial."""

from collections.abc import Iterable, Sequence
from itertools import compress

import numpy as np

from cuescope_sdk import Readout, Sample, Trial
from cuescope_sdk.mitigation import Ask, Router

Trials = Sequence[Trial]


def read(ask: Ask, readout: Readout, samples: Iterable[Sample]) -> list[np.ndarray]:
    """What the readout gives for each sample."""
    trials = [readout.of(sample) for sample in samples]
    if not trials:
        return []
    return [np.asarray(answer.readout) for answer in ask(trials)]


def best_cues(
    router: Router, trials: Trials, wanted: Sequence[bool], ask: Ask
) -> list[int]:
    """The cue that each `wanted` trial shows; -1 for none, and for all other trials."""
    some = list(compress(trials, wanted))
    cues = iter(router.best(some, ask) if some else ())
    return [next(cues) if is_wanted else -1 for is_wanted in wanted]
