"""Where the cue is: association, contiguity, overlap."""

from typing import Any

import numpy as np
import pytest

from cuescope_moving_shapes.cues import (
    cramers_v,
    cue_counts,
    cue_error_rate,
    square_positions,
)
from cuescope_moving_shapes.motion import SOUTH
from cuescope_moving_shapes.options import ShapesOptions
from cuescope_moving_shapes.pictures import frame
from cuescope_moving_shapes.sequences import Sequences, generate

ASKED = (0.7, 0.8, 0.9, 0.95)
CUES = ("background", "object", "attribute")


def sequences(cue: str, count: int = 400, **options: Any) -> Sequences:
    settings = {"cue": cue, "val": count, "cramers_v": 0.8, **options}
    return generate(ShapesOptions.model_validate(settings))


@pytest.mark.parametrize("asked", [0.05, *ASKED, 0.999])
@pytest.mark.parametrize("share", [0.25, 0.1, 0.5])
def test_the_error_rate_solves_phi_for_the_asked_association(
    asked: float, share: float
) -> None:
    rate = cue_error_rate(asked, share)
    cue = share * (1 - rate) + (1 - share) * rate
    covariance = share * (1 - rate) - share * cue
    assert covariance / np.sqrt(share * (1 - share) * cue * (1 - cue)) == pytest.approx(
        asked
    )


def test_cramers_v_is_the_correlation_of_two_indicators() -> None:
    rng = np.random.default_rng(0)
    south = rng.random(300) < 0.3
    cue = south ^ (rng.random(300) < 0.2)
    assert cramers_v(cue, south) == pytest.approx(np.corrcoef(cue, south)[0, 1])
    assert cramers_v(~cue, south) == pytest.approx(cramers_v(cue, south))
    assert cramers_v(np.ones(300, bool), south) == 0


@pytest.mark.parametrize("asked", ASKED)
@pytest.mark.parametrize(("south", "other"), [(1000, 3000), (101, 302), (60, 180)])
def test_no_neighbouring_count_is_nearer_to_the_asked_association(
    asked: float, south: int, other: int
) -> None:
    def miss(bearing: int, lying: int) -> float:
        cue = np.arange(south + other)
        table = (cue < bearing) | ((cue >= south) & (cue < south + lying))
        return abs(cramers_v(table, cue < south) - asked)

    bearing, lying = cue_counts(asked, south, other)
    assert miss(bearing, lying) <= 1.5 / south
    assert (
        miss(bearing, lying)
        <= min(miss(bearing, lying + 1), miss(bearing, lying - 1)) + 1e-12
    )


@pytest.mark.parametrize("cue", CUES)
@pytest.mark.parametrize("asked", ASKED)
def test_the_planted_association_is_the_asked_one(cue: str, asked: float) -> None:
    made = sequences(cue, 4000, cramers_v=asked)
    south = made.direction == SOUTH
    assert np.corrcoef(made.bears, south)[0, 1] == pytest.approx(asked, abs=5e-4)
    lying = np.bincount(made.direction[made.bears & ~south], minlength=4)[[0, 2, 3]]
    assert lying.max() - lying.min() <= 1
    assert lying.min() >= (30 if asked <= 0.9 else 18)
    assert (south & ~made.bears).any()


@pytest.mark.parametrize(("length", "width"), [(2, 1), (3, 2), (5, 5), (10, 4)])
def test_the_cue_is_on_contiguous_frames_anywhere(length: int, width: int) -> None:
    made = sequences("object", 2000, length=length, cue_frames=width, seed=3)
    shown = made.cue[made.bears]
    assert (shown.sum(axis=1) == width).all()
    assert (np.diff(shown.astype(int), axis=1) == 1).sum(axis=1).max() <= 1
    ends = shown.argmax(axis=1) + width
    assert (np.take_along_axis(shown, ends[:, None] - 1, axis=1)).all(), "one block"
    starts = np.bincount(shown.argmax(axis=1), minlength=length - width + 1)
    assert len(starts) == length - width + 1
    assert starts.min() > 0.7 * len(shown) / len(starts)


@pytest.mark.parametrize("cue", CUES)
def test_the_pixels_show_the_cue_exactly_where_annotated(cue: str) -> None:
    made = sequences(cue)
    frames = map(frame, made.parameters.reshape(-1, 6))
    pixels = np.stack([np.asarray(picture.load()) for picture in frames])
    shown = made.cue.ravel()
    red = (pixels == (255, 0, 0)).all(axis=-1).sum(axis=(1, 2))
    blue = (pixels == (0, 0, 255)).all(axis=-1).sum(axis=(1, 2))
    disc = blue[~shown][0]
    assert 70 < disc < 90
    assert (red[~shown] == 0).all()
    assert (blue[~shown] == disc).all()
    # a square or a disc that covered the other would take pixels from it
    expected = {
        "background": (3600 - disc, disc),
        "object": (225, disc),
        "attribute": (disc, 0),
    }
    assert (red[shown] == expected[cue][0]).all()
    assert (blue[shown] == expected[cue][1]).all()


def test_squares_fill_every_place_clear_of_the_disc_alike() -> None:
    disc = np.tile([20, 30], (200_000, 1))
    square = square_positions(np.random.default_rng(0), disc)
    hits = np.zeros((46, 46), int)
    np.add.at(hits, tuple(square.T), 1)
    clear = np.ones((46, 46), bool)
    # corners from 20 - 14 to 20 + 9, and from 30 - 14 to 30 + 9
    clear[6:30, 16:40] = False
    assert (hits[~clear] == 0).all()
    expected = len(disc) / clear.sum()
    statistic = ((hits[clear] - expected) ** 2 / expected).sum()
    freedom = clear.sum() - 1
    assert abs(statistic - freedom) < 4 * np.sqrt(2 * freedom)


def test_squares_move_from_frame_to_frame() -> None:
    made = sequences("object", cue_frames=5)
    square = made.parameters[made.bears][:, :, 4:]
    assert (square[:, 1:] != square[:, :-1]).any(axis=-1).mean() > 0.99


def test_discs_move_the_same_with_any_cue_and_with_none() -> None:
    plain = sequences("none")
    assert not plain.cue.any()
    for cue in CUES:
        made = sequences(cue, cue_frames=2, cramers_v=0.7)
        np.testing.assert_array_equal(made.direction, plain.direction)
        np.testing.assert_array_equal(
            made.parameters[..., :2], plain.parameters[..., :2]
        )
