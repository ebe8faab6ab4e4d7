"""K-scores against the sdk's, and how often an image is shown."""

from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from cuescope_sdk import Context, Detection, Frame, Sample, generator
from cuescope_sdk.tools import k_scores
from cuescope_spurlens.pools import Pool
from cuescope_spurlens.sighting import look, passes_at_most

CUES = {"cup": ("table", "tree"), "lamp": ("tree", "rug", "cup")}


class Random:
    """A few boxes for each name, by the frame and the name alone."""

    def __init__(self, joint: bool = False) -> None:
        self.joint, self.calls = joint, list[tuple[int, tuple[str, ...]]]()

    def detect(self, frames: Sequence[Frame], names: Sequence[str]) -> list[tuple[Detection, ...]]:
        self.calls.append((len(frames), tuple(names)))
        return [tuple(d for name in names for d in self.boxes(frame, name)) for frame in frames]

    def boxes(self, frame: Frame, name: str) -> list[Detection]:
        rng = generator(0, frame.key, name)
        scores = rng.random(rng.integers(0, 4)).tolist()
        return [Detection(name=name, score=s, box=(s, 0, s + 1, 1)) for s in scores]


def clip(number: int, frames: int) -> Sample:
    shown = (np.full((1, 1, 3), 10 * number + frame, np.uint8) for frame in range(frames))
    return Sample(key=f"{number}", frames=tuple(map(Frame.from_array, shown)))


CLIPS = tuple(clip(number, frames=1 + number % 2) for number in range(8))
POOLS = [
    Pool("recognition", "cup", CLIPS[:3]), Pool("hallucination", "cup", CLIPS[3:]),
    Pool("recognition", "lamp", CLIPS[2:5]),
]  # fmt: skip


@pytest.fixture
def audit(tmp_path: Path) -> SimpleNamespace:
    return SimpleNamespace(context=Context(cache=tmp_path))


@pytest.mark.parametrize("joint", [False, True])
def test_k_scores_are_the_highest_of_all_frames(audit: SimpleNamespace, joint: bool) -> None:
    detector = Random(joint)
    for pool, seen in zip(POOLS, look(audit, detector, POOLS, CUES), strict=True):
        cues = CUES[pool.label]
        for row, sample in enumerate(pool.samples):
            of_frames = k_scores(Random().detect(sample.frames, cues), cues)
            assert seen.scores[row] == pytest.approx(of_frames.max(axis=0))
            for cue in np.flatnonzero(of_frames.max(axis=0)).tolist():
                frame = seen.frames[row, cue]
                assert frame == of_frames[:, cue].argmax()
                assert seen.boxes[row, cue, 0] == pytest.approx(of_frames[frame, cue])


def test_an_image_is_shown_once_for_all_classes(audit: SimpleNamespace) -> None:
    detector, frames = Random(), sum(len(sample.frames) for sample in CLIPS)
    look(audit, detector, POOLS, CUES)
    assert sum(count for count, _ in detector.calls) == frames == passes_at_most(POOLS, detector)
    assert ("table", "tree", "rug", "cup") in [names for _, names in detector.calls]


def test_a_joint_detector_is_asked_for_each_class_alone(audit: SimpleNamespace) -> None:
    detector = Random(joint=True)
    look(audit, detector, POOLS, CUES)
    assert {names for _, names in detector.calls} == set(CUES.values())
    assert sum(count for count, _ in detector.calls) == passes_at_most(POOLS, detector)
