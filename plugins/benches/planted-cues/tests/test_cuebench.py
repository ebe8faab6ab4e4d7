"""The rule that tells a plant, what a file of findings may say, and what is painted."""

import json
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from cuescope_planted_cues.auditors import SHEET
from cuescope_planted_cues.matching import Sheet, is_planted
from cuescope_planted_cues.planted.painting import NAMES, Kind, paint
from cuescope_planted_cues.tables import Result, auroc_of_cases, precision, promises
from cuescope_planted_cues.worlds import Role
from cuescope_planted_cues.zoo import zoo
from cuescope_sdk import Context, Feature, Frame, Occurrence, UserError

# a question is no picture
PAINTED: list[Kind] = [kind for kind in NAMES if kind != "question"]
NORTH, SOUTH = range(50), range(50, 100)


def sheet() -> Sheet:
    """Clips of two frames. 80% of the north show the mark in the second one, 20% of the south."""
    shows = {n: n % 5 != 0 if n in NORTH else n % 5 == 0 for n in range(100)}
    return Sheet(
        {f"s{n}": {"mark": (False, shows[n])} for n in range(100)},
        {f"s{n}": "north" if n in NORTH else "south" for n in range(100)},
        {"mark": "magenta mark", "table for cup": "table"},
    )


def feature(numbers: Any, frame: int | None = 1, **changes: Any) -> Feature:
    met = tuple(Occurrence(sample=f"s{n}", frame=frame) for n in numbers)
    return Feature(
        **{"key": "cluster-1", "kind": "cluster", "occurrences": met} | changes
    )


@pytest.mark.parametrize(
    ("found", "planted"),
    [
        (feature(n for n in range(100) if (n in NORTH) == (n % 5 != 0)), True),
        (
            feature(NORTH),
            False,
        ),  # it follows the label: 80% of it show the mark, as chance gives
        (feature(range(50, 90, 5)), True),  # the mark in the south alone
        (
            feature((n for n in SOUTH if n % 5 == 0), frame=0),
            False,
        ),  # the mark's clips, other frame
        (feature((n for n in SOUTH if n % 5 == 0), frame=None), True),
        (feature([*range(50, 70, 5)] * 2), False),  # four occurrences, each twice
        (feature((f"{n}/static-1" for n in range(50, 90, 5)), frame=0), False),
        (feature(f"{n}/static-1" for n in range(50, 90, 5)), True),
    ],
)
def test_a_feature_is_the_plant_by_where_it_occurs_beyond_its_labels(
    found: Feature, planted: bool
) -> None:
    assert is_planted(found, "mark", sheet()) is planted


@pytest.mark.parametrize(
    ("key", "kind", "cue", "planted"),
    [
        ("thing/table", "thing", "table for cup", True),
        ("thing/road", "thing", "table for cup", False),
        ("without question", "modality", "question", True),
        ("without video", "modality", "question", False),
        ("without video", "modality", "mark", True),
    ],
)
def test_a_feature_that_names_something_is_the_plant_of_that_name(
    key: str, kind: str, cue: str, planted: bool
) -> None:
    assert is_planted(Feature(key=key, kind=kind), cue, sheet()) is planted


def test_of_two_painted_cues_it_is_the_one_that_it_shows_more_of() -> None:
    """All of its six clips show the text, and five of them the mark."""
    both = sheet()
    shown = {
        key: {**cues, "text": (False, n % 2 == 0)}
        for n, (key, cues) in enumerate(both.shown.items())
    }
    two = replace(both, shown=shown, names={**both.names, "text": "overlaid text"})
    found = feature([50, 52, 60, 70, 80, 90])
    assert is_planted(found, "text", two)
    assert is_planted(found, "mark", both)
    assert not is_planted(found, "mark", two)


