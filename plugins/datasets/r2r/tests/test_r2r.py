"""The authors' layout becomes walks with every turn told; mistakes are one line."""

import json
from math import cos, pi, radians, sin
from pathlib import Path
from typing import Any

import pytest
from media_files import MediaFile

from cuescope_r2r import R2R
from cuescope_r2r.samples import Step, picture_of, walk
from cuescope_sdk import HasBenchmark
from cuescope_sdk.grounding import SCENE, TIMES
from cuescope_testing import LayoutContract, Mistake

# North, then east, then up some stairs to the east; d cannot be stood on.
PLACES = {
    "a": (0, 0, 1.5),
    "b": (0, 2, 1.5),
    "c": (3, 2, 1.6),
    "e": (5, 2, 3.0),
    "d": (9, 9, 1.5),
}


def viewpoint(name: str, **changes: Any) -> dict[str, Any]:
    x, y, z = PLACES[name]
    near = {"ab", "ba", "bc", "cb", "ce", "ec"}
    return {
        "image_id": name,
        "pose": [1, 0, 0, x, 0, 1, 0, y, 0, 0, 1, z, 0, 0, 0, 1],
        "included": name != "d",
        "visible": [False] * 5,
        "unobstructed": [name + other in near for other in PLACES],
        "height": 1.5,
        **changes,
    }


def row(number: int, scan: str, path: str = "abce", **changes: Any) -> dict[str, Any]:
    return {
        "distance": 7.4,
        "scan": scan,
        "path_id": number,
        "path": list(path),
        "heading": pi,
        "instructions": ["Turn around and walk.", "Go east up the stairs."],
        **changes,
    }


SPLITS = {
    "train": [row(1, "houseA")],
    "val_seen": [row(2, "houseA"), row(3, "houseA", "cb", heading=-pi / 2)],
    "val_unseen": [row(4, "houseB")],
    "test": [row(5, "houseB", "a")],
}
SEEN, HOUSE = "data/R2R_val_seen.json", "connectivity/houseA_connectivity.json"


