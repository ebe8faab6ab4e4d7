"""A driver that may be killed, and a model that writes down each batch that it is asked."""

import os
import time
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from cuescope_core.context import Context
from cuescope_core.respond import ModelRunner
from cuescope_core.store import ResponseCache
from cuescope_core.types import Frame, Response, Sample, Trial

IDENTITY, BATCH, SECONDS = "logged-model", 4, 0.05


class LoggedModel:
    """Takes 50 ms a batch, whatever else the machine does."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def respond(self, trials: Sequence[Trial]) -> list[Response]:
        with (self.folder / "asked").open("a") as log:
            log.write(f"{os.getpid()} {trials[0].sample.key}\n")
        time.sleep(SECONDS)
        return [
            Response(logits=np.asarray(t.sample.frames[0].load())[0, 0]) for t in trials
        ]


def open_model(folder: Path) -> Any:
    return LoggedModel(folder)


def trials(count: int) -> list[Trial]:
    """Distinct trials of a frame each."""
    numbers = np.arange(count, dtype="<u4")[:, None].view(np.uint8)
    frames = [Frame.from_array(np.tile(number[:3], (2, 2, 1))) for number in numbers]
    samples = [
        Sample(key=f"s{i}", frames=(f,), choices=tuple("abc"))
        for i, f in enumerate(frames)
    ]
    return [Trial(sample=sample) for sample in samples]


def main(executor: str, name: str, batches: str) -> None:
    folder, asked = Path(name), trials(BATCH * int(batches))
    cache = ResponseCache(folder / "responses.sqlite")
    runner = ModelRunner(
        IDENTITY,
        partial(open_model, folder),
        cache,
        batch_size=BATCH,
        executor=Context(device="cpu").build("executor", executor),
    )
    for outcome in runner(asked):
        pixel = np.asarray(outcome.trial.sample.frames[0].load())[0, 0]
        assert (outcome.response.logits == pixel).all()
    cache.close()
