"""A whole split as arrays: direction, drawing parameters, cue presence."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Int, Int16

from cuescope_moving_shapes.cues import plant, square_positions
from cuescope_moving_shapes.drawing import (
    BACKGROUND_IS_RED,
    DISC_COL,
    DISC_IS_RED,
    DISC_ROW,
    PARAMETERS,
    SQUARE_COL,
    SQUARE_ROW,
)
from cuescope_moving_shapes.motion import DIRECTIONS, trajectories
from cuescope_sdk import generator


@dataclass(frozen=True, eq=False)
class Sequences:
    """A split: index of the direction, parameters of each frame, frames that show the cue."""

    direction: Int[np.ndarray, " sample"]
    parameters: Int16[np.ndarray, "sample frame 6"]
    cue: Bool[np.ndarray, "sample frame"]

    @property
    def bears(self) -> Bool[np.ndarray, " sample"]:
        """Whether any frame of the sequence shows the cue."""
        return np.asarray(self.cue.any(axis=1))


def generate(
    count: int,
    length: int,
    split: str,
    seed: int,
    cue: str = "none",
    cue_frames: int = 1,
    cramers_v: float = 0.9,
) -> Sequences:
    """`count` sequences, as many of each direction as can be, in random order.

    Directions and trajectories depend on count, length, split and seed alone: with another cue,
    or none, the same discs move the same way.
    """
    rng = generator(seed, "moving-shapes", "directions", split)
    direction = rng.permutation(np.arange(count) % len(DIRECTIONS))
    disc = trajectories(direction, length, split, seed)
    parameters = np.zeros((count, length, PARAMETERS), np.int16)
    parameters[:, :, [DISC_ROW, DISC_COL]] = disc
    parameters[:, :, [SQUARE_ROW, SQUARE_COL]] = -1
    shown = np.zeros((count, length), bool)
    if cue != "none":
        rng = generator(seed, "moving-shapes", "cue", split)
        shown = plant(rng, direction, cramers_v, length, cue_frames)
        _insert(rng, cue, parameters, shown)
    return Sequences(direction, parameters, shown)


def _insert(
    rng: np.random.Generator,
    cue: str,
    parameters: Int16[np.ndarray, "sample frame 6"],
    shown: Bool[np.ndarray, "sample frame"],
) -> None:
    """Draw the cue into the frames that show it, in place."""
    if cue == "object":
        marked = parameters[shown]
        disc = marked[:, [DISC_ROW, DISC_COL]]
        marked[:, [SQUARE_ROW, SQUARE_COL]] = square_positions(rng, disc)
        parameters[shown] = marked
    else:
        parameters[:, :, BACKGROUND_IS_RED if cue == "background" else DISC_IS_RED] = shown
