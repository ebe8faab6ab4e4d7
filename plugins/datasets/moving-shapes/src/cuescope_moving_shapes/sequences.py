"""A whole split as arrays: directions, drawing parameters, cue presence.

In the longer sequences the disc moves one way, rests, and moves another way, for what happened
when. While it moves, a red square lies at the edge of the picture that it moves towards. A still
frame thus tells which movement it is from, but nothing tells its place in time.
"""

from dataclasses import dataclass, replace
from itertools import permutations

import numpy as np
from jaxtyping import Int, Int16
from numpy.random import Generator

from cuescope_moving_shapes.cues import Shown, plant, square_positions
from cuescope_moving_shapes.motion import (
    DIRECTIONS,
    SPLIT_SHARES,
    SPLITS,
    Marks,
    Numbers,
    speeds,
    trajectories,
)
from cuescope_moving_shapes.options import ShapesOptions
from cuescope_moving_shapes.pictures import (
    BACKGROUND_IS_RED,
    DISC,
    DISC_IS_RED,
    DISC_PLACE,
    PARAMETERS,
    SIZE,
    SQUARE,
    SQUARE_PLACE,
)
from cuescope_sdk import Sample, generator

Ways = Int[np.ndarray, "sample movement"]
Places = Int[np.ndarray, "sample 2"]  # row and column, pixels
Parameters = Int16[np.ndarray, "sample frame 6"]
REST = 2  # frames between two movements at least, and of all rests on average
STEPS = np.array([(-1, 0), (1, 0), (0, 1), (0, -1)])  # row, column; as DIRECTIONS
PLACES = SIZE - 2 * SQUARE - DISC + 1  # of the disc along one axis, clear of any square


@dataclass(frozen=True, eq=False)
class Sequences:
    """A split: index of the direction, parameters of each frame, frames that show the cue."""

    direction: Numbers
    parameters: Parameters
    cue: Shown

    @property
    def bears(self) -> Marks:
        """Whether any frame of the sequence shows the cue."""
        return np.asarray(self.cue.any(axis=1))


def generate(options: ShapesOptions) -> Sequences:
    """As many sequences of each direction as can be, in random order.

    Directions and trajectories depend on count, length, split and seed alone: with another cue,
    or none, the same discs move the same way.
    """
    split = options.split
    rng = generator(options.seed, "moving-shapes", "directions", split)
    every = np.arange(options.size) % len(DIRECTIONS)
    direction = rng.permutation(every)
    disc = trajectories(direction, options.length, split, options.seed)
    parameters = _without_cue(disc)
    shown = np.zeros(disc.shape[:2], bool)
    if options.cue != "none":
        # a stream of its own: planting a cue moves no disc
        rng = generator(options.seed, "moving-shapes", "cue", split)
        shown = plant(rng, direction, options)
        _draw_cue(rng, options.cue, parameters, shown)
    return Sequences(direction, parameters, shown)


def _without_cue(disc: Int[np.ndarray, "sample frame 2"]) -> Parameters:
    """What `pictures.frame` takes, of a disc alone."""
    samples, frames, _ = disc.shape
    parameters = np.zeros((samples, frames, PARAMETERS), np.int16)
    parameters[..., DISC_PLACE] = disc
    parameters[..., SQUARE_PLACE] = -1
    return parameters


def _draw_cue(
    rng: Generator,
    cue: str,
    parameters: Parameters,
    shown: Shown,
) -> None:
    """Draw the cue into the frames that show it, in place."""
    # Only what is drawn differs: disc and frames are those of any other cue under this seed.
    match cue:
        case "background":
            parameters[..., BACKGROUND_IS_RED] = shown
        case "attribute":
            parameters[..., DISC_IS_RED] = shown
        case _:
            marked = parameters[shown]
            disc = marked[:, DISC_PLACE]
            marked[:, SQUARE_PLACE] = square_positions(rng, disc)
            parameters[shown] = marked


# ----------------------------------------------------------------------- several movements


@dataclass(frozen=True, eq=False)
class ActionSequences(Sequences):
    """`movements` one after another, and the frame in which each starts.

    `direction` is that of the first.
    """

    movements: Ways
    starts: Ways
    length: int

    def with_actions(self, sample: Sample, index: int) -> Sample:
        """The sequence without a label, but with what is done when."""
        movements = map(DIRECTIONS.__getitem__, self.movements[index])
        starts = self.starts[index]
        ends = starts + self.length
        actions = tuple(zip(movements, starts.tolist(), ends.tolist(), strict=True))
        annotations = {"split": sample.annotations["split"], "actions": actions}
        return replace(sample, choices=(), label=None, annotations=annotations)


