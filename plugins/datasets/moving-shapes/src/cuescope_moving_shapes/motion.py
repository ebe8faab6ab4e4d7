"""Where the disc is: trajectories whose single frames do not tell the direction."""

from math import ceil

import numpy as np
from jaxtyping import Bool, Int
from numpy.random import Generator

from cuescope_moving_shapes.pictures import DISC, SIZE
from cuescope_sdk import generator

DIRECTIONS = ("moving north", "moving south", "moving east", "moving west")
NORTH, SOUTH, EAST, WEST = range(4)
SPLITS = ("train", "val", "test")
SPLIT_SHARES = (0.5, 0.25, 0.25)

Numbers = Int[np.ndarray, " sample"]
Marks = Bool[np.ndarray, " sample"]  # the samples of which something holds
TRAVEL = (8, 18)  # px, least and greatest way from the first frame to the last
POSITIONS = SIZE - DISC + 1  # places of the disc along one axis


def speeds(length: int) -> tuple[int, int]:
    """Least and greatest step in pixels a frame for which the whole way is within `TRAVEL`."""
    least, greatest = TRAVEL
    steps = length - 1
    return max(1, ceil(least / steps)), greatest // steps


def trajectories(
    direction: Numbers,
    length: int,
    split: str,
    seed: int,
) -> Int[np.ndarray, "sample frame 2"]:
    """Row and column of the disc's corner (pixels, origin top left) in every frame.

    The disc goes straight at a constant random speed from a random start and stays inside. Its
    constant coordinate is that of a random frame of another, independent trajectory, so the
    position in a frame picked at random has one and the same distribution for all four
    directions: without knowing which frame it is, a still picture tells nothing. Knowing it, no
    more than the unavoidable remains (going south, one starts further north).

    Every trajectory belongs to one split alone, by a random partition under `seed`.
    """
    rng = generator(seed, "moving-shapes", "trajectories", split, str(length))
    owner = _owners(length, seed)
    # Only strays are drawn again: the draw stays uniform over what this split owns.
    candidates = _draw(rng, len(direction), length)
    number = SPLITS.index(split)
    while True:
        stray = owner[direction, *candidates] != number
        if not stray.any():
            break
        candidates[:, stray] = _draw(rng, int(stray.sum()), length)
    speed, start, constant = candidates
    # going north or west is going south or east, seen backwards
    along = start + np.multiply.outer(np.arange(length), speed)
    backwards = np.isin(direction, (NORTH, WEST))
    along = np.where(backwards, along[::-1], along)
    vertical = np.isin(direction, (NORTH, SOUTH))
    row = np.where(vertical, along, constant)
    col = np.where(vertical, constant, along)
    places = np.stack([row, col])
    return places.T


def _draw(
    rng: Generator,
    count: int,
    length: int,
) -> Int[np.ndarray, "3 sample"]:
    """Speed, the lesser end of the way, and the constant coordinate of `count` trajectories."""
    speed, start = _way(rng, count, length)
    other_speed, other_start = _way(rng, count, length)
    frame = rng.integers(length, size=count)
    constant = other_start + frame * other_speed
    return np.stack([speed, start, constant])


def _way(
    rng: Generator,
    count: int,
    length: int,
) -> tuple[Numbers, Numbers]:
    least, greatest = speeds(length)
    speed = rng.integers(least, greatest, size=count, endpoint=True)
    travel = (length - 1) * speed
    return speed, rng.integers(POSITIONS - travel)


def _owners(
    length: int, seed: int
) -> Int[np.ndarray, "direction speed start constant"]:
    """Which split owns each trajectory."""
    # without the split: all splits must agree on who owns what
    rng = generator(seed, "moving-shapes", "partition", str(length))
    _, greatest = speeds(length)
    # + 1: it is asked by the speed itself, from 0
    shape = (len(DIRECTIONS), greatest + 1, POSITIONS, POSITIONS)
    return rng.choice(len(SPLITS), size=shape, p=SPLIT_SHARES)
