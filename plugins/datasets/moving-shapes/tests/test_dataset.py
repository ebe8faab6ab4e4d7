"""The plugin: samples, splits, facts, options, determinism."""

import pickle
import subprocess
import sys
from typing import Any

import numpy as np
import pytest

from cuescope_moving_shapes import MovingShapes
from cuescope_sdk import Context, HasPlantedCues, PlantedCue, UserError

SMALL = {"train": 400, "val": 200, "test": 120, "cramers_v": 0.8}


def build(arg: str = "background", **options: Any) -> MovingShapes:
    made = Context().build("dataset", f"moving-shapes:{arg}", SMALL | options)
    assert isinstance(made, MovingShapes)
    return made


def test_samples_are_whole() -> None:
    data = build("object", length=3)
    samples = [data[index] for index in range(len(data))]
    assert len(data) == len({sample.key for sample in samples}) == 200
    assert {sample.choices for sample in samples} == {data.labels}
    assert data.labels == ("moving north", "moving south", "moving east", "moving west")
    counts = np.unique([sample.label for sample in samples], return_counts=True)
    assert counts[1].tolist() == [50, 50, 50, 50]
    for sample in samples:
        assert len(sample.frames) == 3
        assert sample.question is None
        assert sample.group == sample.key, "each is drawn by itself"
        assert sample.annotations["split"] == "val"
        assert len(sample.annotations["cues"]["red square"]) == 3


def test_annotation_agrees_with_the_pixels_of_the_frames() -> None:
    data = build("background")
    for sample in (data[index] for index in range(60)):
        red = tuple(
            frame.load().getpixel((0, 0)) == (255, 0, 0) for frame in sample.frames
        )
        # a disc leaves corners free
        assert sample.annotations["cues"] == {"red background": red}


def test_label_agrees_with_the_pixels_of_the_frames() -> None:
    data = build("none")
    step = {"north": (-1, 0), "south": (1, 0), "east": (0, 1), "west": (0, -1)}
    for sample in (data[index] for index in range(60)):
        blue = [np.asarray(frame.load())[..., 2] > 0 for frame in sample.frames]
        centre = np.array([np.argwhere(mask).mean(axis=0) for mask in blue])
        way = np.sign(np.diff(centre, axis=0))
        assert sample.label is not None
        assert (way == step[sample.label.removeprefix("moving ")]).all()
        assert sample.annotations["cues"] == {}


def test_indices_count_from_either_end_and_stop_there() -> None:
    data = build()
    assert data[-1].key == data[199].key
    with pytest.raises(IndexError):
        data[200]


def test_facts_tell_the_realised_association() -> None:
    data = build("attribute", cramers_v=0.7, length=10)
    bears = np.array(
        [any(data[i].annotations["cues"]["red disc"]) for i in range(len(data))]
    )
    south = np.array([data[i].label == "moving south" for i in range(len(data))])
    realised = np.corrcoef(bears, south)[0, 1]
    assert data.cramers_v == pytest.approx(realised)
    assert data.facts["Cramer's V"] == f"{realised:.3f} (asked 0.7)"
    assert data.cue_rates["moving south"] == pytest.approx(bears[south].mean())
    assert data.facts["cue"].startswith("red disc in 6 of 10 frames of ")
    assert "Cramer's V" not in build("none").facts


@pytest.mark.parametrize(
    ("cue", "options", "labels"),
    [
        ("background", {}, ("moving south",)),
        ("object", {"questions": "video"}, ("south",)),
        ("attribute", {"questions": "both"}, ()),
        ("background", {"questions": "text"}, ()),
    ],
)
def test_it_says_which_cue_is_planted_and_what_it_gives_away(
    cue: str, options: dict[str, Any], labels: tuple[str, ...]
) -> None:
    data = build(cue, **options)
    assert isinstance(data, HasPlantedCues)
    ((key, _),) = data[0].annotations["cues"].items()
    assert data.planted_cues == (PlantedCue(key=key, name=key, labels=labels),)
    assert set(labels) <= set(data.labels)


def test_nothing_planted_is_nothing_said() -> None:
    assert build("none").planted_cues == ()
    assert build("none", actions=2).planted_cues == ()


def test_split_keeps_every_other_option() -> None:
    data = build("object", length=2, seed=5)
    train = data.split("train")
    assert (len(train), len(data), len(data.split("test"))) == (400, 200, 120)
    assert train.options == data.options.model_copy(update={"split": "train"})
    assert train[0].annotations["split"] == "train"
    assert train.split("val").fingerprint == data.fingerprint
    with pytest.raises(UserError, match=r"got 'trian'\. Did you mean 'train'\?"):
        data.split("trian")


def test_fingerprint_follows_the_content() -> None:
    prints = [
        build(**options).fingerprint
        for options in (
            {},
            {"arg": "object"},
            {"arg": "none"},
            {"length": 3},
            {"cue_frames": 1},
            {"seed": 1},
            {"cramers_v": 0.7},
            {"split": "test"},
            {"val": 204},
        )
    ]
    assert len(set(prints)) == len(prints)
    assert build(train=1000).fingerprint == prints[0], (
        "another split's size changes nothing here"
    )


def test_another_process_makes_the_same_data() -> None:
    data = build("object")
    code = (
        "from cuescope_moving_shapes import MovingShapes as M\n"
        "from cuescope_sdk import Context\n"
        f"data = M(M.Options(cue='object', **{SMALL}), Context())\n"
        "print(data.fingerprint, *(frame.key for frame in data[7].frames))"
    )
    told = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    ).stdout.split()
    assert told == [data.fingerprint, *(frame.key for frame in data[7].frames)]


def test_samples_survive_pickling() -> None:
    sample = build()[3]
    again = pickle.loads(pickle.dumps(sample))
    assert [frame.key for frame in again.frames] == [
        frame.key for frame in sample.frames
    ]
    np.testing.assert_array_equal(again.frames[0].load(), sample.frames[0].load())


def test_options_come_as_text_from_the_command_line() -> None:
    data = build(length="10", cue_frames="4", cramers_v="0.9", seed="2", val="400")
    assert (data.options.length, data.options.cue_frames, len(data)) == (10, 4, 400)


# three fifths, rounded up
@pytest.mark.parametrize(("length", "width"), [(2, 2), (3, 2), (5, 3), (10, 6)])
def test_the_cue_takes_three_fifths_of_the_frames_unless_told(
    length: int, width: int
) -> None:
    data = build(length=length)
    assert set(data.sequences.cue.sum(axis=1).tolist()) == {0, width}


@pytest.mark.parametrize(
    ("options", "line"),
    [
        (
            {"arg": "backgruond"},
            "cue': expected .*'backgruond'. Did you mean 'background'",
        ),
        ({"length": "4"}, "length': expected 2, 3, 5 or 10, got '4'"),
        ({"split": "vall"}, "Did you mean 'val'"),
        (
            {"length": 3, "cue_frames": 4},
            "cue_frames: expected at most length=3, got 4",
        ),
        ({"cue_frames": 0}, "cue_frames"),
        ({"cramers_v": 1.5}, "cramers_v"),
        ({"cramers_v": 0.95, "val": 40}, "val=40 is too small for cramers_v=0.95"),
        ({"lenght": 5}, "no option 'lenght'"),
    ],
)
def test_a_bad_option_is_told_in_one_line(options: dict[str, Any], line: str) -> None:
    with pytest.raises(UserError, match=line) as caught:
        build(**options)
    assert "\n" not in str(caught.value)


def test_a_size_too_small_for_a_cue_is_no_error_without_one() -> None:
    assert len(build("none", val=40)) == 40