def test_cues_side_by_side_are_drawn_as_one_is_hidden() -> None:
    options = {
        "world_options": {"val": 400, "length": 2},
        "cues": {"moving north": "mark", "moving south": "text"},
        "rates": {"mark": (0.9, 0.3)},
        "beside": {"text": "mark"},
        "together": 0.8,
    }

    def shown(**more: Any) -> dict[str, np.ndarray]:
        data: Any = Context().build(
            "dataset", "planted:moving-shapes:none", {**options, **more}
        )
        sheets = [data[n].annotations["cues"] for n in range(len(data))]
        north = np.array([data[n].label == "moving north" for n in range(len(data))])
        kinds = {
            kind: np.array([any(each[kind]) for each in sheets]) for kind in sheets[0]
        }
        return {**kinds, "north": north}

    all_shown = shown()
    mark, north = all_shown["mark"], all_shown["north"]
    assert 0.8 < mark[north].mean() < 1
    assert 0.2 < mark[~north].mean() < 0.4
    assert 0.74 < (mark == all_shown["text"]).mean() < 0.86
    without = shown(hidden=("mark",))
    assert "mark" not in without
    assert np.array_equal(without["text"], all_shown["text"])
    with pytest.raises(UserError, match="'cast' correlates with no label"):
        shown(beside={"cast": "mark"})


def test_every_cue_is_painted_and_named_by_its_own_key() -> None:
    """Another cue, seed or picture has another key; the same one has the same pixels."""
    grey = Frame.from_array(np.full((40, 60, 3), 90, np.uint8))
    frames = [paint(grey, kind, seed) for kind in PAINTED for seed in (1, 2)]
    assert len({frame.key for frame in frames}) == len(frames)
    for frame in frames:
        pixels = np.asarray(frame.load())
        assert pixels.shape == (40, 60, 3)
        assert np.array_equal(pixels, np.asarray(frame.load()))
        assert (pixels != 90).any()


def test_the_zoo_is_large_enough_and_each_cause_has_its_decoy() -> None:
    everything = zoo()
    assert len(everything) >= 100
    assert len({each.name for each in everything}) == len(everything)
    causes = [each for each in everything if each.role == "cause"]
    decoys = {json.dumps(each.data) for each in everything if each.role == "decoy"}
    assert len(causes) >= 40
    assert all(json.dumps(each.data) in decoys for each in causes)
    assert {"cause", "decoy", "null"} == {each.role for each in everything[:12]}


def test_grades_by_hand() -> None:
    assert precision([True, False, True], 1) == 1
    assert precision([True, False], 10) == 0.5
    assert precision([], 10) == 0
    assert (
        auroc_of_cases([(True, 0.9), (True, None), (False, 0.5), (False, 0.1)]) == 0.5
    )
    assert auroc_of_cases([(True, 0.9)]) is None


@pytest.mark.parametrize(
    ("trained", "use", "role"),
    [
        ("cause", 0.1, "cause"),
        ("cause", 0.09, "unclear"),
        ("decoy", 0.04, "decoy"),
        ("decoy", -0.04, "decoy"),
        ("decoy", 0.07, "unclear"),
        ("decoy", -0.07, "unclear"),
        ("decoy", None, "decoy"),
        ("null", None, "null"),
    ],
)
def test_what_a_model_uses_says_which_role_it_has(
    trained: Role, use: float | None, role: str
) -> None:
    assert found_and_tested(trained, use, 0.0).role == role


def test_an_effect_that_was_not_measured_is_none() -> None:
    """It stands above a decoy that does harm the other way, and beside one that does nothing."""
    results = [
        found_and_tested("cause", 0.2, None),
        found_and_tested("decoy", 0.0, -0.1),
    ]
    assert promises(results)[0][0] == 1.0
    results.append(found_and_tested("decoy", 0.0, 0.0))
    assert promises(results)[0][0] == 0.75


def found_and_tested(role: Role, use: float | None, effect: float | None) -> Result:
    """A configuration that the sheet found, with the effect beyond controls by `confirm`."""
    configuration = replace(zoo()[0], role=role)
    confirmed = {"best": effect, "detected": False}
    graded = {SHEET: {"best": 0.5, "confirm": confirmed}}
    return Result(configuration, use, None, graded)
