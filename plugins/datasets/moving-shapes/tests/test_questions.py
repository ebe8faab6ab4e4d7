"""Questions: what the answer takes is what it depends on, and the rest tells nothing."""

from collections import Counter
from typing import Any

import numpy as np
import pytest

from cuescope_moving_shapes import MovingShapes
from cuescope_sdk import Context, Sample, UserError, digest
from cuescope_testing import DatasetContract

SMALL = {"train": 400, "val": 240, "test": 120}
# row, column
STEP = {"north": (-1, 0), "south": (1, 0), "east": (0, 1), "west": (0, -1)}
TURN = {  # of a step, as a matrix; rows count downwards
    "ahead of": ((1, 0), (0, 1)),
    "to the right of": ((0, 1), (-1, 0)),
    "to the left of": ((0, -1), (1, 0)),
}


class TestContract(DatasetContract):
    plugin = MovingShapes
    options = {**SMALL, "questions": "both"}
    other_options = {**SMALL, "questions": "text"}


def build(planted: str, **options: Any) -> MovingShapes:
    made = Context().build(
        "dataset", "moving-shapes:none", {**SMALL, "questions": planted, **options}
    )
    assert isinstance(made, MovingShapes)
    return made


def all_of(data: MovingShapes) -> list[Sample]:
    return [data[index] for index in range(len(data))]


def moved(sample: Sample) -> tuple[int, ...]:
    """The disc's step by its pixels: row and column, -1, 0 or 1."""
    blue = [np.asarray(frame.load())[..., 2] > 0 for frame in sample.frames]
    first, *_, last = (np.argwhere(mask).mean(axis=0) for mask in blue)
    return tuple(np.sign(last - first).astype(int).tolist())


def turned(step: tuple[int, ...], side: str) -> tuple[int, ...]:
    return tuple((np.array(TURN[side]) @ step).tolist())


def side_of(sample: Sample) -> str:
    (side,) = (side for side in TURN if side in str(sample.question))
    return side


def test_without_questions_everything_is_as_before() -> None:
    data = build("none", val=200)
    assert data.fingerprint == "08771936e542a7d1f1325395f9a2db5e"
    assert (
        digest([frame.key for sample in all_of(data) for frame in sample.frames])
        == "ac01cda89eaf691f99d36be736362e19"
    )
    assert data[0].question is None
    assert data[0].choices == data.labels == tuple(f"moving {way}" for way in STEP)


def test_video_alone_answers_one_and_the_same_question() -> None:
    samples = all_of(build("video"))
    assert {sample.question for sample in samples} == {"Which way does the disc move?"}
    for sample in samples:
        assert sample.choices == tuple(STEP)
        assert STEP[str(sample.label)] == moved(sample)
        assert sample.annotations["question_type"] == "direction"


def test_words_alone_answer_and_the_video_tells_nothing() -> None:
    samples = all_of(build("text", val=2400))
    answer: dict[str | None, set[str | None]] = {}
    for sample in samples:
        answer.setdefault(sample.question, set()).add(sample.label)
        (facing,) = (way for way in STEP if f"face {way}" in str(sample.question))
        assert STEP[str(sample.label)] == turned(STEP[facing], side_of(sample))
    assert len(answer) == 12
    assert all(len(labels) == 1 for labels in answer.values())
    pairs = Counter((moved(sample), sample.label) for sample in samples[:480])
    assert all(15 <= pairs[way, label] <= 48 for way in STEP.values() for label in STEP)


def test_both_are_needed_and_each_alone_leaves_three_answers_or_more() -> None:
    samples = all_of(build("both", val=2400))
    by_words = Counter((side_of(sample), sample.label) for sample in samples)
    by_video: dict[tuple[int, ...], Counter[str | None]] = {}
    for sample in samples[:480]:
        assert STEP[str(sample.label)] == turned(moved(sample), side_of(sample))
        assert sample.annotations["question_type"] == side_of(sample)
        by_video.setdefault(moved(sample), Counter())[sample.label] += 1
    assert len({sample.question for sample in samples}) == 3
    assert all(150 <= by_words[side, label] <= 250 for side in TURN for label in STEP)
    for counts in by_video.values():
        assert len(counts) == 3
        assert max(counts.values()) < 0.45 * counts.total()


def test_the_video_is_the_same_whatever_is_asked() -> None:
    keys = [
        [f.key for s in all_of(build(planted)) for f in s.frames]
        for planted in ("none", "both")
    ]
    assert keys[0] == keys[1]


def test_another_kind_or_seed_asks_otherwise() -> None:
    data = [
        build("text"),
        build("both"),
        build("video"),
        build("none"),
        build("text", seed=1),
    ]
    assert len({one.fingerprint for one in data}) == len(data)
    asked = [[sample.question for sample in all_of(one)] for one in (data[0], data[-1])]
    assert asked[0] != asked[1]
    assert asked[0] == [sample.question for sample in all_of(build("text"))]
    assert data[0].split("train").labels == data[0].labels == tuple(STEP)


def test_a_typo_is_told_with_the_nearest() -> None:
    with pytest.raises(
        UserError, match=r"questions': .*got 'vidoe'. Did you mean 'video'\?"
    ):
        build("vidoe")
