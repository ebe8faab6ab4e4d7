"""What is seen of a background that nobody knows: the source's own, smoothed; the object again."""

import cv2
import numpy as np
import pytest

from cuescope_covar_build.quality.background import background_scores
from cuescope_covar_build.quality.cases import Case, Memory, View
from cuescope_sdk import Frame

SIDE = 128
OBJECT = np.zeros((SIDE, SIDE), bool)
OBJECT[48:80, 40:72] = True


def colours(seed: int, cells: int) -> np.ndarray:
    """A smooth field of any colours, 0-255."""
    cells_of_colour = np.random.default_rng(seed).uniform(0, 255, (cells, cells, 3))
    return cv2.resize(
        cells_of_colour.astype(np.float32), (SIDE, SIDE), interpolation=cv2.INTER_CUBIC
    )


def with_object(background: np.ndarray) -> np.ndarray:
    stripes = np.where(np.arange(SIDE) // 4 % 2, 230.0, 40.0)[None, :, None]
    return np.where(OBJECT[..., None], stripes * (1.0, 0.6, 0.2), background)


def frame(pixels: np.ndarray) -> Frame:
    return Frame.from_array(np.rint(pixels).clip(0, 255).astype(np.uint8))


def scores(edited: np.ndarray) -> dict[str, float | None]:
    source = frame(with_object(colours(0, 24)))
    case = Case(
        source=source,
        source_mask=OBJECT,
        edited=frame(edited),
        edited_mask=OBJECT,
        subset="background",
        base=source,
        geometry=np.eye(3)[:2],
    )
    return background_scores(View(case, Memory()))


@pytest.mark.parametrize("sigma", [2, 6])
def test_a_smoothed_background_is_told_from_a_new_one(sigma: float) -> None:
    smoothed = cv2.GaussianBlur(colours(0, 24), (0, 0), sigma)
    kept = scores(with_object(0.7 * smoothed + 30))["background_layout"] or 0.0
    for seed in range(1, 5):
        new = cv2.GaussianBlur(colours(seed, 24), (0, 0), sigma)
        other = scores(with_object(new))["background_layout"] or 0.0
        assert other < 0.4 < 1.0 < kept


def test_the_negative_of_a_background_is_another_one() -> None:
    negative = 255 - colours(0, 24)
    assert scores(with_object(negative))["background_layout"] == pytest.approx(0)


def test_the_objects_colours_alone_are_no_second_object() -> None:
    """A smooth background comes to them gradually; a copy of the object has its edges too."""
    smooth = [scores(with_object(colours(seed, 4)))["second_copy"] for seed in range(6)]
    edited = with_object(colours(0, 4))
    edited[88:120, 80:112] = edited[48:80, 40:72]
    copy = scores(edited)["second_copy"] or 0.0
    assert copy > 2 * max(score or 0.0 for score in smooth)
