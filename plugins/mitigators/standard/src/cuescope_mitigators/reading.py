"""What mitigators ask of a model or a router: readouts of samples, and the cue of each trial."""

from collections.abc import Callable, Iterable, Sequence

import numpy as np

from cuescope_sdk import Readout, Sample, Trial, UserError
from cuescope_sdk.mitigation import Ask, Router, Task

Trials = Sequence[Trial]


def read(ask: Ask, readout: Readout, samples: Iterable[Sample]) -> list[np.ndarray]:
    """What the readout gives for each sample."""
    trials = list(map(readout.of, samples))
    return [np.asarray(answer.readout) for answer in ask(trials)]


def best_cues(
    router: Router,
    trials: Trials,
    wanted: Callable[[Trial], bool],
    ask: Ask,
) -> list[int]:
    """The cue that each `wanted` trial shows; -1 for none, and for all other trials."""
    cues = iter(router.best(list(filter(wanted, trials)), ask))
    return [next(cues) if wanted(trial) else -1 for trial in trials]


def wants_logits(trial: Trial) -> bool:
    """Whether it asks for logits: only for these is each frame asked about, to tell the cue."""
    return "logits" in trial.outputs


def require_labels(task: Task, name: str) -> None:
    """Raise UserError where the part to fit on has no sample of a label."""
    missing = set(task.labels) - {sample.label for sample in task.samples}
    if missing:
        raise UserError(
            f"{name}: a label has no sample in the part that is fitted on",
            expected="samples of each label",
            got=f"none of {', '.join(sorted(missing)[:4])}",
            remedy="Take more samples, or fewer labels",
        )
