"""Words that name a moment against the frames that they mean, counted by hand."""

import pytest

from cuescope_step_grounding.claims import Clock, parser, read_steps
from cuescope_step_grounding.claims.times import frames_meant

TEN = Clock(10, tuple(float(second) for second in range(10)))
BLIND = Clock(10)  # no times known


@pytest.mark.parametrize(
    ("words", "frames"),
    [
        ("in frame 3", (2,)),
        ("frames 2 to 4", (1, 2, 3)),
        ("frames 2, 3 and 5", (1, 2, 4)),
        ("between frames 2 and 4", (1, 2, 3)),
        ("from frame 8 onwards", (7, 8, 9)),
        ("after frame 7", (7, 8, 9)),
        ("before frame 3", (0, 1)),
        ("until frame 3", (0, 1, 2)),
        ("at frame 11", ()),
        ("at frame 0", ()),
        ("at 0:04", (4,)),
        ("at 00:00:04", (4,)),
        ("at 1:04", ()),
        ("at 3.4 seconds", (3,)),
        ("at the 5-second mark", (5,)),
        ("from 2 to 4 seconds", (2, 3, 4)),
        ("0:02-0:04", (2, 3, 4)),
        ("from 0:02 to 0:05", (2, 3, 4, 5)),
        ("at the beginning of the video", (0, 1, 2)),
        ("in the middle", (3, 4, 5, 6)),
        ("at the end", (7, 8, 9)),
        ("from the beginning to the end", tuple(range(10))),
        ("in the first half", (0, 1, 2, 3, 4)),
        ("in the second half of the clip", (5, 6, 7, 8, 9)),
        ("in the first three seconds", (0, 1, 2, 3)),
        ("in the last two frames", (8, 9)),
        ("in the first frame", (0,)),
        ("in the last frame", (9,)),
        ("halfway through the video", (5,)),
        ("throughout the clip", tuple(range(10))),
        ("finally", (7, 8, 9)),
        ("initially", (0, 1, 2)),
        ("at the end of the hallway", None),
        ("in the middle of the room", None),
        ("the first door", None),
        ("for 3 seconds", None),
        ("two chairs", None),
    ],
)
def test_words_mean_frames(words: str, frames: tuple[int, ...] | None) -> None:
    assert frames_meant(f"{words[0].upper()}{words[1:]}, he waits.", TEN) == frames


def test_seconds_without_known_times_have_no_place() -> None:
    assert frames_meant("at 0:04", BLIND) is None
    assert frames_meant("in frame 4", BLIND) == (3,)


@pytest.mark.parametrize("frames", [0, 1, 2, 3, 5])
def test_short_videos_have_a_beginning_middle_and_end(frames: int) -> None:
    clock = Clock(frames)
    for words in ("at the beginning", "in the middle", "at the end"):
        found = frames_meant(words, clock)
        assert found is not None
        assert set(found) <= set(range(frames))
        assert bool(found) == bool(frames)


def test_frames_follow_the_times_that_they_show() -> None:
    clock = Clock(4, (0.0, 2.0, 4.0, 6.0))
    assert frames_meant("at 4.6 seconds", clock) == (2,)
    assert frames_meant("from 1 to 5 seconds", clock) == (1, 2)
    assert frames_meant("at 9 seconds", clock) == ()


def test_a_clock_has_a_time_for_each_frame() -> None:
    with pytest.raises(ValueError, match="a time for each of 3 frames"):
        Clock(3, (0.0,))


def frames_of(step: str) -> dict[str, tuple[int, ...] | None]:
    [read] = read_steps(parser(), [step], TEN)
    return {c.predicate or c.subject: c.frames for c in read if c.kind != "entity"}


def test_each_clause_has_its_own_time_and_else_that_of_the_step() -> None:
    step = "At frame 2, the man opens the door, and at frame 5 he closes the box."
    assert frames_of(step) == {"open": (1,), "close": (4,)}
    assert frames_of("The man sits and drinks water at the end.") == {
        "sit": (7, 8, 9),
        "drink": (7, 8, 9),
    }
    assert frames_of("Frame 4: The man sits. He drinks.") == {
        "sit": (3,),
        "drink": (3,),
    }
    assert frames_of("The man sits.") == {"sit": None}


def test_of_contradictory_times_all_are_meant() -> None:
    [read] = read_steps(parser(), ["At frame 2 the man sits at frame 9."], TEN)
    assert {claim.frames for claim in read} == {(1, 8)}
