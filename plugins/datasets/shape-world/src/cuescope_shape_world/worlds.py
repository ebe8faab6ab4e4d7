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

from cuescope_shape_world.pictures import BLOCK, HEIGHT, HORIZON, SIDE, WIDTH
from cuescope_shape_world.words import COLOURS, HELD_OUT, WAYS

THINGS = 5
TURN = 3  # frames of a turn
TURN_STEP = BLOCK  # px that the view goes in a frame of a turn
STEP = 4  # px that a shape moves a frame
APART = 2  # px between shapes at least
MARGIN = 4  # px by which a wall is larger than what it hides
TRIES = 60

Offsets = Int[np.ndarray, " frame"]
Frames = Bool[np.ndarray, " frame"]  # in which of them something holds
Corners = Int[np.ndarray, "frame 2"]


@dataclass(frozen=True, eq=False)
class Life:
    """One shape: its phrase, its corner in the panorama (px), and whether it is there, by frame."""

    phrases: tuple[str, ...]
    corners: Corners
    there: Frames


@dataclass(frozen=True)
class Wall:
    """A wall in front of shape `hides`, from frame `first` to `last`."""

    hides: int
    first: int
    last: int


@dataclass(frozen=True, eq=False)
class World:
    """`camera` is the left edge of the view in the panorama (px), `skyline` heights by block."""

    camera: Offsets
    skyline: Int[np.ndarray, " block"]
    lives: tuple[Life, ...]
    walls: tuple[Wall, ...] = ()

    def in_view(self, life: Life) -> Frames:
        """Whether it is there and wholly within the view; in part, nothing is drawn."""
        x = life.corners[:, 0] - self.camera
        inside: Frames = life.there & (x >= 0) & (x <= WIDTH - SIDE)
        return inside

    def hidden(self, index: int) -> Frames:
        """Whether a wall stands before this shape."""
        behind = np.zeros(len(self.camera), bool)
        for wall in self.walls:
            if wall.hides == index:
                behind[wall.first : wall.last + 1] = True
        return behind

    def visible(self, index: int) -> Frames:
        """Whether the picture shows this shape."""
        visible: Frames = self.in_view(self.lives[index]) & ~self.hidden(index)
        return visible

    def corner(self, index: int, frame: int) -> tuple[int, int]:
        """Where the upper left corner of this shape is in the view, px."""
        x, y = self.lives[index].corners[frame].tolist()
        return x - int(self.camera[frame]), y


def draw_world(
    rng: Generator, frames: int, phrases: Sequence[str], held_out: int = 0
) -> World:
    """A world of shapes of these phrases, `held_out` of them from the held-out ones."""
    while True:
        world = _attempt(rng, frames, phrases, held_out)
        if world is None:
            continue
        visible = sum(map(world.in_view, world.lives), np.zeros(frames, int))
        if (visible >= 2).all():  # else there is little to compare
            return _add_wall(rng, world)


