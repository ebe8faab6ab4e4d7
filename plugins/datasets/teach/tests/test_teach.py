"""The authors' layout becomes games with actions and motions; recipes held out are not shared."""

import json
from pathlib import Path
from typing import Any

import pytest
from media_files import MediaFile

from cuescope_sdk import HasBenchmark
from cuescope_sdk.grounding import SCENE, TIMES
from cuescope_teach import TEACh
from cuescope_teach.layout import Moment, Task
from cuescope_teach.samples import choose_moments, motion_of, name_of
from cuescope_testing import LayoutContract, Mistake

MUG, SINK = "Mug|-01.2|+00.9|+03.0", "Sink|+00.1|+00.9|+01.0|SinkBasin"
DONE = [
    ("Forward", None),
    ("Forward", None),
    ("Turn Left", None),
    ("Turn Left", None),
    ("Pickup", MUG),
    ("Pickup", None),
    ("Look Down", None),
    ("Place", SINK),
    ("ToggleOn", SINK),
]
HISTORY = 5


def seconds(number: int) -> float:
    return 10 + number / 2


def instance(game: str, **changes: Any) -> dict[str, Any]:
    """Two steps, half a turn, a mug is picked up (and once more in vain), put down, rinsed."""
    actions = [
        {
            "action_id": 2,
            "action_idx": 2,
            "obj_interaction_action": int(oid is not None),
            "action_name": name,
            "time_start": seconds(number),
            "oid": oid,
            "x": None,
            "y": None,
        }
        for number, (name, oid) in enumerate(DONE)
    ]
    pictures = [f"driver.frame.{seconds(number)}.jpeg" for number in range(len(DONE))]
    return {
        "game_id": game,
        "instance_id": f"{game}.edh0",
        "dialog_history": [["Driver", "hi"], ["Commander", "rinse teh mug"]],
        "dialog_history_cleaned": [["Driver", "Hi."], ["Commander", "Rinse the mug."]],
        "driver_action_history": actions[:HISTORY],
        "driver_image_history": pictures[:HISTORY],
        "driver_actions_future": actions[HISTORY:],
        "driver_images_future": pictures[HISTORY:],
        "pred_start_idx": 7,
        "interactions": [
            {"agent_id": 0, "action_id": 100, "time_start": seconds(0), "success": 0},
            {"agent_id": 1, "action_id": 200, "time_start": seconds(5), "success": 0},
            {"agent_id": 1, "action_id": 201, "time_start": seconds(7), "success": 1},
        ],
        **changes,
    }


def task(name: str, *parts: str) -> dict[str, Any]:
    return {
        "task_id": 1,
        "task_name": name,
        "components": {
            "thing": {"determiner": "a", "conditions": {}},
            **{
                part: {"determiner": "a", "task_name": part, "task": task(part)}
                for part in parts
            },
        },
        "episodes": [{"episode_id": "x", "interactions": []}],
    }


TASKS = {
    "aaa_1": task("Coffee"),
    "bbb_2": task("Breakfast", "Coffee", "Toast"),
    "ccc_3": task("Toast"),
    "ddd_4": task("Water Plant"),
    "eee_5": task("Boil X"),
}
SPLITS = {"train": ["fff_6"], "valid_seen": list(TASKS), "valid_unseen": ["ggg_7"]}
EDH, GAME = (
    "edh_instances/valid_seen/aaa_1.edh0.json",
    "games/valid_seen/bbb_2.game.json",
)


