"""For the contract of executors: a model that writes down who was asked what, and errs as told.

It stands outside of `cuescope_testing` because each worker imports it, and scipy would cost each
a second.
"""

import os
import signal
from collections.abc import Sequence
from pathlib import Path
from typing import Literal, cast

import numpy as np

from cuescope_sdk import Frame, Model, Response, Sample, Trial, UserError

BATCH = 4  # trials
COUNT = 6  # of batches
SPECIAL = 2  # the batch that a fault meets
Fault = Literal["none", "refuses", "dies once", "dies"]


def batches() -> list[list[Trial]]:
    """Batches of distinct trials, a grey frame each; the last batch is shorter."""
    trials = []
    for number in range(BATCH * COUNT - 2):
        frame = Frame.from_array(np.full((2, 2, 3), number, np.uint8))
        sample = Sample(key=f"grey-{number}", frames=(frame,), choices=("a", "b"))
        trials.append(Trial(sample=sample))
    return [trials[start : start + BATCH] for start in range(0, len(trials), BATCH)]


class WatchedModel:
    """Answers with the grey of a frame; `folder` has its fault, and a line for each batch asked."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.special = batches()[SPECIAL][0].sample.key

    def respond(self, trials: Sequence[Trial]) -> list[Response]:
        """A response a trial, unless the fault is met."""
        with (self.folder / "calls").open("a") as log:
            log.write(f"{os.getpid()} {trials[0].sample.key}\n")
        fault = (self.folder / "fault").read_text()
        if fault == "refuses":
            raise UserError("the watched model refuses")
        if trials[0].sample.key == self.special:
            self._meet(fault)
        return self.answers(trials)

    @staticmethod
    def answers(trials: Sequence[Trial]) -> list[Response]:
        """Answers without a fault."""
        responses = []
        for trial in trials:
            grey = np.asarray(trial.sample.frames[0].load())[0, 0, 0]
            responses.append(Response(logits=np.array([grey, 100 - grey], np.float32)))
        return responses

    def _meet(self, fault: str) -> None:
        asked = [key for _, key in calls(self.folder)].count(self.special)
        if fault == "dies" or (fault == "dies once" and asked == 1):
            # no handler and no clean-up runs, as where the system is out of memory
            os.kill(os.getpid(), signal.SIGKILL)


def calls(folder: Path) -> list[tuple[int, str]]:
    """Process and first sample of each batch that the model was asked so far."""
    file = folder / "calls"
    asked = []
    for line in file.read_text().splitlines() if file.exists() else ():
        process, _, key = line.partition(" ")
        if key:  # else the line is being written
            asked.append((int(process), key))
    return asked


def open_watched(folder: Path) -> Model:
    """The model; what an executor's workers call."""
    return cast("Model", WatchedModel(folder))
