"""What is annotated is what the pixels show, exactly."""

from collections import Counter
from collections.abc import Callable

import numpy as np
import pytest

from cuescope_sdk import Context, Sample, UserError
from cuescope_sdk.grounding import RELATIONS, SCENE, TIMES, SceneFrame
from cuescope_shape_world import ShapeWorld, ShapeWorldOptions
from cuescope_shape_world.detector import view
from cuescope_shape_world.pictures import BLOCK, HORIZON
from cuescope_shape_world.questions import all_shapes, phrase
from cuescope_shape_world.tracking import track
from cuescope_shape_world.words import COLOURS, HELD_OUT

Drawn = Callable[..., tuple[Sample, ...]]
SPLITS = ("train", "val", "test", "ood")


def told(frame: SceneFrame) -> tuple[object, ...]:
    """What a frame shows, whatever the ids."""
    names = {thing.id: phrase(thing) for thing in frame.things}
    return (
        sorted((phrase(thing), thing.box) for thing in frame.things if thing.visible),
        sorted((names[action.subject], action.verb) for action in frame.actions),
        frame.motion,
    )


@pytest.mark.parametrize("split", ["val", "ood"])
def test_pixels_tell_all_that_is_annotated_but_what_is_hidden(
    drawn: Drawn, split: str
) -> None:
    for sample in drawn(split):
        seen = track([view(frame) for frame in sample.frames])
        assert list(map(told, seen)) == list(map(told, sample.annotations[SCENE])), (
            sample.key
        )


def test_everything_happens(drawn: Drawn) -> None:
    scenes = [frame for sample in drawn() for frame in sample.annotations[SCENE]]
    verbs = Counter(action.verb for frame in scenes for action in frame.actions)
    ways = ("left", "right", "up", "down")
    assert min(verbs[f"move {way}"] for way in ways) > 20
    assert min(verbs["appear"], verbs["disappear"]) > 20
    assert {f"turn {colour}" for colour in COLOURS} <= verbs.keys()
    assert {frame.motion for frame in scenes} == {None, "turn left", "turn right"}
    assert sum(not thing.visible for frame in scenes for thing in frame.things) > 10


def test_what_is_hidden_lies_under_a_wall(drawn: Drawn) -> None:
    for frame in (frame for sample in drawn() for frame in sample.annotations[SCENE]):
        walls = [thing for thing in frame.things if thing.name == "wall"]
        for thing in (thing for thing in frame.things if not thing.visible):
            behind = {
                (r.subject, r.object)
                for r in frame.relations
                if r.predicate == "behind"
            }
            assert [
                RELATIONS["inside"].holds(thing.box, wall.box) for wall in walls
            ] == [True]
            assert (thing.id, walls[0].id) in behind


def test_a_turn_scrolls_the_skyline(drawn: Drawn) -> None:
    turned = Counter()
    for sample in drawn():
        tops = [np.asarray(frame.load())[:HORIZON] for frame in sample.frames]
        for at in range(1, len(tops)):
            before, now, motion = (
                tops[at - 1],
                tops[at],
                sample.annotations[SCENE][at].motion,
            )
            left, right = (
                (before[:, :-BLOCK], now[:, BLOCK:]),
                (before[:, BLOCK:], now[:, :-BLOCK]),
            )
            same = {None: (before, now), "turn left": left, "turn right": right}[motion]
            np.testing.assert_array_equal(*same)
            turned[motion] += 1
    assert min(turned.values()) > 50


def test_relations_are_those_of_the_boxes(drawn: Drawn) -> None:
    for frame in drawn()[5].annotations[SCENE]:
        seen = [thing for thing in frame.things if thing.visible]
        expected = {
            (one.id, name, other.id)
            for one in seen
            for other in seen
            for name, relation in RELATIONS.items()
            if one is not other
            and not relation.in_depth
            and relation.holds(one.box, other.box)
        }
        flat = {(r.subject, r.predicate, r.object) for r in frame.relations}
        assert {one for one in flat if not RELATIONS[one[1]].in_depth} == expected
        assert frame.closed == {
            "things",
            "attributes",
            "relations",
            "actions",
            "motion",
        }


def test_a_phrase_means_one_thing(drawn: Drawn) -> None:
    for sample in drawn():
        owners = {
            (phrase(t), t.id)
            for frame in sample.annotations[SCENE]
            for t in frame.things
        }
        assert len({name for name, _ in owners}) == len(owners)


def test_every_channel_is_pure(drawn: Drawn) -> None:
    for sample in drawn()[:10]:
        for frame in sample.frames:
            assert set(np.unique(np.asarray(frame.load()))) <= {0, 128, 255}


def test_frames_are_half_a_second_apart(drawn: Drawn) -> None:
    for sample in (drawn()[0], drawn("ood")[0]):
        times = sample.annotations[TIMES]
        assert times == tuple(at / 2 for at in range(len(sample.frames)))
    assert (len(drawn()[0].frames), len(drawn("ood")[0].frames)) == (16, 24)


def test_splits_share_no_video_and_ood_alone_has_the_held_out_shapes(
    drawn: Drawn,
) -> None:
    videos = {
        split: {tuple(frame.key for frame in sample.frames) for sample in drawn(split)}
        for split in SPLITS
    }
    assert len(set.union(*videos.values())) == 4 * 40
    assert len({sample.group for split in SPLITS for sample in drawn(split)}) == 4 * 40
    held = {split: [held_out_in(sample) for sample in drawn(split)] for split in SPLITS}
    assert not any(map(any, (held[split] for split in SPLITS[:3])))
    assert min(map(len, held["ood"])) >= 2
    assert set.union(*held["ood"]) == HELD_OUT


def held_out_in(sample: Sample) -> set[str]:
    return all_shapes(sample.annotations[SCENE]) & HELD_OUT


def test_split_keeps_every_other_option() -> None:
    data = ShapeWorld(ShapeWorldOptions(val=3, ood=2, seed=4), Context())
    ood = data.split("ood")
    assert (len(data), len(ood), ood.options.seed, ood.options.length) == (3, 2, 4, 24)
    assert ood[0].key == "ood-00000"
    with pytest.raises(UserError, match=r"got 'odd'\. Did you mean 'ood'\?"):
        data.split("odd")


def test_longer_videos_can_be_had() -> None:
    sample = ShapeWorld(ShapeWorldOptions(frames=40), Context())[0]
    motions = [frame.motion for frame in sample.annotations[SCENE]]
    assert len(sample.frames) == len(motions) == 40
    assert sum(motion is not None for motion in motions) == 5 * 3
