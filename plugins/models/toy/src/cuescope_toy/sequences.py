"""A data set as arrays: its distinct frames, and for each sequence which they are."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Int

from cuescope_sdk import Dataset, Frame, Sample, UserError


@dataclass(frozen=True, eq=False)
class Sequences:
    """Distinct frames; for each sequence the index of its frames and of its label."""

    frames: tuple[Frame, ...]
    index: Int[np.ndarray, "sample frame"]
    label: Int[np.ndarray, " sample"]


def read_sequences(dataset: Dataset) -> Sequences:
    """Every labelled sequence of a data set; raises UserError where they cannot be trained on."""
    samples = [dataset[index] for index in range(len(dataset))]
    _check_lengths(samples)
    place: dict[str, int] = {}
    frames: list[Frame] = []
    for sample in samples:
        for frame in sample.frames:
            if place.setdefault(frame.key, len(frames)) == len(frames):
                frames.append(frame)
    return Sequences(
        tuple(frames),
        np.array([[place[frame.key] for frame in sample.frames] for sample in samples]),
        np.array([_label_of(sample, dataset.labels) for sample in samples]),
    )


def positions(frames: str, length: int) -> tuple[int, ...]:
    """The frame positions that a model with the option `frames` looks at."""
    match frames:
        case "first":
            return (0,)
        case "middle":
            return (length // 2,)
        case _:
            return tuple(range(length))


def _check_lengths(samples: Sequence[Sample]) -> None:
    first = samples[0]
    for sample in samples:
        if len(sample.frames) != len(first.frames):
            raise UserError(
                f"toy: sample '{sample.key}' has another length than '{first.key}'",
                expected=f"{len(first.frames)} frames in every sequence",
                got=str(len(sample.frames)),
                remedy="Sample the same number of frames from each clip (folder: -D frames=8).",
            )


def _label_of(sample: Sample, labels: Sequence[str]) -> int:
    if sample.label not in labels:
        raise UserError(
            f"toy: sample '{sample.key}' cannot be trained on",
            expected="a label of the data set",
            got="no label" if sample.label is None else f"'{sample.label}'",
        )
    return labels.index(sample.label)
