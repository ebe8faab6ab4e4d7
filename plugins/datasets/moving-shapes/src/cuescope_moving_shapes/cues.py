"""Which frames show the cue: as often as the asked Cramer's V with "moving south" wants."""

from itertools import product
from math import sqrt

import numpy as np
from jaxtyping import Bool, Int
from numpy.random import Generator

from cuescope_moving_shapes.motion import DIRECTIONS, SOUTH, Marks, Numbers
from cuescope_moving_shapes.options import ShapesOptions
from cuescope_moving_shapes.pictures import DISC, SIZE, SQUARE

Corners = Int[np.ndarray, "frame 2"]
Shown = Bool[np.ndarray, "sample frame"]  # where the cue is
CUES = {"background": "red background", "object": "red square", "attribute": "red disc"}


def cramers_v(cue: Marks, south: Marks) -> float:
    """Cramer's V of two yes-or-no variables: |phi|; 0 where one of them never varies."""
    cue_south = int((cue & south).sum())
    cue_other = int(cue.sum()) - cue_south
    of_south = int(south.sum())
    return _phi(cue_south, cue_other, of_south, len(cue))


def cue_error_rate(asked: float, south_share: float) -> float:
    """The rate e at which the cue lies: P(cue | south) = 1 - e, P(cue | other) = e.

    Many pairs of rates give one Cramer's V. Lying equally often on both sides keeps cue-bearing
    sequences of the other classes (what a biased model gets wrong) and sequences going south
    without the cue (the control), both scarce but present. With s the share of south, solving
    V^2 = (1 - 2e)^2 s (1 - s) / (m (1 - m)), m = P(cue) = s (1 - e) + (1 - s) e, gives
    (1 - 2e)^2 = V^2 / (4 s (1 - s) + V^2 (1 - 2s)^2).
    """
    spread = 4 * south_share * (1 - south_share)
    imbalance = 1 - 2 * south_share
    truth = asked / sqrt(spread + asked**2 * imbalance**2)
    return (1 - truth) / 2


def cue_counts(
    asked: float,
    south: int,
    other: int,
) -> tuple[int, int]:
    """How many sequences of south and of all others bear the cue, V as near to `asked` as can be.

    `south` and `other` count the sequences. Only the counts next to the exact rates are tried.
    """
    rate = cue_error_rate(asked, south / (south + other))
    bearing = round(south * (1 - rate))
    lying = round(other * rate)
    # Rounding both may miss the asked V by more than a neighbour does: small splits need it.
    near = product(_around(bearing, south), _around(lying, other))

    def distance(counts: tuple[int, int]) -> float:
        association = _phi(*counts, south, south + other)
        return abs(association - asked)

    return min(near, key=distance)


def plant(
    rng: Generator,
    direction: Numbers,
    options: ShapesOptions,
) -> Shown:
    """Cue presence: contiguous frames, at a random place, of the chosen sequences.

    The cue-bearing sequences of the other classes are shared out evenly among these classes.
    """
    window = options.window
    south = int((direction == SOUTH).sum())
    bearing, lying = cue_counts(options.cramers_v, south, len(direction) - south)
    others = len(DIRECTIONS) - 1
    shared_out = np.arange(lying) % others
    counts = np.bincount(shared_out, minlength=others).tolist()
    counts.insert(SOUTH, bearing)
    draws = []
    for index, count in enumerate(counts):
        members = np.flatnonzero(direction == index)
        draws.append(rng.choice(members, count, replace=False))
    chosen = np.concatenate(draws)
    starts = options.length - window + 1
    first = rng.integers(starts, size=len(chosen))
    shown = np.zeros((len(direction), options.length), bool)
    for offset in range(window):
        shown[chosen, first + offset] = True
    return shown


def square_positions(rng: Generator, disc: Corners) -> Corners:
    """Row and column of a square's corner in each frame, uniform over the places clear of the disc.

    Clear of its bounding box, that is. `disc` is the corner of that box, pixels.
    """
    places = SIZE - SQUARE + 1
    corner = rng.integers(places, size=disc.shape)
    while True:
        before = corner < disc + DISC
        behind = disc < corner + SQUARE
        # two boxes overlap where they do along both axes
        clash = (before & behind).all(axis=1)
        if not clash.any():
            return corner
        # only what clashes is drawn again, so places stay uniform
        again = corner[clash]
        corner[clash] = rng.integers(places, size=again.shape)


def _around(count: int, most: int) -> range:
    """The count and its neighbours, of those that there can be."""
    least = max(0, count - 1)
    greatest = min(most, count + 1)
    return range(least, greatest + 1)


def _phi(
    cue_south: int,
    cue_other: int,
    south: int,
    total: int,
) -> float:
    """|phi| of the 2x2 table: cue-bearing sequences of south and of others, and the totals."""
    cue = cue_south + cue_other
    spread = cue * (total - cue) * south * (total - south)
    if spread == 0:
        return 0.0
    excess = cue_south * total - cue * south
    return abs(excess) / sqrt(spread)