class TestR2R(LayoutContract):
    plugin = R2R
    split_names = ("train", "val_seen", "val_unseen", "test")
    other_options = {"split": "ood"}
    mistakes = (
        Mistake(SEEN, None, "no R2R_val_seen.json"),
        Mistake(
            SEEN,
            json.dumps([row(2, "houseA", "")]),
            "R2R_val_seen.json entry 1 'path': ",
        ),
        Mistake(
            SEEN,
            json.dumps([row(2, "houseC")]),
            "no houseC_connectivity.json: expected",
        ),
        Mistake(
            SEEN,
            json.dumps([row(2, "houseA", "abd")]),
            "R2R_val_seen.json path 2: no viewpoint 'd' in house houseA",
        ),
        Mistake(
            SEEN,
            json.dumps([row(2, "houseA", "ac")]),
            "path 2: expected viewpoints that one can walk between, got a, then c",
        ),
        Mistake(
            HOUSE,
            json.dumps([viewpoint("a", pose=[1.0])]),
            "houseA_connectivity.json entry 1 'pose'",
        ),
        Mistake(
            HOUSE,
            json.dumps([viewpoint("a", pose=[1e308] * 16)]),
            "houseA_connectivity.json entry 1 'pose",
        ),
        Mistake(
            SEEN,
            json.dumps([{**row(2, "houseA"), "heading": 1e308}]),
            "R2R_val_seen.json entry 1 'heading'",
        ),
        Mistake(
            "data/R2R_train.json",
            json.dumps([row(1, "houseB")]),
            "R2R_val_unseen.json: expected no house of R2R_train.json, got 1 of them: houseB",
            {"split": "val_unseen"},
        ),
        Mistake("", None, "no split 'val': expected one of train", {"split": "val"}),
    )

    @classmethod
    def written(cls, root: Path) -> None:
        """The question files, the simulator's graphs, and a picture of each viewpoint."""
        for folder in ("data", "connectivity"):
            (root / folder).mkdir()
        for split, rows in SPLITS.items():
            (root / "data" / f"R2R_{split}.json").write_text(json.dumps(rows))
        for scan in ("houseA", "houseB"):
            graph = root / "connectivity" / f"{scan}_connectivity.json"
            graph.write_text(json.dumps([viewpoint(name) for name in PLACES]))
            for name in "abce":
                MediaFile.image(root / "images" / scan / f"{name}.jpg")

    def test_it_says_which_benchmark_it_is(self):
        data = self.open()
        assert isinstance(data, HasBenchmark)
        assert data.benchmark == "R2R"

    def test_an_instruction_is_a_walk(self):
        data = self.open()
        assert [sample.key for sample in data] == ["2_0", "2_1", "3_0", "3_1"]
        assert {sample.group for sample in data} == {"houseA"}
        sample = data[0]
        assert sample.question == "Turn around and walk."
        known = sample.annotations
        assert known["viewpoints"] == ("a", "a", "b", "b", "c", "e", "e")
        assert known["headings"] == (180, 0, 0, 90, 90, 90, 90)
        scene = sample.annotations[SCENE]
        assert [frame.motion for frame in scene] == [
            None,
            "turn around",
            "move forward",
            "turn right",
            "move forward",
            "go up",
            "stop",
        ]
        assert ["motion" in frame.closed for frame in scene] == [True] * 5 + [
            False,
            True,
        ]
        assert sample.annotations[TIMES] == (0, 1, 2, 3, 4, 5, 6)
        assert (known["scan"], known["distance"]) == ("houseA", 7.4)
        assert len({frame.key for frame in sample.frames}) == 4
        assert [frame.motion for frame in data[2].annotations[SCENE]] == [
            None,
            "move forward",
            "stop",
        ]

    def test_unseen_houses_were_not_trained_on(self):
        unseen = self.open(split="ood")
        assert unseen.facts["houses"] == "1, none of them among the 1 of R2R_train.json"
        assert [s.key for s in unseen] == [s.key for s in self.open(split="val_unseen")]
        assert self.open(split="iid").facts["houses"] == "1"
        with self.copy() as root:
            (root / "data/R2R_train.json").unlink()
            assert (
                "may be in training too" in self.open(root, split="ood").facts["houses"]
            )

    def test_the_test_split_has_only_starts(self):
        sample = self.open(split="test")[0]
        assert sample.annotations["viewpoints"] == ("a",)
        assert [frame.motion for frame in sample.annotations[SCENE]] == [None]

    def test_walks_without_all_pictures_are_left_out_and_said(self):
        with self.copy() as root:
            (root / "images/houseA/e.jpg").unlink()
            assert self.open(root).facts["left out"] == (
                "2 of 4 samples (at most 50% may be): 2 samples with a missing file (2_0, 2_1)"
            )

    def test_a_view_is_shown_before_a_whole_viewpoint(self):
        with self.copy() as root:
            images = root / "images"
            (images / "houseA/b.jpg").unlink()
            view = MediaFile.image(images / "houseA/b/15.png")
            assert picture_of(images, "houseA", Step("b", 91)) == view
            skybox = MediaFile.image(
                images / "houseA/matterport_skybox_images/b_skybox_small.jpg"
            )
            assert picture_of(images, "houseA", Step("b", 0)) == skybox
            assert (
                picture_of(images, "houseA", Step("z", 0)) == images / "houseA/z/12.jpg"
            )


@pytest.mark.parametrize("before", range(0, 360, 40))
@pytest.mark.parametrize(
    ("change", "motion"),
    [
        (10, None),
        (30, "turn right"),
        (120, "turn right"),
        (170, "turn around"),
        (-170, "turn around"),
        (-90, "turn left"),
        (-14, None),
    ],
)
def test_turns_are_told_whichever_way_one_looks(before, change, motion):
    after = radians(before + change)
    places = {"here": (0.0, 0.0, 0.0), "there": (2 * sin(after), 2 * cos(after), 0.0)}
    motions = [step.motion for step in walk(["here", "there"], places, before)]
    assert motions == [None, *([motion] if motion else []), "move forward", "stop"]


def test_a_viewpoint_straight_above_is_no_turn():
    steps = walk("ab", {"a": (0, 0, 0), "b": (0, 0, -2)}, 77)
    assert [(step.motion, step.heading) for step in steps] == [
        (None, 77),
        ("go down", 77),
        ("stop", 77),
    ]


@pytest.mark.parametrize(
    ("heading", "view"), [(0, 12), (30, 13), (-30, 23), (359, 12), (720, 12)]
)
def test_level_views_are_numbered_as_the_simulator_does(heading, view):
    assert Step("a", heading).view == view
