"""The camera's motion: annotated, from poses, and from pictures that were really shifted."""

from collections.abc import Sequence
from math import pi
from typing import Any

import numpy as np
import pytest

from cuescope_sdk import Context, Frame, Sample, UserError
from cuescope_sdk.grounding import SCENE, SceneFrame
from cuescope_verifiers.camera import POSES, Camera, shift

from .claims import entity, motion, order, says

WIDE = np.random.default_rng(3).integers(0, 256, (160, 400)).astype(np.uint8)


def view(left: int, top: int = 40, scene: np.ndarray = WIDE) -> Frame:
    """What a camera sees that looks at this corner of a wide picture."""
    cut = scene[top : top + 80, left : left + 120]
    return Frame.from_array(np.repeat(cut[..., None], 3, axis=2))


def sample(frames: Sequence[Frame], **known: Any) -> Sample:
    return Sample(key="walk", frames=tuple(frames), annotations=known)


def camera(**options: Any) -> Camera:
    return Camera(Camera.Options(**options), Context())


@pytest.mark.parametrize(
    ("right", "down"), [(0, 0), (7, 0), (-12, 0), (0, 9), (5, -6), (30, 20)]
)
def test_shifts_are_measured_exactly(right: int, down: int) -> None:
    before = WIDE[40:120, 100:220].astype(float)
    after = WIDE[40 - down : 120 - down, 100 - right : 220 - right].astype(float)
    found_right, found_down, peak = shift(before, after)
    assert (found_right * 120, found_down * 80) == pytest.approx((right, down))
    assert peak > 4


def test_other_pictures_have_no_peak() -> None:
    rng = np.random.default_rng(0)
    assert shift(rng.random((80, 120)), rng.random((80, 120)))[2] < 1.5


def test_one_thing_that_moves_is_not_the_camera() -> None:
    before = np.full((80, 120), 200.0)
    before[:10] = WIDE[:10, :120]
    after = before.copy()
    before[40:60, 50:70] = after[40:60, 58:78] = 0
    assert shift(before, after)[:2] == (0, 0)
    assert shift(before, before) == (0, 0, np.inf)


def test_motion_is_seen_in_frames() -> None:
    # turns right at 1, rests at 2, turns left at 3, looks up at 4, cuts to another place at 5
    other = np.random.default_rng(9).integers(0, 256, (160, 400)).astype(np.uint8)
    frames = [
        view(100),
        view(120),
        view(120),
        view(105),
        view(105, 25),
        view(105, 25, other),
    ]
    seen = says(
        camera(),
        sample(frames),
        motion("turn right", 1),
        motion("turn left", 1),
        motion("stop", 2),
        motion("turn left", 3),
        motion("look up", 4),
        motion("look down", 4),
        motion("turn left", 5),
        motion("move forward", 1),
        motion("turn right"),
        motion("turn right", 2, 3, negated=True),
        motion("dance", 1),
        order(motion("turn right"), "before", motion("turn left")),
        entity("chair"),
    )
    assert seen == [
        "supported",
        "unsupported",
        "supported",
        "supported",
        "supported",
        "unsupported",
        "no evidence",
        "no evidence",
        "supported",
        "supported",
        "out of vocabulary",
        "supported",
        "out of vocabulary",
    ]


def test_a_single_frame_tells_nothing_of_motion() -> None:
    assert says(camera(), sample([view(9)]), motion("turn left", 0)) == ["unsupported"]


def test_frames_of_two_sizes_tell_nothing() -> None:
    small = Frame.from_array(np.zeros((20, 30, 3), np.uint8))
    assert says(camera(), sample([view(9), small]), motion("turn left", 1)) == [
        "no evidence"
    ]


def test_motion_follows_from_poses() -> None:
    # east by 2 m, a right angle to the right (south), up 1 m and south by 1 m, rest, about turn
    poses = [
        (0, 0, 0, pi / 2),
        (2, 0, 0, pi / 2),
        (2, 0, 0, pi),
        (2, -1, 1, pi),
        (2, -1, 1, pi),
        (2, -1, 1, 0),
        (2, 1, 1, pi),
    ]
    walk = sample([view(0)] * 7, **{POSES: poses})
    seen = says(
        camera(),
        walk,
        motion("move forward", 1),
        motion("move backward", 1),
        motion("turn right", 2),
        motion("turn left", 2),
        motion("go up", 3),
        motion("move forward", 3),
        motion("stop", 4),
        motion("turn around", 5),
    )
    assert [one == "supported" for one in seen] == [1, 0, 1, 0, 1, 1, 1, 1]


def test_annotated_motion_comes_first_and_is_said() -> None:
    scene = (SceneFrame(), SceneFrame(motion="turn left"), SceneFrame())
    told = sample(
        [view(100), view(120), view(120)], **{SCENE: scene, POSES: [(0, 0, 0, 0)] * 3}
    )
    tool = camera()
    assert says(tool, told, motion("turn left", 1), motion("turn right", 2)) == [
        "supported",
        "no evidence",
    ]
    says(tool, sample([view(1), view(2)]), motion("stop"))
    assert (
        tool.facts["samples, by where motion was known from"] == "annotated 1, frames 1"
    )


@pytest.mark.parametrize(
    "poses",
    [
        [(0, 0, 0, 0)],
        [(0, 0, 0, 0), (0, 0, 0, float("nan"))],
        [(0, 0, 0, 0), (0, 0, "north", 0)],
        [(0, 0, 0, 0), (1, 2)],
        [1, 2],
        None,
    ],
)
def test_wrong_poses_are_refused(poses: object) -> None:
    walk = sample([view(0)] * 2, **{POSES: poses})
    expected = r"poses of sample walk: expected \(x, y, z, heading\)"
    with pytest.raises(UserError, match=expected):
        says(camera(), walk, motion("stop"))
