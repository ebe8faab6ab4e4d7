"""Frames are encoded once, and those that were shown last are remembered."""

from collections.abc import Sequence

import numpy as np
import pytest

from cuescope_sdk import Frame, UserError
from cuescope_sdk.models import FrameMemory, require_frames

FRAMES = [Frame.from_array(np.full((2, 2, 3), value, np.uint8)) for value in range(5)]
ROW_BYTES = 8


class Encoder:
    """Counts the frames of each call."""

    def __init__(self) -> None:
        self.calls: list[int] = []

    def __call__(self, frames: Sequence[Frame]) -> list[np.ndarray]:
        self.calls.append(len(frames))
        return [
            np.array([float(np.asarray(frame.load())[0, 0, 0])]) for frame in frames
        ]


def test_a_frame_is_encoded_once_in_batches() -> None:
    encoder = Encoder()
    memory = FrameMemory(encoder, 2, 100 * ROW_BYTES)
    ready: list[int] = []
    shown = [FRAMES[2], FRAMES[0], FRAMES[2], FRAMES[1]]
    rows = memory.rows(shown, ready.append)
    assert [float(row[0]) for row in rows] == [2, 0, 2, 1]
    assert encoder.calls == [2, 1]
    assert sum(ready) == len(shown)
    memory.rows(shown)
    assert encoder.calls == [2, 1]


def test_what_was_shown_first_is_forgotten_first() -> None:
    encoder = Encoder()
    memory = FrameMemory(encoder, 8, 2 * ROW_BYTES)
    a, b, c, *_ = FRAMES
    for frame in (a, b, a, c, a, b):
        memory.rows([frame])
    assert len(encoder.calls) == 4  # b was forgotten when c came


def test_another_number_of_frames_is_refused() -> None:
    require_frames("m", FRAMES, 5)
    with pytest.raises(
        UserError, match=r"m looks at 4 frames.*got 5\. Sample as many.*frames=4"
    ):
        require_frames("m", FRAMES, 4)