class TestTEACh(LayoutContract):
    plugin = TEACh
    options = {"held_tasks": ["Breakfast"]}
    other_options = {"frames": 3}
    split_names = ("train", "valid_seen", "valid_unseen")
    mistakes = (
        Mistake(
            "",
            None,
            "no folder edh_instances/test_seen: expected it in",
            {"split": "test_seen"},
        ),
        Mistake(
            "",
            None,
            "no folder tfd_instances/train: expected it in",
            {"split": "train", "instances": "tfd"},
        ),
        Mistake("", None, "no split 'val_seen'", {"split": "val_seen"}),
        Mistake(EDH, "{", "aaa_1.edh0.json is no JSON"),
        Mistake(
            EDH,
            json.dumps({"game_id": "aaa_1"}),
            "aaa_1.edh0.json 'dialog_history': expected a value, got none",
        ),
        Mistake(
            EDH,
            json.dumps(instance("aaa_1", driver_images_future=[])),
            "edh0.json: expected as many driver_images_future as driver_actions_future, "
            "got 0 and 4",
        ),
        Mistake(
            EDH,
            json.dumps(
                instance(
                    "aaa_1",
                    driver_action_history=instance("a")["driver_action_history"][::-1],
                )
            ),
            "expected actions in the order of their time_st",
        ),
        Mistake(
            GAME, '{"tasks": []}', "bbb_2.game.json: expected a task", {"split": "ood"}
        ),
        Mistake(
            GAME,
            '{"tasks": [{}]}',
            "bbb_2.game.json 'tasks' entry 1 'task_name'",
            {"split": "ood"},
        ),
        Mistake(
            "", None, "no task 'Breakfst'", {"split": "ood", "held_tasks": ["Breakfst"]}
        ),
        Mistake(
            "",
            None,
            "Did you mean 'Breakfast'?",
            {"split": "ood", "held_tasks": ["Breakfst"]},
        ),
    )

    @classmethod
    def written(cls, root: Path) -> None:
        """What `teach_download` unpacks: instances, games, and the driver's pictures."""
        for split, games in SPLITS.items():
            for folder in ("edh_instances", "games"):
                (root / folder / split).mkdir(parents=True)
            for game in games:
                file = root / "edh_instances" / split / f"{game}.edh0.json"
                file.write_text(json.dumps(instance(game)))
                played = {"version": "2.0", "tasks": [TASKS.get(game, task("Coffee"))]}
                (root / "games" / split / f"{game}.game.json").write_text(
                    json.dumps(played)
                )
                for picture in (
                    *instance(game)["driver_image_history"],
                    *instance(game)["driver_images_future"],
                ):
                    MediaFile.image(root / "images" / split / game / picture)

    def test_it_says_which_benchmark_it_is(self):
        data = self.open()
        assert isinstance(data, HasBenchmark)
        assert data.benchmark == "TEACh"

    def test_an_instance_is_a_game_with_its_dialogue(self):
        data = self.open()
        assert [sample.key for sample in data] == [f"{game}.edh0" for game in TASKS]
        assert [sample.group for sample in data] == list(TASKS)
        sample = data[0]
        assert sample.question == "Driver: Hi.\nCommander: Rinse the mug."
        assert (sample.label, sample.annotations["game"]) == (None, "aaa_1")
        # One frame for the two steps, one for the two turns; the failed pickup has none.
        assert sample.annotations[TIMES] == (10, 11, 12, 13, 13.5, 14)
        assert len(sample.frames) == 6

    def test_actions_and_motions_are_told_where_they_are_seen(self):
        scene = self.open()[0].annotations[SCENE]
        assert [frame.motion for frame in scene] == [
            None,
            "move forward",
            "turn around",
            None,
            "look down",
            None,
        ]
        assert all(frame.closed == {"motion"} for frame in scene)
        did = [
            {(action.verb, action.object) for action in frame.actions}
            for frame in scene
        ]
        taken, put = {("pick up", MUG), ("take", MUG)}, {("place", MUG), ("put", MUG)}
        held = {("hold", MUG), ("carry", MUG)}
        assert did[:2] == [set(), set()]
        assert did[2] == taken
        assert did[3] == taken | held
        assert put | held <= did[4]
        assert not did[4] & {("turn on", SINK)}
        assert put | {("turn on", SINK)} <= did[5]
        assert not did[5] & held
        names = [
            {(thing.name, thing.visible) for thing in frame.things} for frame in scene
        ]
        assert names[0] == {("agent", False)}
        assert names[2] == {("agent", False), ("mug", True)}
        assert names[4] == {("agent", False), ("mug", True), ("sink", True)}

    def test_fewer_frames_tell_less_of_the_motion(self):
        sample = self.open(frames=2)[0]
        assert sample.annotations[TIMES] == (11, 13.5)
        first, second = sample.annotations[SCENE]
        assert (second.motion, second.closed) == (None, frozenset())
        assert ("pick up", MUG) in {
            (action.verb, action.object) for action in first.actions
        }

    def test_the_instances_of_a_game_are_a_group_and_stay_together(self):
        with self.copy() as root:
            first = root / EDH
            again = first.with_name(first.name.replace("edh0", "edh1"))
            again.write_text(first.read_text())
            whole = self.open(root)
            parts = [
                {s.group for s in self.open(root, split=name)}
                for name in ("iid", "ood")
            ]
        assert [sample.group for sample in whole][:3] == ["aaa_1", "aaa_1", "bbb_2"]
        assert not set.intersection(*parts)

    def test_no_recipe_is_in_and_out(self):
        inside, outside = self.open(split="iid"), self.open(split="ood")
        assert [sample.annotations["task"] for sample in outside] == ["Breakfast"]
        assert [sample.annotations["task"] for sample in inside] == [
            "Water Plant",
            "Boil X",
        ]
        assert outside.facts["held out"] == "tasks Breakfast"
        assert "2 are in, 1 out of it, and 2 neither" in outside.facts["distribution"]
        drawn = self.open(split="ood", held_tasks=None).facts["held out"]
        assert drawn.count(",") == 2

    def test_whole_games_are_read_too(self):
        with self.copy() as root:
            place = root / "tfd_instances" / "valid_seen"
            place.mkdir(parents=True)
            whole = instance("aaa_1")
            for key in ("action_history", "image_history"):
                future = (
                    "driver_actions_future"
                    if "action" in key
                    else "driver_images_future"
                )
                whole[future] = whole.pop(f"driver_{key}") + whole[future]
            (place / "aaa_1.tfd.json").write_text(json.dumps(whole))
            data = self.open(root, instances="tfd")
            assert [sample.key for sample in data] == ["aaa_1.tfd"]
            assert data[0].annotations[SCENE] == self.open()[0].annotations[SCENE]

    def test_games_without_all_pictures_are_left_out_and_said(self):
        with self.copy() as root:
            (root / "images/valid_seen/ccc_3/driver.frame.11.0.jpeg").unlink()
            assert self.open(root).facts["left out"] == (
                "1 of 5 samples (at most 50% may be): 1 sample with a missing file (ccc_3.edh0)"
            )


