"""Changes of a video: what moves, what stays, and how much."""

import pickle
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from cuescope_sdk import Context, Frame, Sample, generator
from cuescope_sdk.grounding import SCENE, Claim
from cuescope_step_grounding.options import Perturbation
from cuescope_step_grounding.perturbations import (
    boxes_of,
    cover_boxes,
    key_boxes,
    magnitudes,
    move_boxes,
    named_things,
    perturbed_frames,
)

Seen = Callable[[Frame], str | None]


@pytest.fixture
def room(rooms: type[Any]) -> Sample:
    sample: Sample = rooms(rooms.Options(), Context())[0]
    return sample


def changed(sample: Sample, kind: Perturbation, *names: str) -> tuple[Frame, ...]:
    found = perturbed_frames(
        sample, kind, key_boxes(sample, ()), generator(0, kind, *names)
    )
    assert found is not None
    return found


def pixels(frame: Frame) -> np.ndarray:
    return np.asarray(frame.load())


def test_things_are_moved_whole_and_nothing_else_is_touched(room: Sample) -> None:
    before, after = pixels(room.frames[0]), pixels(changed(room, "position")[0])
    for colour in ((230, 0, 0), (0, 0, 230)):
        old, new = ((p == colour).all(axis=2) for p in (before, after))
        assert new.sum() == old.sum() == 36
        assert (new != old).any()
    untouched = (before == 90).all(axis=2) & (after == 90).all(axis=2)
    assert untouched.mean() > 0.7


def test_a_thing_moves_by_a_share_of_its_room() -> None:
    image = Frame.from_array(np.zeros((20, 20, 3), np.uint8)).load()
    image.paste((255, 0, 0), (2, 3, 6, 7))
    cells = np.argwhere(
        np.asarray(move_boxes(image, (((2, 3, 6, 7), (0.5, 0.25)),)))[..., 0] == 255
    )
    assert cells.min(axis=0).tolist() == [7, 10]  # 3 + 16 / 4, 2 + 16 / 2
    assert cells.max(axis=0).tolist() == [10, 13]


def test_each_thing_goes_its_own_way(room: Sample) -> None:
    """So that what is said of two of them changes too; in all frames by the same way."""
    ways = set()
    for before, after, boxes in zip(
        room.frames, changed(room, "position"), boxes_of(room), strict=True
    ):
        for name, (x, y, *_) in boxes.items():
            there = (pixels(after) == pixels(before)[int(y), int(x)]).all(axis=2)
            down, across = np.argwhere(there).min(axis=0).tolist()
            ways.add((name, (across - x) % (32 - 6 + 1), (down - y) % (24 - 6 + 1)))
    assert len(ways) == 2
    assert len({way[1:] for way in ways}) == 2


def test_covering_takes_the_colour_of_the_picture() -> None:
    image = Frame.from_array(np.full((20, 20, 3), 40, np.uint8)).load()
    image.paste((255, 0, 0), (5, 5, 9, 9))
    assert (np.asarray(cover_boxes(image, ((5, 5, 9, 9),))) == 40).all()


def test_half_of_the_frames_lose_sight_of_the_things(
    room: Sample, side_seen: Seen
) -> None:
    hidden = [side_seen(frame) is None for frame in changed(room, "visibility")]
    assert sum(hidden) == len(room.frames) // 2


def test_order_changes_and_frames_stay(room: Sample) -> None:
    for draw in range(10):
        after = changed(room, "temporal", str(draw))
        assert [f.key for f in after] != [f.key for f in room.frames]
        assert {f.key for f in after} == {f.key for f in room.frames}


def test_frames_that_are_alike_have_no_order(room: Sample) -> None:
    still = room.static(0)
    assert perturbed_frames(still, "temporal", (), generator(0, "x")) is None
    assert (
        perturbed_frames(
            room.with_frames(room.frames[:1], "one"), "temporal", (), generator(0)
        )
        is None
    )


def test_the_control_leaves_every_thing_as_it_is(room: Sample, side_seen: Seen) -> None:
    for one, other, boxes in zip(
        room.frames, changed(room, "irrelevant"), boxes_of(room), strict=True
    ):
        before, after = pixels(one).astype(int), pixels(other).astype(int)
        inside = np.zeros(before.shape[:2], bool)
        for x0, y0, x1, y1 in boxes.values():
            inside[int(y0) : int(y1), int(x0) : int(x1)] = True
        assert (before[inside] == after[inside]).all()
        by = np.abs(before - after)[~inside]
        assert by.min() == by.max() > 0
        assert side_seen(one) == side_seen(other)


@pytest.mark.parametrize("kind", ["position", "visibility", "irrelevant"])
def test_without_a_scene_whole_pictures_change(
    room: Sample, kind: Perturbation
) -> None:
    bare = replace(room, annotations={})
    found = perturbed_frames(bare, kind, key_boxes(bare, ()), generator(0, kind))
    assert found is not None
    assert magnitudes(room.frames, [found])[0] > 0


def test_magnitude_is_the_mean_difference(room: Sample) -> None:
    black = tuple(Frame.from_array(np.zeros((8, 8, 3), np.uint8)) for _ in range(2))
    white = Frame.from_array(np.full((8, 8, 3), 255, np.uint8))
    assert magnitudes(black, [black, (black[0], white), (white, white)]) == [
        0.0,
        0.5,
        1.0,
    ]


def test_frames_travel_and_equal_changes_have_equal_keys(room: Sample) -> None:
    for kind in ("position", "visibility", "irrelevant"):
        one, again, other = (changed(room, kind, name) for name in ("a", "a", "b"))
        assert [f.key for f in one] == [f.key for f in again]
        assert [f.key for f in one] != [f.key for f in other]
        copy = pickle.loads(pickle.dumps(one[0]))
        assert (pixels(copy) == pixels(one[0])).all()


def test_key_objects_are_asked_about_or_claimed_else_all(room: Sample) -> None:
    things = room.annotations[SCENE][0].things
    assert named_things("Where is the red cup?", things) == {"red cup"}
    assert named_things("Where is the cup?", things) == {"red cup", "blue cup"}
    assert named_things("Is it cupboard day?", things) == set()
    claim = Claim(kind="entity", text="", subject="blue cup")
    red, open_ = (
        replace(room, question=text) for text in ("Is it the red cup?", "What is it?")
    )
    assert key_boxes(red, [])[0].keys() == {"red cup"}
    assert key_boxes(open_, [claim])[0].keys() == {"blue cup"}
    assert key_boxes(red, [claim])[0].keys() == {"red cup", "blue cup"}
    assert key_boxes(open_, [])[0].keys() == {"red cup", "blue cup"}


def test_a_thing_is_known_by_all_of_its_colours(room: Sample) -> None:
    first, *others = room.annotations[SCENE]
    cup = first.things[0].model_copy(update={"attributes": ("green",)})
    turned = (first.model_copy(update={"things": (cup, first.things[1])}), *others)
    sample = replace(
        room, question="Where is the green cup?", annotations={SCENE: turned}
    )
    assert [boxes.keys() for boxes in key_boxes(sample, ())] == [{"red cup"}] * len(
        turned
    )
