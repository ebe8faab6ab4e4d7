"""Which of foreground and background a map lies on."""

from collections.abc import Callable
from typing import Any, Literal

import numpy as np
import pytest

from cuescope_cci import CCI
from cuescope_cci.regions import region_of
from cuescope_sdk import UserError
from cuescope_sdk.testing import FakeDataset, FakeSegmenter, Setup

Overlap = Literal["iou", "soft-iou", "mass"]
OVERLAPS: tuple[Overlap, ...] = ("iou", "soft-iou", "mass")
LEFT = np.zeros((8, 8), dtype=bool)
LEFT[:, :4] = True
SMALL = np.zeros((8, 8), dtype=bool)
SMALL[2:4, 2:4] = True  # 4 of 64 pixels


@pytest.mark.parametrize("overlap", OVERLAPS)
def test_a_map_on_one_side_is_on_that_side(overlap: Overlap) -> None:
    assert region_of(LEFT.astype(float), LEFT, overlap) == "foreground"
    assert region_of((~LEFT).astype(float), LEFT, overlap) == "background"


@pytest.mark.parametrize("overlap", OVERLAPS)
def test_of_equals_the_foreground_has_it(overlap: Overlap) -> None:
    assert region_of(np.ones((8, 8)), LEFT, overlap) == "foreground"


@pytest.mark.parametrize("overlap", OVERLAPS)
def test_nothing_is_said_of_an_empty_map_or_a_mask_of_one_region(overlap: Overlap) -> None:
    some = LEFT.astype(float)
    assert region_of(np.zeros((8, 8)), LEFT, overlap) is None
    assert region_of(-some, LEFT, overlap) is None
    assert region_of(some, np.ones((8, 8), bool), overlap) is None
    assert region_of(some, np.zeros((8, 8), bool), overlap) is None


def test_the_overlaps_differ_where_much_is_weak() -> None:
    """The object at 1, all of the background at 0.4: by hand from 4 + 60 pixels.

    Strongest half: the object alone, IoU 1 and 0. Soft: foreground 4 / (4 + 24) = 0.14, background
    24 / (60 + 4) = 0.375. Mass: 4 / 28 on the object.
    """
    importance = np.where(SMALL, 1.0, 0.4)
    found = [region_of(importance, SMALL, overlap) for overlap in OVERLAPS]
    assert found == ["foreground", "background", "background"]


def test_a_small_object_with_as_much_background_beside_it() -> None:
    """IoU forgives a map as large again as its object; a share of the weights does not say."""
    importance = SMALL.astype(float)
    importance[2:4, 4:7] = 1.0  # 6 pixels of background at equal strength
    found = [region_of(importance, SMALL, overlap) for overlap in OVERLAPS]
    assert found == ["foreground", "foreground", "background"]  # 4/10 and 6/60; 4/10 of the mass


def test_strongest_counts_from_a_share_of_the_top() -> None:
    importance = np.where(SMALL, 1.0, 0.4)
    assert region_of(importance, SMALL, "iou", 0.4) == "background"  # everything: 4/64 and 60/64
    assert region_of(importance, SMALL, "iou", 0.41) == "foreground"


def test_negative_weights_do_not_count() -> None:
    importance = np.where(LEFT, 0.1, -5.0)
    assert region_of(importance, LEFT) == "foreground"


def test_a_coarse_map_is_upsampled_to_the_mask() -> None:
    assert region_of(np.array([[0.0, 1.0]]), LEFT) == "background"
    assert region_of(np.array([[1.0, 0.0]]), LEFT) == "foreground"


# --------------------------------------------------------------------------- where masks come from


def setup(data: Any = FakeDataset, **fields: Any) -> Setup:
    small = {"frames": 1, "samples": 30}
    chosen = {"faithfulness": 0, "pictures": 0} | fields.pop("options", {})
    return Setup(CCI, data=data, data_options=small, options=chosen, **fields)


def test_the_segmenter_takes_the_place_of_the_annotation() -> None:
    """The fake one outlines nothing that it is asked for here, so that no answer has a region."""
    report = setup(tools={"segmenter": FakeSegmenter}).report()
    assert not report.features
    assert report.notes["left out"].startswith("30 images")


def test_the_segmenter_is_asked_once_for_each_image_and_by_name() -> None:
    asked: list[tuple[str, ...]] = []

    class RightHalf(FakeSegmenter):
        def segment(self, frames: Any, names: Any) -> list[np.ndarray]:
            asked.append(tuple(names))
            mask = np.zeros((len(names), 8, 8), dtype=bool)
            mask[0, :, 3:8] = True  # as the annotation has it
            return [mask for _ in frames]

    report = setup(tools={"segmenter": RightHalf}).report()
    assert len(asked) == 30
    assert set(asked) == {(label, "foreground objects") for label in ("top", "middle", "bottom")}
    assert report.scores == setup().report().scores


def test_some_masks_missing_is_told_in_one_line(changing: Callable[..., Any]) -> None:
    holes = changing(only=3, annotations={"foreground": None})
    with pytest.raises(UserError, match=r"'val-003' has no foreground mask.*segmenter=SPEC"):
        setup(holes).report()


def test_a_mask_of_another_size_is_told_in_one_line(changing: Callable[..., Any]) -> None:
    wrong = changing(annotations={"foreground": np.ones((5, 9), dtype=bool)})
    with pytest.raises(UserError, match=r"does not fit its frame: expected 8 x 8.*got 5 x 9"):
        setup(wrong).report()