@pytest.mark.parametrize(
    ("oid", "name"),
    [
        (MUG, "mug"),
        ("CoffeeTable|-02.4|+00.0|-02.4", "coffee table"),
        ("TVStand|1|2|3", "tv stand"),
        ("CounterTop|1|2|3", "countertop"),
        ("Bread|1|2|3|BreadSliced_1", "bread"),
    ],
)
def test_ids_name_things(oid, name):
    assert name_of(oid) == name


@pytest.mark.parametrize(
    ("actions", "told"),
    [
        ((), (None, True)),
        (("Forward", "Open", "Forward"), ("move forward", True)),
        (("Turn Left", "Turn Left"), ("turn around", True)),
        (("Turn Left", "Turn Right"), (None, True)),
        (("Turn Left",) * 3, ("turn right", True)),
        (("Forward", "Turn Left"), (None, False)),
        (("Pan Left",), ("move left", True)),
    ],
)
def test_motion_is_told_where_there_is_one_kind(actions, told):
    assert motion_of([Moment("", 0, action) for action in actions]) == told


def test_recipes_are_found_in_parts_of_parts():
    nested = task("Breakfast", "Sandwich")
    nested["components"]["Sandwich"]["task"] = task("Sandwich", "Toast")
    assert Task.model_validate(nested).recipes == {"Breakfast", "Sandwich", "Toast"}


def test_a_single_moment_is_shown_once():
    assert choose_moments([Moment("", 0, "Forward")], 8) == (0,)
