"""How frames reach a worker: as a path that it opens itself, or as pixels."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import chain, islice
from pathlib import Path

import numpy as np
from PIL import Image

from cuescope_sdk import Frame, Trial


def files_of(trials: Sequence[Trial], most: int = 3) -> tuple[Path, ...]:
    """The first files that a worker would open for these trials."""
    frames = chain.from_iterable(trial.sample.frames for trial in trials)
    files = chain.from_iterable(map(_files, frames))
    return tuple(islice(dict.fromkeys(files), most))


def as_pixels(trials: Sequence[Trial]) -> list[Trial]:
    """The trials with frames that hold their pixels, under the same keys; each is loaded once."""
    loaded: dict[str, Frame] = {}

    def pixels(frame: Frame) -> Frame:
        if frame.key not in loaded:
            image = np.asarray(frame.load())
            loaded[frame.key] = Frame(frame.key, partial(Image.fromarray, image))
        return loaded[frame.key]

    sent = []
    for trial in trials:
        frames = tuple(map(pixels, trial.sample.frames))
        sent.append(replace(trial, sample=replace(trial.sample, frames=frames)))
    return sent


def _files(frame: Frame) -> Iterator[Path]:
    if frame.source is not None:
        yield frame.source.path
    elif isinstance(frame.loader, partial):
        for argument in frame.loader.args:
            if isinstance(argument, Path):
                yield argument
            elif isinstance(argument, Frame):  # a frame that was derived from another
                yield from _files(argument)
