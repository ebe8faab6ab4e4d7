"""Polygons and run lengths against closed forms and hand-made cases."""

import numpy as np
import pytest

from cuescope_coco import masks
from cuescope_coco.masks import counts_mask, decoded_counts, polygon_mask, union
from cuescope_sdk import generator


def polygon(*numbers):
    return np.array(numbers, float).reshape(-1, 2)


def encoded(counts):
    """The text of run lengths, character by character as the format describes it."""
    text = ""
    for place, count in enumerate(counts):
        value = count - counts[place - 2] if place > 2 else count
        while True:
            bits, value = value & 31, value >> 5
            done = value == (-1 if bits & 16 else 0)
            text += chr((bits if done else bits | 32) + 48)
            if done:
                break
    return text


def test_a_rectangle_is_its_pixels():
    mask = polygon_mask(polygon(2, 1, 5, 1, 5, 4, 2, 4), 6, 8)
    expected = np.zeros((6, 8), bool)
    expected[1:4, 2:5] = True
    np.testing.assert_array_equal(mask, expected)


def test_a_pixel_is_inside_where_its_centre_is():
    mask = polygon_mask(polygon(0.6, 0, 2.6, 0, 2.6, 1, 0.6, 1), 1, 4)
    assert mask.tolist() == [[False, True, True, False]]


def test_a_triangle_by_hand():
    mask = polygon_mask(polygon(0, 0, 4, 0, 0, 4), 4, 4)
    assert mask.astype(int).tolist() == [
        [1, 1, 1, 0],
        [1, 1, 0, 0],
        [1, 0, 0, 0],
        [0, 0, 0, 0],
    ]


def test_neighbours_share_no_pixel_and_leave_none_out():
    corners = np.array([[0, 0], [31, 0], [31, 23], [0, 23]], float)
    centre = np.array([13.3, 9.7])
    parts = [
        polygon_mask(np.stack([one, other, centre]), 23, 31).astype(int)
        for one, other in zip(corners, np.roll(corners, -1, axis=0), strict=True)
    ]
    np.testing.assert_array_equal(sum(parts), np.ones((23, 31), int))


def test_any_polygon_is_what_a_point_by_point_check_says():
    points = generator(0, "polygon").uniform(-4, 24, (9, 2))
    mask = polygon_mask(points, 20, 18)
    for row in range(20):
        for col in range(18):
            x, y, crossings = col + 0.5, row + 0.5, 0
            for (x0, y0), (x1, y1) in zip(
                points, np.roll(points, -1, axis=0), strict=True
            ):
                if (y0 <= y) != (y1 <= y) and x0 + (y - y0) / (y1 - y0) * (
                    x1 - x0
                ) <= x:
                    crossings += 1
            assert mask[row, col] == (crossings % 2 == 1)


def test_a_polygon_of_many_points_is_drawn_a_few_edges_at_a_time(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """All at once, 300,000 points in a tall image took six gigabytes."""
    points = generator(0, "zigzag").uniform(-2, 22, (500, 2))
    whole = polygon_mask(points, 20, 20)
    monkeypatch.setattr(masks, "_CELLS", 60)
    assert np.array_equal(polygon_mask(points, 20, 20), whole)
    assert 0 < whole.sum() < whole.size


def test_run_lengths_go_down_the_columns():
    mask = counts_mask(np.array([1, 2, 3]), 2, 3)
    assert mask.astype(int).tolist() == [[0, 1, 0], [1, 0, 0]]
    assert counts_mask(np.array([0, 6]), 2, 3).all()


@pytest.mark.parametrize(
    ("text", "counts"),
    [
        ("6", [6]),  # 6 -> chr(48 + 6)
        ("d0", [20]),  # 20 = 0b10100: the fifth bit would be the sign, so a 0 follows
        ("123", [1, 2, 3]),
        ("1232", [1, 2, 3, 4]),  # 2 + 2
        ("123O", [1, 2, 3, 1]),  # -1 -> 31 -> chr(48 + 31); 2 - 1
    ],
)
def test_text_by_hand(text, counts):
    assert decoded_counts(text) == counts
    assert encoded(counts) == text


def test_text_there_and_back():
    for length in range(1, 30):
        counts = generator(length, "runs").integers(0, 100_000, length).tolist()
        assert decoded_counts(encoded(counts)) == counts


@pytest.mark.parametrize("text", ["d", "1 2", "\u2028"])
def test_text_that_is_none(text):
    with pytest.raises(ValueError, match="run lengths"):
        decoded_counts(text)


def test_parts_of_one_object_are_drawn_together():
    left, right = polygon(0, 0, 1, 0, 1, 1, 0, 1), polygon(2, 0, 3, 0, 3, 1, 2, 1)
    assert union([left, right], 1, 3).tolist() == [[True, False, True]]
    assert union([left, np.array([1, 1, 1])], 1, 3).tolist() == [[True, True, False]]
    assert not union([], 2, 2).any()
