"""Several movements one after another: what the pixels show is what the annotation says."""

from typing import Any

import numpy as np
import pytest

from cuescope_moving_shapes import MovingShapes
from cuescope_sdk import Context, Sample, UserError
from cuescope_testing import DatasetContract

SMALL = {"train": 300, "val": 200, "test": 120}
STEP = {"north": (-1, 0), "south": (1, 0), "east": (0, 1), "west": (0, -1)}


class TestContract(DatasetContract):
    plugin = MovingShapes
    options = {**SMALL, "actions": 2}
    other_options = {**SMALL, "actions": 3}


def build(arg: str = "none", **options: Any) -> MovingShapes:
    made = Context().build("dataset", f"moving-shapes:{arg}", SMALL | options)
    assert isinstance(made, MovingShapes)
    return made


def centres(sample: Sample, colour: tuple[int, int, int]) -> list[np.ndarray | None]:
    """Row and column of the middle of what has this colour, by frame."""
    pixels = [
        (np.asarray(frame.load()) == colour).all(axis=-1) for frame in sample.frames
    ]
    return [np.argwhere(mask).mean(axis=0) if mask.any() else None for mask in pixels]


@pytest.mark.parametrize(("actions", "length"), [(2, 5), (3, 5), (3, 2), (2, 10)])
def test_the_disc_does_what_is_annotated_and_rests_elsewhere(
    actions: int, length: int
) -> None:
    data = build(actions=actions, length=length)
    for sample in (data[index] for index in range(30)):
        done = sample.annotations["actions"]
        assert len({name for name, _, _ in done}) == actions
        disc = [place for place in centres(sample, (0, 0, 255)) if place is not None]
        assert len(disc) == len(sample.frames), "no square covers it"
        way = np.sign(np.diff(disc, axis=0)).astype(int).tolist()
        expected = [[0, 0]] * len(way)
        for name, start, end in done:
            assert end - start == length
            expected[start : end - 1] = [list(STEP[name.split()[1]])] * (length - 1)
        assert way == expected


def test_a_square_lies_ahead_of_a_moving_disc_alone() -> None:
    data = build(actions=3)
    for sample in (data[index] for index in range(30)):
        disc, square = centres(sample, (0, 0, 255)), centres(sample, (255, 0, 0))
        moving = {
            index: STEP[name.split()[1]]
            for name, start, end in sample.annotations["actions"]
            for index in range(start, end)
        }
        assert [
            index for index, place in enumerate(square) if place is not None
        ] == sorted(moving)
        for index, step in moving.items():
            seen, ahead = disc[index], square[index]
            assert seen is not None
            assert ahead is not None
            way = ahead - seen
            assert (np.sign(way) * (np.abs(way) > 1)).tolist() == list(step)


def test_orders_and_rests_vary_and_rests_last() -> None:
    data = build(actions=2, val=400)
    done = [data[index].annotations["actions"] for index in range(len(data))]
    orders, counts = np.unique([f"{a[0]}, {b[0]}" for a, b in done], return_counts=True)
    assert len(orders) == 12
    assert counts.max() - counts.min() <= 1
    rests = np.array([b[1] - a[2] for a, b in done])
    assert set(rests.tolist()) == {2, 3, 4, 5, 6}
    assert {a[1] for a, _ in done} == {0, 1, 2, 3, 4}


def test_no_start_is_in_two_splits() -> None:
    data = build(actions=2, train=2000, val=2000, test=2000)
    starts = [
        {tuple(row) for row in data.split(name).sequences.parameters[:, 0, :2].tolist()}
        for name in ("train", "val", "test")
    ]
    assert sum(map(len, starts)) == len(set.union(*starts))


def test_there_is_no_label_and_nothing_else_is_planted() -> None:
    data = Context().build("dataset", "moving-shapes", SMALL | {"actions": "2"})
    assert data.labels == ()
    assert data[0].label is None
    assert data[0].choices == ()
    assert "cues" not in data[0].annotations
    with pytest.raises(
        UserError, match="cue: expected none with actions=2, got object"
    ):
        build("object", actions=2)
    with pytest.raises(
        UserError, match="questions: expected none with actions=2, got both"
    ):
        build(actions=2, questions="both")
    with pytest.raises(UserError, match="'actions'"):
        build(actions=4)


def test_one_action_is_what_it_was() -> None:
    plain = Context().build("dataset", "moving-shapes", {})
    assert (
        plain.fingerprint
        == Context().build("dataset", "moving-shapes", {"actions": 1}).fingerprint
    )
    assert plain.fingerprint == "398ff124489ba128dd2c11fc176224f1"
