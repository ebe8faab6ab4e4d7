"""For the contract of executors: a model that writes down who was asked what, and errs as told.

It stands outside of `cuescope_testing` because each worker imports it, and scipy would cost each
a second.
"""

import json
import os
import signal
import sys
import time
from collections.abc import Sequence
from functools import partial
from importlib import import_module
from importlib.util import module_from_spec, spec_from_file_location
from itertools import chain
from pathlib import Path
from threading import get_ident
from typing import Any, Literal, cast

import numpy as np

from cuescope_core.respond import ModelRunner
from cuescope_core.store import ResponseCache
from cuescope_sdk import Context, Frame, Model, Response, Sample, Trial, UserError

BATCH = 4  # trials
COUNT = 6  # of batches
SPECIAL = 2  # the batch that a fault meets
SLOW_SECONDS = 0.2
PATIENCE_SECONDS = 20.0
Fault = Literal["none", "refuses", "waits", "dies once", "dies", "slow"]


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
            log.write(f"{os.getpid()}:{get_ident()} {trials[0].sample.key}\n")
        fault = (self.folder / "fault").read_text()
        if fault == "refuses":
            raise UserError("the watched model refuses")
        if fault == "slow":
            time.sleep(SLOW_SECONDS)
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
        if fault == "waits":
            until = time.monotonic() + PATIENCE_SECONDS
            while not (self.folder / "handed-on").exists():
                if time.monotonic() > until:
                    raise UserError(
                        "no answer was handed on while another batch was under way"
                    )
                time.sleep(0.01)
        asked = [key for _, key in calls(self.folder)].count(self.special)
        if fault == "dies" or (fault == "dies once" and asked == 1):
            # no handler and no clean-up runs, as where the system is out of memory
            os.kill(os.getpid(), signal.SIGKILL)


def calls(folder: Path) -> list[tuple[int, str]]:
    """Process and first sample of each batch that the model was asked so far."""
    return [(int(who.partition(":")[0]), key) for who, key in _log(folder)]


def callers(folder: Path) -> set[str]:
    """The threads, of all processes, that asked it."""
    return {who for who, _ in _log(folder)}


def _log(folder: Path) -> list[tuple[str, str]]:
    file = folder / "calls"
    lines = file.read_text().splitlines() if file.exists() else []
    asked = []
    for line in lines:
        who, _, key = line.partition(" ")
        if key:  # else the line is being written
            asked.append((who, key))
    return asked


def open_watched(folder: Path) -> Model:
    """The model; what an executor's workers call."""
    return cast("Model", WatchedModel(folder))


def load(module: str, file: str) -> Any:
    """A module by its name, or where nobody can find it by that, from its file."""
    try:
        return import_module(module)
    except ImportError:
        spec = spec_from_file_location(module, file)
        if spec is None or spec.loader is None:
            raise
        loaded = module_from_spec(spec)
        spec.loader.exec_module(loaded)
        return loaded


def main(module: str, file: str, name: str, options: str, folder: str) -> None:
    """Answer all batches by way of an executor, kept in `folder/responses.sqlite`."""
    # a shell's background ignores it
    signal.signal(signal.SIGINT, signal.default_int_handler)
    cls = load(module, file)
    for part in name.split("."):
        cls = getattr(cls, part)
    executor = cls(cls.Options(**json.loads(options)), Context(device="cpu"))
    cache = ResponseCache(Path(folder) / "responses.sqlite")
    build = partial(open_watched, Path(folder))
    ask = ModelRunner("watched", build, cache, batch_size=BATCH, executor=executor)
    try:
        ask(list(chain.from_iterable(batches())))
    except KeyboardInterrupt:
        sys.exit(130)
