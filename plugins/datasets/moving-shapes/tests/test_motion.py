"""Where the disc is: geometry, splits, and how little a single frame tells."""

import numpy as np
import pytest

from cuescope_moving_shapes.motion import DIRECTIONS, SPLITS, trajectories

LENGTHS = (2, 3, 5, 10)
STEPS = np.array([(-1, 0), (1, 0), (0, 1), (0, -1)])  # row, column; origin top left


def moving(
    count: int, length: int, split: str = "val", seed: int = 0
) -> tuple[np.ndarray, ...]:
    direction = np.arange(count) % len(DIRECTIONS)
    return direction, trajectories(direction, length, split, seed)


@pytest.mark.parametrize("length", LENGTHS)
def test_the_disc_moves_strictly_its_way_and_stays_inside(length: int) -> None:
    direction, disc = moving(4000, length)
    assert disc.shape == (4000, length, 2)
    assert disc.min() >= 0
    assert disc.max() <= 50
    step = np.diff(disc, axis=1)
    ahead = (step * STEPS[direction][:, None]).sum(axis=-1)
    assert (ahead >= 1).all()
    assert (ahead == ahead[:, :1]).all(), "speed is constant"
    assert (np.abs(step).sum(axis=-1) == ahead).all(), "no drift across"
    way = ahead.sum(axis=1)
    assert way.min() >= 8
    assert way.max() <= 18


@pytest.mark.parametrize("length", LENGTHS)
def test_no_trajectory_is_in_two_splits(length: int) -> None:
    drawn = []
    for split in SPLITS:
        direction, disc = moving(2000, length, split)
        drawn.append(
            {(way, place.tobytes()) for way, place in zip(direction, disc, strict=True)}
        )
    train, val, test = drawn
    assert not train & val
    assert not (train | val) & test
    assert min(map(len, drawn)) > 1000


def test_another_seed_draws_other_trajectories() -> None:
    (_, one), (_, two) = moving(400, 5, seed=0), moving(400, 5, seed=1)
    assert (one != two).any(axis=(1, 2)).mean() > 0.95


def many(length: int) -> tuple[np.ndarray, ...]:
    """Trajectories of many seeds, so that the partition into splits evens out."""
    drawn = [moving(4000, length, seed=seed) for seed in range(40)]
    direction, disc = zip(*drawn, strict=True)
    return np.concatenate(direction), np.concatenate(disc)


def chance_per_place(direction: np.ndarray, places: np.ndarray) -> np.ndarray:
    """P(row | direction) and P(col | direction), shape (axis, direction, place)."""
    ways = range(len(DIRECTIONS))
    counts = np.array(
        [
            [np.bincount(places[direction == way, axis], minlength=51) for way in ways]
            for axis in (0, 1)
        ]
    )
    return counts / counts.sum(axis=-1, keepdims=True)


@pytest.mark.parametrize("length", LENGTHS)
def test_a_frame_of_unknown_index_has_one_distribution_for_all_directions(
    length: int,
) -> None:
    direction, disc = many(length)
    chance = chance_per_place(np.repeat(direction, length), disc.reshape(-1, 2))
    distance = np.abs(chance - chance.mean(axis=(0, 1))).sum(axis=-1) / 2
    assert distance.max() < 0.03


@pytest.mark.parametrize("length", LENGTHS)
def test_the_best_guess_from_places_seen_in_training_is_chance(length: int) -> None:
    direction, disc = moving(40_000, length, "train")
    seen = np.zeros((len(DIRECTIONS), 51, 51))
    np.add.at(seen, (direction[:, None], disc[..., 0], disc[..., 1]), 1)
    direction, disc = moving(40_000, length, "val")
    guess = seen[:, disc[..., 0], disc[..., 1]].argmax(axis=0)
    assert (guess == direction[:, None]).mean() < 0.28


@pytest.mark.parametrize(
    ("length", "bound"),
    [
        (2, 0.42),
        pytest.param(3, 0.42, marks=pytest.mark.long),
        pytest.param(5, 0.42, marks=pytest.mark.long),
        (10, 0.45),
    ],
)
def test_the_most_telling_frame_leaves_the_paper_its_20_points(
    length: int, bound: float
) -> None:
    direction, disc = many(length)
    best = []
    for index in range(length):
        row, col = chance_per_place(direction, disc[:, index])
        joint = row[:, :, None] * col[:, None, :]  # independent, given the direction
        best.append(joint.max(axis=0).sum() / len(DIRECTIONS))
    assert max(best) == max(best[0], best[-1]) < bound
    told = ((disc[:, 1] - disc[:, 0]) @ STEPS.T).argmax(axis=1)
    assert (told == direction).all(), "two frames tell everything"