def generate_actions(options: ShapesOptions) -> ActionSequences:
    """Sequences of several different movements, in every order alike.

    All have as many frames, with rests of random length. Every start of the disc belongs to one
    split alone, by a random partition under `seed`.
    """
    seed = options.seed
    split = options.split
    length = options.length
    numbers = (str(length), str(options.actions))
    # the name of this generator decides what is drawn: it stays
    rng = generator(seed, "moving-shapes", "acts", split, *numbers)
    # without the split: all splits must agree on who owns what
    partition = generator(seed, "moving-shapes", "acts")
    owner = partition.choice(len(SPLITS), size=(PLACES, PLACES), p=SPLIT_SHARES)
    of_split = owner == SPLITS.index(split)
    directions = range(len(DIRECTIONS))
    orders = np.array(list(permutations(directions, options.actions)))
    every = np.arange(options.size) % len(orders)
    way = orders[rng.permutation(every)]
    speed, origin = _draw_starts(rng, way, length)
    while True:
        of_others = ~of_split[*origin.T]
        stray = of_others | _leaves_field(way, speed, origin, length)
        if not stray.any():
            break
        # only strays, so that the draw stays uniform over what this split owns
        speed[stray], origin[stray] = _draw_starts(rng, way[stray], length)
    starts = _first_frames(rng, way, length)
    parameters = _parameters(way, speed, origin, starts, length)
    no_cue = np.zeros(parameters.shape[:2], bool)
    return ActionSequences(way[:, 0], parameters, no_cue, way, starts, length)


def _draw_starts(
    rng: Generator,
    way: Ways,
    length: int,
) -> tuple[Ways, Places]:
    """Pixels a frame, and the place where the disc starts."""
    least, greatest = speeds(length)
    speed = rng.integers(least, greatest, size=way.shape, endpoint=True)
    return speed, rng.integers(PLACES, size=(len(way), 2))


def _leaves_field(
    way: Ways,
    speed: Ways,
    origin: Places,
    length: int,
) -> Marks:
    """Whether a movement ends where no disc may be."""
    # - 1: steps are between frames
    pixels = speed * (length - 1)
    shift = STEPS[way] * pixels[..., None]
    ends = origin[:, None] + shift.cumsum(axis=1)
    outside = (ends < 0) | (ends >= PLACES)
    return np.asarray(outside.any(axis=(1, 2)))


def _first_frames(rng: Generator, way: Ways, length: int) -> Ways:
    """First frame of each movement: `REST` frames between two, the other rests anywhere."""
    count, movements = way.shape
    slots = movements + 1
    share = np.full(slots, 1 / slots)
    # a fixed sum of rests, so that all sequences have as many frames
    spare = rng.multinomial(2 * REST, share, size=count)
    before = spare[:, :-1].cumsum(axis=1)
    needed = np.arange(movements) * (length + REST)
    return before + needed


def _parameters(
    way: Ways,
    speed: Ways,
    origin: Places,
    starts: Ways,
    length: int,
) -> Parameters:
    """What `pictures.frame` takes; the square is there while the disc moves."""
    movements = way.shape[1]
    frames = movements * length + (movements + 1) * REST
    since = np.arange(frames) - starts[..., None]  # sample, movement, frame
    # before its start and after its end a movement moves nothing further
    pixels = since.clip(0, length - 1) * speed[..., None]
    shift = np.einsum("smf,smd->sfd", pixels, STEPS[way])
    # + SQUARE: places are counted from where no square can reach
    disc = SQUARE + origin[:, None] + shift
    parameters = _without_cue(disc)
    moves = (since >= 0) & (since < length)
    sample, movement, frame = np.nonzero(moves)
    step = STEPS[way[sample, movement]]
    # the square lies at the edge ahead, level with the disc
    level = disc[sample, frame] - (SQUARE - DISC) // 2
    edge = np.where(step > 0, SIZE - SQUARE, 0)
    corner = np.where(step == 0, level, edge)
    parameters[sample[:, None], frame[:, None], SQUARE_PLACE] = corner
    return parameters
