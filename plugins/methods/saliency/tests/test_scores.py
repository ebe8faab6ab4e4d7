"""How well a map agrees with a mask, against brute force."""

import numpy as np
import pytest

from cuescope_saliency.scores import iou_at_area


def test_iou_at_area_takes_the_best_pixels() -> None:
    rng = np.random.default_rng(0)
    values, mask = rng.normal(size=(6, 5)), rng.random((6, 5)) < 0.4
    best = np.zeros(30, bool)
    best[np.argsort(-values.ravel())[: mask.sum()]] = True
    chosen = best.reshape(6, 5)
    expected = (chosen & mask).sum() / (chosen | mask).sum()
    assert iou_at_area(values, mask) == pytest.approx(expected)
    assert iou_at_area(values, np.zeros((6, 5), bool)) == 0


def test_iou_at_area_shares_a_tie() -> None:
    """A flat map takes every pixel to the mask's share of the picture."""
    mask = np.zeros((4, 5), bool)
    mask[0] = True
    common = 5 * 0.25
    assert iou_at_area(np.ones((4, 5)), mask) == pytest.approx(common / (10 - common))