def _attempt(
    rng: Generator, frames: int, phrases: Sequence[str], held_out: int
) -> World | None:
    camera = _camera(rng, frames)
    skyline = rng.integers(3, HORIZON - 1, (camera.max() + WIDTH) // BLOCK)
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
    return world


def _camera(rng: Generator, frames: int) -> Offsets:
    """A turn left or right in each stretch of eight frames; from 0 up, in blocks."""
    steps = np.zeros(frames, int)
    for first, end in pairwise(range(0, frames + 1, 8)):
        # the camera rests at both ends of a stretch, so that no two turns run together
        start = int(rng.integers(first + 2, end - TURN))
        steps[start : start + TURN] = TURN_STEP * rng.choice((-1, 1))
    camera: Offsets = steps.cumsum()
    camera -= camera.min()
    return camera


def stands(camera: Offsets) -> Frames:
    """Whether the view is that of the frame before; true of the first frame."""
    still: Frames = np.diff(camera, prepend=camera[:1]) == 0
    return still


def _life(
    rng: Generator, camera: Offsets, candidates: Sequence[str], free: Sequence[str]
) -> Life | None:
    """A shape that may come late, go early, move, and change its colour for a free one."""
    frames = len(camera)
    still = stands(camera)
    first = 0
    last = frames - 1
    if rng.random() < 0.45:
        # where the camera stands: else its turning, and not the shape's coming, would show it
        first = int(rng.choice(np.flatnonzero(still[2 : frames - 3]) + 2))
    if rng.random() < 0.45:
        # the frame after its last one is still: it is gone, and not out of view
        last = int(rng.choice(np.flatnonzero(still[3:]) + 2))
    if last - first < 3:
        return None
    steps = _steps(rng, still, first, last)
    rests = still & ~steps.any(axis=1)
    moments = np.flatnonzero(rests[first + 1 : last]) + first + 1
    change = frames
    if len(moments) and rng.random() < 0.35:
        change = int(rng.choice(moments))
    phrase = str(rng.choice(candidates))
    phrases = [phrase] * frames
    others = _recolour(phrase, free)
    if change < frames and others:
        phrases[change:] = [str(rng.choice(others))] * (frames - change)
    # It is put where one frame at least shows it, and from there moved back and forth.
    shown = int(rng.integers(first, last + 1))
    view = np.array((camera[shown], HORIZON))
    corner = view + rng.integers(1, (WIDTH - SIDE, HEIGHT - HORIZON - SIDE))
    path = steps.cumsum(axis=0)
    there = np.zeros(frames, bool)
    there[first : last + 1] = True
    return Life(tuple(phrases), corner + path - path[shown], there)


def _recolour(phrase: str, free: Sequence[str]) -> list[str]:
    """The free phrases of the same kind and another colour."""
    kind = phrase.split()[1]
    phrases = map(f"{{}} {kind}".format, COLOURS)
    return [other for other in phrases if other != phrase and other in free]


def _steps(rng: Generator, still: Frames, first: int, last: int) -> Corners:
    """Pixels moved since the frame before: movements while the camera stands."""
    steps = np.zeros((len(still), 2), int)
    for _ in range(int(rng.integers(1, 2 + len(still) // 4))):
        start = int(rng.integers(first + 1, last + 1))
        length = int(rng.integers(2, 6))
        stop = min(start + length, last + 1)
        # two movements in a row would be one to whoever looks
        moves_nearby = steps[max(first, start - 1) : stop + 1].any()
        if still[start:stop].all() and not moves_nearby:
            way = str(rng.choice(list(WAYS)))
            steps[start:stop] = STEP * np.array(WAYS[way])
    return steps


def _fits(world: World, life: Life) -> bool:
    """Inside the field, apart from the others, and in or out of the view by the camera alone."""
    y = life.corners[life.there, 1]
    if y.min() < HORIZON + 1 or y.max() > HEIGHT - SIDE - 1:
        return False
    visible = world.in_view(life)
    there_before = life.there[1:] & life.there[:-1]
    both = there_before & stands(world.camera)[1:]
    changes = visible[1:] != visible[:-1]
    if changes[both].any():
        return False
    phrases_seen = set(compress(life.phrases, visible))
    # pixels could not tell a colour that no frame shows
    if phrases_seen != set(life.phrases):
        return False
    for other in world.lives:
        together = life.there & other.there
        if not _apart(life, other, SIDE + APART)[together].all():
            return False
    return True


def _apart(life: Life, other: Life, gap: int) -> Frames:
    """Whether the corners of the two differ by the gap (px) or more, across or down."""
    apart: Frames = np.abs(life.corners - other.corners).max(axis=1) >= gap
    return apart


def _add_wall(rng: Generator, world: World) -> World:
    """With a wall for two to four frames in front of a shape, if a place is found for one."""
    frames = len(world.camera)
    for _ in range(TRIES):
        # the shape is seen before the wall comes, and again when it has gone
        first = int(rng.integers(1, frames - 3))
        last = min(first + int(rng.integers(1, 4)), frames - 2)
        wall = Wall(int(rng.integers(len(world.lives))), first, last)
        if _hides(world, wall):
            return replace(world, walls=(wall,))
    return world


def _hides(world: World, wall: Wall) -> bool:
    """Whether it can stand there: over one shape at rest, clear of all others, camera at rest."""
    life = world.lives[wall.hides]
    span = slice(wall.first - 1, wall.last + 2)
    moves = (life.corners[span] != life.corners[wall.first]).any()
    changes_colour = len(set(life.phrases[span])) > 1
    camera_stands = stands(world.camera)[wall.first : wall.last + 2].all()
    if moves or changes_colour or not camera_stands:
        return False
    if not world.in_view(life)[span].all():
        return False
    x0, y0, x1, y1 = wall_box(world, wall)
    if x0 < 0 or x1 > WIDTH or y0 < HORIZON + 1 or y1 > HEIGHT:
        return False
    for index, other in enumerate(world.lives):
        clear = _apart(life, other, SIDE + MARGIN + APART) | ~other.there
        if index != wall.hides and not clear[span].all():
            return False
    return True


def wall_box(world: World, wall: Wall) -> tuple[int, int, int, int]:
    """In the view, px."""
    x, y = world.corner(wall.hides, wall.first)
    end = SIDE + MARGIN
    return x - MARGIN, y - MARGIN, x + end, y + end
