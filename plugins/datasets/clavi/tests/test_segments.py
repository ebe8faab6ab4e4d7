"""Pairs, borders and swaps, over random lists of actions."""

from itertools import permutations

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from cuescope_clavi.segments import (
    Action,
    Segment,
    cut_segment,
    exclusive_pairs,
    source_times,
)

NAMES = "abcd"


@st.composite
def videos(draw: st.DrawFn) -> tuple[float, list[Action]]:
    """A video of at most 60 s with up to seven actions, times in tenths of seconds."""
    length = draw(st.integers(10, 600))
    actions = []
    for _ in range(draw(st.integers(0, 7))):
        start = draw(st.integers(0, length - 1))
        end = draw(st.integers(start + 1, length))
        actions.append(Action(draw(st.sampled_from(NAMES)), start / 10, end / 10))
    return length / 10, actions


@settings(max_examples=200)
@given(videos(), st.sampled_from([0.0, 1.0, 4.0]))
def test_pairs_are_those_of_a_search_through_all(
    video: tuple[float, list[Action]], shortest: float
) -> None:
    def good(first: Action, second: Action) -> bool:
        others = [action for action in actions if action not in (first, second)]
        return (
            first.name != second.name
            and first.end < second.start
            and all(one.end - one.start >= shortest for one in (first, second))
            and not any(other.name in (first.name, second.name) for other in others)
        )

    actions = list(dict.fromkeys(video[1]))
    expected = {pair for pair in permutations(actions, 2) if good(*pair)}
    found = exclusive_pairs(actions, shortest)
    assert len(found) == len(set(found))
    assert set(found) == expected


def test_an_action_that_recurs_spoils_the_pair() -> None:
    actions = [Action("a", 0, 4), Action("b", 6, 10), Action("a", 15, 20)]
    assert exclusive_pairs(actions, 1) == []
    assert exclusive_pairs(actions[:2], 1) == [(actions[0], actions[1])]


@settings(max_examples=300)
@given(
    videos(),
    st.integers(0, 2**32),
    st.sampled_from([0.0, 0.5, 2.0]),
    st.sampled_from([0.001, 0.1]),
)
def test_borders_keep_the_separation_and_stay_in_the_video(
    video: tuple[float, list[Action]], seed: int, most: float, step: float
) -> None:
    length, actions = video
    for first, second in exclusive_pairs(actions, 0):
        segment = cut_segment(
            first, second, length, np.random.default_rng(seed), most=most, step=step
        )
        out_a, in_a, in_b, out_b = segment.cuts
        assert out_a >= -1e-9
        assert first.start - most - 1e-9 <= out_a <= first.start
        assert first.end <= in_a <= in_b <= second.start
        assert second.end <= out_b <= min(second.end + most, length) + 1e-9
        assert in_b - in_a >= 0.25 * (second.start - first.end) - 1e-9
        apart = second.start - first.end
        for complement in (False, True):
            spans = segment.spans(complement)
            assert spans[1] == (in_a, in_b), "the middle is untouched"
            assert sorted(spans) == [(out_a, in_a), (in_a, in_b), (in_b, out_b)]
            one, other = (second, first) if complement else (first, second)
            seen = (spans[0][1] - one.end) + (in_b - in_a) + (other.start - spans[2][0])
            assert seen == pytest.approx(apart)


def test_borders_differ_from_draw_to_draw_and_reach_the_most() -> None:
    pair = Action("a", 10, 20), Action("b", 60, 70)
    rng = np.random.default_rng(0)
    drawn = [cut_segment(*pair, 100, rng, most=2, step=0.001).cuts for _ in range(500)]
    out = np.array([(10 - cuts[0], cuts[3] - 70) for cuts in drawn])
    inward = np.array([(cuts[1] - 20, 60 - cuts[2]) for cuts in drawn])
    assert out.min() < 0.05
    assert 1.95 < out.max() <= 2 + 1e-9
    assert abs(out.mean() - 1) < 0.1
    assert 2 < inward.max() <= 4 + 1e-9
    np.testing.assert_allclose(out.sum(axis=1), inward.sum(axis=1), atol=1e-9)


def test_frames_move_by_whole_frames() -> None:
    segment = cut_segment(
        Action("a", 1, 6),
        Action("b", 9, 14),
        16,
        np.random.default_rng(3),
        most=2,
        step=1.0,
    )
    assert all(cut == int(cut) for cut in segment.cuts)


def test_the_complement_shows_the_regions_the_other_way_round() -> None:
    segment = Segment(Action("a", 1, 3), Action("b", 6, 8), (0.0, 4.0, 5.0, 9.0))
    original = source_times(segment.spans(complement=False), 9)
    assert original == pytest.approx(np.arange(9) + 0.5)
    swapped = source_times(segment.spans(complement=True), 9)
    assert swapped == pytest.approx([5.5, 6.5, 7.5, 8.5, 4.5, 0.5, 1.5, 2.5, 3.5])


@settings(max_examples=100)
@given(st.lists(st.integers(1, 50), min_size=3, max_size=3), st.integers(1, 20))
def test_looking_times_are_the_middles_of_equal_parts(
    lengths: list[int], count: int
) -> None:
    starts = (100.0, 300.0, 200.0)
    spans = [
        (start, start + length) for start, length in zip(starts, lengths, strict=True)
    ]
    times = source_times(spans, count)
    before = {start: sum(lengths[:index]) for index, start in enumerate(starts)}
    shown = [before[100.0 * (time // 100)] + time % 100 for time in times]
    assert shown == pytest.approx((np.arange(count) + 0.5) / count * sum(lengths))
