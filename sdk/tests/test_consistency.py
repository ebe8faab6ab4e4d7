"""Consistent accuracies, counted by hand."""

from itertools import product

import numpy as np
import pytest

from cuescope_sdk import Frame, Sample
from cuescope_sdk.maths._consistency import ConsistentPair, consistent_accuracy, consistent_pairs

FRAME = Frame.from_array(np.zeros((2, 2, 3), np.uint8))


def sample(key: str, subset: str = "complement", **annotations: object) -> Sample:
    return Sample(key=key, frames=(FRAME,), annotations={"subset": subset, **annotations})


def square(video: str) -> list[Sample]:
    """Two videos by two questions, each the complement of its neighbours."""

    def key(shown: int, asked: int) -> str:
        return f"{video}-v{shown}-q{asked}"

    return [
        sample(
            key(v, q), video_id=video, counterparts={"video": key(1 - v, q), "text": key(v, 1 - q)}
        )
        for v, q in product((0, 1), repeat=2)
    ]


def test_each_pair_is_found_once_and_keeps_its_kind() -> None:
    pairs = consistent_pairs(square("a"))
    assert {(p.complement, p.first, p.second) for p in pairs} == {
        ("video", "a-v0-q0", "a-v1-q0"),
        ("video", "a-v0-q1", "a-v1-q1"),
        ("text", "a-v0-q0", "a-v0-q1"),
        ("text", "a-v1-q0", "a-v1-q1"),
    }
    assert {(p.subset, p.video) for p in pairs} == {("complement", "a")}


def test_a_counterpart_that_is_not_shown_makes_no_pair() -> None:
    assert len(consistent_pairs(square("a")[:3])) == 2
    assert consistent_pairs([sample("alone"), sample("no", counterparts={"video": None})]) == ()


def test_without_a_name_samples_of_the_same_frames_are_one_video() -> None:
    other = Frame.from_array(np.ones((2, 2, 3), np.uint8))
    shown = [
        Sample(key=key, frames=frames, annotations={"counterparts": {"text": text}})
        for key, text, frames in [
            ("a", "b", (FRAME, other)),
            ("b", "a", (FRAME, other)),
            ("c", "d", (other, FRAME)),
            ("d", "c", (other, FRAME)),
            ("e", "f", (other,)),
            ("f", "e", (other,)),
        ]
    ]
    first, second, third = (pair.video for pair in consistent_pairs(shown))
    assert first == second != third


def test_both_of_a_pair_must_be_right() -> None:
    samples = square("a") + square("b")
    pairs = consistent_pairs(samples)
    wrong = {"a-v0-q0", "b-v1-q1"}
    correct = {s.key: s.key not in wrong for s in samples}
    text = [pair for pair in pairs if pair.complement == "text"]
    found = consistent_accuracy(correct, text, np.random.default_rng(0))
    assert found is not None
    assert (found.value, found.pairs, found.videos) == (0.5, 4, 2)
    always_yes = {s.key: s.key.endswith("q0") for s in samples}
    found = consistent_accuracy(always_yes, text, np.random.default_rng(0))
    assert found is not None
    assert (found.value, found.low, found.high) == (0, 0, 0)


def test_pairs_without_both_answers_are_left_out() -> None:
    pairs = consistent_pairs(square("a"))
    correct = {"a-v0-q0": True, "a-v0-q1": True, "a-v1-q0": False}
    found = consistent_accuracy(correct, pairs, np.random.default_rng(0))
    assert found is not None
    assert (found.value, found.pairs) == (0.5, 2)
    assert consistent_accuracy({}, pairs, np.random.default_rng(0)) is None


def test_the_interval_is_that_of_every_draw_of_whole_videos() -> None:
    right = dict(enumerate([(3, 3), (0, 1), (1, 4), (2, 2)]))  # correct pairs, pairs
    pairs, correct = [], {}
    for video, (good, count) in right.items():
        for index in range(count):
            first, second = f"{video}-{index}", f"{video}-{index}-other"
            pairs.append(ConsistentPair("video", first, second, None, str(video)))
            correct |= {first: True, second: index < good}
    drawn = list(product(right.values(), repeat=4))
    shares = [sum(good for good, _ in draw) / sum(count for _, count in draw) for draw in drawn]
    found = consistent_accuracy(
        correct, pairs, np.random.default_rng(0), confidence=0.8, resamples=40000
    )
    assert found is not None
    assert found.value == 0.6
    expected = np.quantile(shares, (0.1, 0.9))
    assert (found.low, found.high) == pytest.approx(tuple(expected), abs=0.02)
    by_pair = np.random.default_rng(0).binomial(10, 0.6, 40000) / 10
    assert found.high - found.low > 1.2 * np.subtract(*np.quantile(by_pair, (0.9, 0.1)))
