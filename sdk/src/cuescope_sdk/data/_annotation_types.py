"""Types of the annotations that methods share; docs/own-data.md tells who reads it."""

import reprlib
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from cuescope_sdk import Detection, Frame, Sample


def annotation_faults(sample: Sample) -> dict[str, str]:
    """Faults of the known annotations of a sample: what each was expected to be."""
    faults = {}
    for key, (expected, holds) in KNOWN.items():
        value = sample.annotations.get(key)
        if value is not None and not holds(value, sample):
            faults[key] = expected
    return faults


def describe(value: object) -> str:
    """An annotation in few words: an array by its shape."""
    if isinstance(value, np.ndarray):
        return f"{value.dtype} of shape {value.shape}"
    if isinstance(value, Frame):
        width, height = _size(value)
        return f"{height} x {width} (rows x columns)"
    return reprlib.repr(value)


def _is_foreground(value: Any, sample: Sample) -> bool:
    if isinstance(value, np.ndarray) and value.dtype == bool:
        # numpy's shape is (row, column), Pillow's size (width, height)
        return all(value.shape == _size(frame)[::-1] for frame in sample.frames[:1])
    return _is_mask(value, sample)


def _are_masks(value: Any, sample: Sample) -> bool:
    return isinstance(value, Mapping) and all(
        _is_mask(mask, sample) for mask in value.values()
    )


def _is_mask(value: Any, sample: Sample) -> bool:
    if not isinstance(value, Frame):
        return False
    # the first frame alone, as each look loads a picture; a sample may have none
    return all(_size(value) == _size(frame) for frame in sample.frames[:1])


def _are_boxes(value: Any, _sample: Sample) -> bool:
    return _is_list(value) and all(isinstance(box, Detection) for box in value)


def _are_names(value: Any, _sample: Sample) -> bool:
    # a lone text would pass as a list of letters
    return _is_list(value) and all(isinstance(name, str) for name in value)


def _are_factors(value: Any, _sample: Sample) -> bool:
    return isinstance(value, Mapping) and all(isinstance(name, str) for name in value)


def _are_times(value: Any, sample: Sample) -> bool:
    return _are_numbers(value, len(sample.frames))


def _are_poses(value: Any, sample: Sample) -> bool:
    if not _is_list(value) or len(value) != len(sample.frames):
        return False
    return all(_are_numbers(pose, 4) for pose in value)


def _are_actions(value: Any, sample: Sample) -> bool:
    return _is_list(value) and all(
        _is_action(action, len(sample.frames)) for action in value
    )


def _is_action(value: Any, frames: int) -> bool:
    if not _is_list(value) or len(value) != 3 or not _are_numbers(value[1:], 2):
        return False
    name, first, after_last = value
    # frames count as in a range, so the last may be one beyond the sample
    return isinstance(name, str) and 0 <= first < after_last <= frames


def _is_list(value: Any) -> bool:
    return isinstance(value, Sequence) and not isinstance(value, str)


def _are_numbers(value: Any, count: int) -> bool:
    return _is_list(value) and len(value) == count and all(map(_is_number, value))


def _is_number(value: Any) -> bool:
    # True is an int in Python, and no time or place
    return isinstance(value, int | float | np.number) and not isinstance(value, bool)


def _size(frame: Frame) -> tuple[int, int]:
    return frame.load().size


NAMES = "a tuple of texts"
KNOWN: Mapping[str, tuple[str, Callable[[Any, Sample], bool]]] = {
    "foreground": (
        "a bool array (row, column) or a Frame, as large as the frame",
        _is_foreground,
    ),
    "masks": ("{name: Frame}, each as large as the frame", _are_masks),
    "boxes": ("a tuple of Detection", _are_boxes),
    "objects": (NAMES, _are_names),
    "captions": (NAMES, _are_names),
    "answers": (NAMES, _are_names),
    "factors": ("{name: value}", _are_factors),
    "times": ("seconds, one a frame", _are_times),
    "poses": ("(x, y, z, heading), one a frame", _are_poses),
    "actions": (
        "(name, first frame, frame after the last) each, within the sample",
        _are_actions,
    ),
}
