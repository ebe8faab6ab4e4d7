"""Which images are compared; K-scores against the sdk's, and how often an image is shown."""

from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from cuescope_sdk import Context, Detection, Frame, Sample, generator
from cuescope_spurlens.spuriosity.detections import (
    ImageSet,
    detect_cues,
    images_with,
    images_without,
    max_passes,
    objects_of,
    supercategories,
)

CUES = {"cup": ("table", "tree"), "lamp": ("tree", "rug", "cup")}


class Random:
    """A few boxes for each name, by the frame and the name alone."""

    def __init__(self, joint: bool = False) -> None:
        self.joint, self.calls = joint, list[tuple[int, tuple[str, ...]]]()

    def detect(
        self, frames: Sequence[Frame], names: Sequence[str]
    ) -> list[tuple[Detection, ...]]:
        self.calls.append((len(frames), tuple(names)))
        return [
            tuple(d for name in names for d in self.boxes(frame, name))
            for frame in frames
        ]

    def boxes(self, frame: Frame, name: str) -> list[Detection]:
        rng = generator(0, frame.key, name)
        scores = rng.random(rng.integers(0, 4)).tolist()
        return [Detection(name=name, score=s, box=(s, 0, s + 1, 1)) for s in scores]


def clip(number: int, frames: int) -> Sample:
    shown = (
        np.full((1, 1, 3), 10 * number + frame, np.uint8) for frame in range(frames)
    )
    return Sample(key=f"{number}", frames=tuple(map(Frame.from_array, shown)))


CLIPS = tuple(clip(number, frames=1 + number % 2) for number in range(8))
IMAGE_SETS = [
    ImageSet("recognition", "cup", CLIPS[:3]),
    ImageSet("hallucination", "cup", CLIPS[3:]),
    ImageSet("recognition", "lamp", CLIPS[2:5]),
]


@pytest.fixture
def audit(tmp_path: Path) -> SimpleNamespace:
    return SimpleNamespace(context=Context(cache=tmp_path))


@pytest.mark.parametrize("joint", [False, True])
def test_k_scores_are_the_highest_of_all_frames(
    audit: SimpleNamespace, joint: bool
) -> None:
    detector = Random(joint)
    for pool, seen in zip(
        IMAGE_SETS, detect_cues(audit, detector, IMAGE_SETS, CUES), strict=True
    ):
        cues = CUES[pool.label]
        for row, sample in enumerate(pool.samples):
            of_frames = np.zeros((len(sample.frames), len(cues)))
            for frame, boxes in enumerate(Random().detect(sample.frames, cues)):
                for box in boxes:
                    cell = (frame, cues.index(box.name))
                    of_frames[cell] = max(of_frames[cell], box.score)
            assert seen.scores[row] == pytest.approx(of_frames.max(axis=0))
            for cue in np.flatnonzero(of_frames.max(axis=0)).tolist():
                frame = seen.frames[row, cue]
                assert frame == of_frames[:, cue].argmax()
                assert seen.boxes[row, cue, 0] == pytest.approx(of_frames[frame, cue])


def test_an_image_is_shown_once_for_all_classes(audit: SimpleNamespace) -> None:
    detector, frames = Random(), sum(len(sample.frames) for sample in CLIPS)
    detect_cues(audit, detector, IMAGE_SETS, CUES)
    assert (
        sum(count for count, _ in detector.calls)
        == frames
        == max_passes(IMAGE_SETS, detector)
    )
    assert ("table", "tree", "rug", "cup") in [names for _, names in detector.calls]


def test_a_joint_detector_is_asked_for_each_class_alone(audit: SimpleNamespace) -> None:
    detector = Random(joint=True)
    detect_cues(audit, detector, IMAGE_SETS, CUES)
    assert {names for _, names in detector.calls} == set(CUES.values())
    assert sum(count for count, _ in detector.calls) == max_passes(IMAGE_SETS, detector)


KINDS = {"cup": "kitchen", "bowl": "kitchen", "car": "street", "bus": "street"}


def shot(key: str, *objects: str) -> Sample:
    kinds = tuple(KINDS[name] for name in objects)
    known = {"objects": objects, "supercategories": kinds}
    return Sample(key=key, frames=(), annotations=known)


SHOTS = [
    shot("a", "cup"),
    shot("b", "bowl", "car"),
    shot("c", "car"),
    shot("d"),
    shot("e", "cup", "bowl"),
    shot("f", "bowl"),
]


def keys(samples: tuple[Sample, ...]) -> str:
    return "".join(sample.key for sample in samples)


def test_positives_show_the_class() -> None:
    assert keys(images_with(SHOTS, "cup").samples) == "ae"


@pytest.mark.parametrize(
    ("how", "found"),
    [("auto", "bf"), ("supercategory", "bf"), ("all", "bcdf"), ("others", "bcdf")],
)
def test_negatives(how: str, found: str) -> None:
    pool = images_without(SHOTS, "cup", how, 5000, generator(0, "n"))  # type: ignore[arg-type]
    assert keys(pool.samples) == found


def test_others_are_a_seeded_draw_in_order() -> None:
    shots = [
        Sample(key=f"{n:03d}", frames=(), label="x" if n % 2 else "y")
        for n in range(200)
    ]
    first, again, other = (
        [
            s.key
            for s in images_without(
                shots, "x", "auto", 20, generator(seed, "n")
            ).samples
        ]
        for seed in (0, 0, 1)
    )
    assert first == again == sorted(first)
    assert len(first) == 20
    assert first != other
    assert all(int(key) % 2 == 0 for key in first)


def test_a_label_stands_in_for_objects_but_none_is_none() -> None:
    assert objects_of(Sample(key="a", frames=(), label="cup")) == ("cup",)
    shown = Sample(key="a", frames=(), label="cup", annotations={"objects": ()})
    assert objects_of(shown) == ()


def test_supercategories_go_with_objects() -> None:
    assert supercategories(SHOTS) == {n: KINDS[n] for n in ("cup", "bowl", "car")}
