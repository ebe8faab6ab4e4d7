"""Boxes with names and scores, against torchvision and by hand."""

import numpy as np
import pytest
import torch
from torchvision.ops import box_iou, nms

from cuescope_sdk import Detection, UserError
from cuescope_sdk.tools._detection import (
    intersection_over_union,
    make_detections,
    normalise_name,
    sort_by_score,
    suppress_overlaps,
)

RNG = np.random.default_rng(0)


def boxes(count: int) -> np.ndarray:
    corner = RNG.uniform(0, 50, (count, 2))
    return np.hstack((corner, corner + RNG.uniform(1, 40, (count, 2))))


def test_overlap_is_torchvisions() -> None:
    one, others = boxes(1), boxes(30)
    expected = box_iou(torch.tensor(one), torch.tensor(others))[0].numpy()
    np.testing.assert_allclose(
        intersection_over_union(one[0], others), expected, atol=1e-12
    )
    assert (expected > 0).any()


@pytest.mark.parametrize("overlap", [0.0, 0.2, 0.5, 1.0])
def test_suppression_is_torchvisions(overlap: float) -> None:
    found, scores = boxes(60), RNG.permutation(60) / 60
    expected = nms(torch.tensor(found), torch.tensor(scores), overlap).numpy()
    assert suppress_overlaps(scores, found, overlap).tolist() == expected.tolist()
    assert suppress_overlaps(scores[:0], found[:0], overlap).tolist() == []


def test_boxes_are_clipped_sorted_and_above_the_threshold() -> None:
    scores = np.array([[0.2, 0.05], [0.9, 0.4], [0.8, 0.8]], dtype=np.float32)
    placed = np.array([[-5.0, 2, 10, 20], [1, 1, 4, 4], [30, 0, 40, 5]])
    found = make_detections(("cat", "dog"), scores, placed, (8, 9), threshold=0.05)
    # the third box lies outside; 0.05 is not above 0.05 in float32
    assert [(d.name, round(d.score, 2), d.box) for d in found] == [
        ("cat", 0.9, (1, 1, 4, 4)),
        ("dog", 0.4, (1, 1, 4, 4)),
        ("cat", 0.2, (0, 2, 8, 9)),
    ]


def test_suppression_is_within_a_name_and_spares_the_best() -> None:
    placed = np.array([[0.0, 0, 10, 10], [0, 0, 10, 9], [0, 0, 2, 2]])
    scores = np.array([[0.5, 0.6], [0.7, 0.3], [0.2, 0.1]])
    found = make_detections(("cat", "dog"), scores, placed, (20, 20), 0, overlap=0.5)
    assert [(d.name, d.score) for d in found] == [
        ("cat", 0.7),
        ("dog", 0.6),
        ("cat", 0.2),
        ("dog", 0.1),
    ]
    everything = make_detections(("cat", "dog"), scores, placed, (20, 20), 0)
    assert len(everything) == 6


def test_detections_are_sorted_best_first() -> None:
    box = (0.0, 0.0, 1.0, 1.0)
    named = (("cat", 0.3), ("cat", 0.4), ("caterpillar", 0.9))
    seen = [Detection(name=name, score=score, box=box) for name, score in named]
    assert sort_by_score(seen) == (seen[2], seen[1], seen[0])


def test_names_are_asked_in_lower_case() -> None:
    assert normalise_name("  St.\tBernard ") == "st. bernard"
    with pytest.raises(UserError, match="expected a word or more, got ' '"):
        normalise_name(" ")
