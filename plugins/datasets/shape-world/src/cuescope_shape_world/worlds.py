"""What happens in a video, in numbers: where the camera looks, what shapes do, where walls are.

A world is drawn until it keeps these rules, by which pixels tell everything of it: no two shapes
meet, no phrase ("red circle") belongs to two shapes, and nothing appears, disappears, changes or
moves by itself while the camera turns. A wall comes and goes in front of one shape at rest.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import compress, pairwise

import numpy as np
from jaxtyping import Bool, Int
from numpy.random import Generator

from cuescope_shape_world.pictures import BLOCK, HEIGHT, HORIZON, SIDE, WIDTH, Box
from cuescope_shape_world.words import COLOURS, HELD_OUT

THINGS = 5
TURN = 3  # frames of a turn
TURN_STEP = BLOCK  # px that the view goes in a frame of a turn
STEP = 4  # px that a shape moves a frame
WAYS = [(-1, 0), (1, 0), (0, -1), (0, 1)]  # left, right, up, down
APART = 2  # px between shapes at least
MARGIN = 4  # px by which a wall is larger than what it hides
TRIES = 60
COMES_OR_GOES = 0.45  # chance of a shape to come late, and of one to go early
RECOLOURS = 0.35  # chance of another colour, where there may be one

Offsets = Int[np.ndarray, " frame"]
Frames = Bool[np.ndarray, " frame"]  # in which of them something holds
Corners = Int[np.ndarray, "frame 2"]


@dataclass(frozen=True, eq=False)
class Life:
    """One shape, by frame: its phrase, its corner (px), and whether it is there.

    `corners` are those in the panorama, `places` those in the view.
    """

    phrases: tuple[str, ...]
    corners: Corners
    places: Corners
    there: Frames

    @property
    def in_view(self) -> Frames:
        """Whether it is there and wholly within the view; in part, nothing is drawn."""
        left = self.places[:, 0]
        inside = (left >= 0) & (left <= WIDTH - SIDE)
        return np.asarray(self.there & inside)


@dataclass(frozen=True)
class Wall:
    """A wall in front of shape `hides`, from frame `first` to `last`; its box in the view, px."""

    hides: int
    first: int
    last: int
    box: Box


@dataclass(frozen=True, eq=False)
class World:
    """`camera` is the left edge of the view in the panorama (px), `skyline` heights by block."""

    camera: Offsets
    skyline: Int[np.ndarray, " block"]
    lives: tuple[Life, ...]
    walls: tuple[Wall, ...] = ()

    def walls_at(self, frame: int) -> list[Wall]:
        """The walls that stand in this frame."""
        return [wall for wall in self.walls if wall.first <= frame <= wall.last]

    def is_visible(self, index: int, frame: int) -> bool:
        """Whether the picture shows this shape, and no wall before it."""
        for wall in self.walls_at(frame):
            if wall.hides == index:
                return False
        return bool(self.lives[index].in_view[frame])

    def heights(self, frame: int) -> tuple[int, ...]:
        """Of the skyline, by block of the view, px."""
        first = self.camera[frame] // BLOCK
        heights = self.skyline[first : first + WIDTH // BLOCK]
        return tuple(heights.tolist())


def draw_world(
    rng: Generator,
    frames: int,
    phrases: Sequence[str],
    held_out: int = 0,
) -> World:
    """A world of shapes of these phrases, `held_out` of them from the held-out ones."""
    world = None
    while world is None:
        world = _attempt(rng, frames, phrases, held_out)
    return _add_wall(rng, world)


def _attempt(
    rng: Generator,
    frames: int,
    phrases: Sequence[str],
    held_out: int,
) -> World | None:
    camera = _camera(rng, frames)
    blocks = (camera.max() + WIDTH) // BLOCK
    skyline = rng.integers(3, HORIZON - 1, blocks)
    world = World(camera, skyline, ())
    free = set(phrases)
    for index in range(THINGS):
        candidates = free & HELD_OUT if index < held_out else free - HELD_OUT
        for _ in range(TRIES):
            # sorted, for the order of a set differs between runs
            life = _life(rng, camera, sorted(candidates), sorted(free))
            if life is not None and _fits(world, life):
                break
        else:
            # there is no room for it: among other shapes there may be
            return None
        world = replace(world, lives=(*world.lives, life))
        free -= set(life.phrases)
    visible = [life.in_view for life in world.lives]
    shapes = np.sum(visible, axis=0)
    # with fewer there is little to compare
    return world if shapes.min() >= 2 else None


def _camera(rng: Generator, frames: int) -> Offsets:
    """A turn left or right in each stretch of eight frames; from 0 up, in blocks."""
    steps = np.zeros(frames, int)
    for first, end in pairwise(range(0, frames + 1, 8)):
        # the camera rests at both ends of a stretch, so that no two turns run together
        start = rng.integers(first + 2, end - TURN)
        side = rng.choice((-1, 1))
        steps[start : start + TURN] = TURN_STEP * side
    camera: Offsets = steps.cumsum()
    camera -= camera.min()
    return camera


def stands(camera: Offsets) -> Frames:
    """Whether the view is that of the frame before; true of the first frame."""
    steps = np.diff(camera, prepend=camera[:1])
    return np.asarray(steps == 0)


def _life(
    rng: Generator,
    camera: Offsets,
    candidates: Sequence[str],
    free: Sequence[str],
) -> Life | None:
    """A shape that may come late, go early, move, and change its colour for a free one."""
    frames = len(camera)
    still = stands(camera)
    first = 0
    last = frames - 1
    if rng.random() < COMES_OR_GOES:
        # where the camera stands: else its turning, and not the shape's coming, would show it
        moments = np.flatnonzero(still[: frames - 3])
        first = int(rng.choice(moments[moments >= 2]))
    if rng.random() < COMES_OR_GOES:
        # the frame after its last one is still: it is gone, and not out of view
        moments = np.flatnonzero(still) - 1
        last = int(rng.choice(moments[moments >= 2]))
    if last - first < 3:
        return None
    steps = _steps(rng, still, first, last)
    rests = still & ~steps.any(axis=1)
    moments = np.flatnonzero(rests[:last])
    moments = moments[moments > first]
    change = frames
    if len(moments) and rng.random() < RECOLOURS:
        change = int(rng.choice(moments))
    phrase = str(rng.choice(candidates))
    phrases = [phrase] * frames
    others = _recolour(phrase, free)
    if change < frames and others:
        other = str(rng.choice(others))
        phrases[change:] = [other] * (frames - change)
    # It is put where one frame at least shows it, and from there moved back and forth.
    shown = rng.integers(first, last + 1)
    ends = (WIDTH - SIDE, HEIGHT - HORIZON - SIDE)
    place = rng.integers(1, ends)
    place += (0, HORIZON)
    view = np.stack([camera, np.zeros(frames, int)], axis=1)
    path = steps.cumsum(axis=0)
    corners = view[shown] + place + path - path[shown]
    there = np.zeros(frames, bool)
    there[first : last + 1] = True
    return Life(tuple(phrases), corners, corners - view, there)


def _recolour(phrase: str, free: Sequence[str]) -> list[str]:
    """The free phrases of the same kind and another colour."""
    kind = phrase.split()[1]
    phrases = map(f"{{}} {kind}".format, COLOURS)
    return [other for other in phrases if other != phrase and other in free]


def _steps(
    rng: Generator,
    still: Frames,
    first: int,
    last: int,
) -> Corners:
    """Pixels moved since the frame before: movements while the camera stands."""
    steps = np.zeros((len(still), 2), int)
    most = 1 + len(still) // 4
    for _ in range(rng.integers(1, most + 1)):
        start = int(rng.integers(first + 1, last + 1))
        length = int(rng.integers(2, 6))
        stop = min(start + length, last + 1)
        # two movements in a row would be one to whoever looks
        nearby = steps[max(first, start - 1) : stop + 1]
        if still[start:stop].all() and not nearby.any():
            steps[start:stop] = STEP * rng.choice(WAYS)
    return steps


def _fits(world: World, life: Life) -> bool:
    """Inside the field, apart from the others, and in or out of the view by the camera alone."""
    y = life.corners[life.there, 1]
    if y.min() < HORIZON + 1 or y.max() > HEIGHT - SIDE - 1:
        return False
    visible = life.in_view
    stays = life.there[1:] & life.there[:-1]
    changes = np.diff(visible) & stands(world.camera)[1:]
    if changes[stays].any():
        return False
    # pixels could not tell a colour that no frame shows
    if set(life.phrases) != set(compress(life.phrases, visible)):
        return False
    for other in world.lives:
        together = life.there & other.there
        if not _apart(life, other, SIDE + APART)[together].all():
            return False
    return True


def _apart(
    life: Life,
    other: Life,
    gap: int,
) -> Frames:
    """Whether the corners of the two differ by the gap (px) or more, across or down."""
    distance = np.abs(life.corners - other.corners)
    return np.asarray(distance.max(axis=1) >= gap)


def _add_wall(rng: Generator, world: World) -> World:
    """With a wall for two to four frames in front of a shape, if a place is found for one."""
    frames = len(world.camera)
    for _ in range(TRIES):
        # the shape is seen before the wall comes, and again when it has gone
        first = int(rng.integers(1, frames - 3))
        more = int(rng.integers(1, 4))
        last = min(first + more, frames - 2)
        hides = int(rng.integers(len(world.lives)))
        x, y = world.lives[hides].places[first].tolist()
        end = SIDE + MARGIN
        box = (x - MARGIN, y - MARGIN, x + end, y + end)
        wall = Wall(hides, first, last, box)
        if _hides(world, wall):
            return replace(world, walls=(wall,))
    return world


def _hides(world: World, wall: Wall) -> bool:
    """Whether it can stand there: over one shape at rest, clear of all others, camera at rest."""
    life = world.lives[wall.hides]
    # with a frame before and one after, which are to show the shape
    span = slice(wall.first - 1, wall.last + 2)
    moves = np.ptp(life.corners[span], axis=0).any()
    turns = np.ptp(world.camera[span])
    changes_colour = len(set(life.phrases[span])) > 1
    if moves or turns or changes_colour or not life.in_view[span].all():
        return False
    x0, y0, x1, y1 = wall.box
    if x0 < 0 or x1 > WIDTH or y0 < HORIZON + 1 or y1 > HEIGHT:
        return False
    for other in world.lives:
        clear = _apart(life, other, SIDE + MARGIN + APART) | ~other.there
        if other is not life and not clear[span].all():
            return False
    return True
