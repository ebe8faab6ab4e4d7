"""What each frame shows of a world: the picture, and everything that can be said of it."""

from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import permutations

from cuescope_sdk.grounding import (
    IN_DEPTH,
    RELATIONS,
    Action,
    Box,
    Relation,
    SceneFrame,
    Thing,
    relation_holds,
)
from cuescope_shape_world.pictures import BLOCK, HORIZON, SIDE, WIDTH, Picture
from cuescope_shape_world.words import HILL, WALL
from cuescope_shape_world.worlds import World, wall_box

CLOSED = frozenset(("things", "attributes", "relations", "actions", "motion"))


def pictures(world: World) -> tuple[Picture, ...]:
    """A picture a frame."""
    return tuple(_picture(world, frame) for frame in range(len(world.camera)))


def scene(world: World) -> tuple[SceneFrame, ...]:
    """A scene graph a frame, whole: what is missing from it is not so.

    What a shape does in a frame it does since the frame before; it disappears in the last frame
    that shows it. What comes into view as the camera turns, or from behind a wall, does not appear.
    """
    return tuple(
        SceneFrame(
            things=things,
            relations=relations(things),
            actions=(*_shape_actions(world, frame), *_wall_actions(world, frame)),
            motion=motion(int(world.camera[frame] - world.camera[max(frame - 1, 0)])),
            closed=CLOSED,
        )
        for frame, things in enumerate(
            _things(world, at, picture) for at, picture in enumerate(pictures(world))
        )
    )


def motion(shift: int) -> str | None:
    """What the camera does when the view goes so many pixels to the right."""
    return f"turn {'right' if shift > 0 else 'left'}" if shift else None


def movement(dx: int, dy: int) -> str | None:
    """The verb of a displacement in pixels, by its larger part."""
    if dx == dy == 0:
        return None
    if abs(dx) >= abs(dy):
        return "move right" if dx > 0 else "move left"
    return "move down" if dy > 0 else "move up"


def relations(things: Sequence[Thing]) -> tuple[Relation, ...]:
    """Of every two things that can be seen, by their boxes; and what is behind a wall."""
    triples = []
    for subject, other in permutations(things, 2):
        if subject.box is None or other.box is None:
            continue
        if subject.visible and other.visible:
            names = _flat_relations(subject.box, other.box)
            triples += [(subject.id, name, other.id) for name in names]
        elif other.name == WALL and relation_holds("inside", subject.box, other.box):
            triples += [(subject.id, "behind", other.id), (other.id, "in front of", subject.id)]
    return tuple(Relation(subject=s, predicate=p, object=o) for s, p, o in triples)


# Shapes stand still in most frames: the same two boxes are compared over and over.
@lru_cache(maxsize=65536)
def _flat_relations(box: Box, other: Box) -> tuple[str, ...]:
    flat = (name for name in RELATIONS if name not in IN_DEPTH)
    return tuple(name for name in flat if relation_holds(name, box, other))


def _picture(world: World, frame: int) -> Picture:
    left = int(world.camera[frame])
    return Picture(
        shapes=tuple(
            (life.phrases[frame], int(life.corners[frame, 0]) - left, int(life.corners[frame, 1]))
            for index, life in enumerate(world.lives)
            if world.in_view(life)[frame] and not world.hidden(index)[frame]
        ),
        walls=tuple(wall_box(world, w) for w in world.walls if w.first <= frame <= w.last),
        skyline=tuple(world.skyline[left // BLOCK : (left + WIDTH) // BLOCK].tolist()),
    )


def _things(world: World, frame: int, picture: Picture) -> tuple[Thing, ...]:
    """Shapes, also those behind a wall; the walls; the skyline, as high as its highest part."""
    shapes = []
    for index, life in enumerate(world.lives):
        if world.in_view(life)[frame]:
            colour, kind = life.phrases[frame].split()
            x, y = (life.corners[frame] - (world.camera[frame], 0)).tolist()
            box, visible = (x, y, x + SIDE, y + SIDE), not world.hidden(index)[frame]
            shapes.append(
                Thing(
                    id=f"shape-{index}", name=kind, attributes=(colour,), box=box, visible=visible
                )
            )
    walls = tuple(
        Thing(id=f"{WALL}-{index}", name=WALL, attributes=("grey",), box=box)
        for index, box in enumerate(picture.walls)
    )
    skyline = (0, HORIZON - max(picture.skyline), WIDTH, HORIZON)
    return (*shapes, *walls, Thing(id=HILL, name=HILL, attributes=("black",), box=skyline))


def _shape_actions(world: World, frame: int) -> Iterator[Action]:
    """What the shapes do that can be seen in this frame."""
    last = len(world.camera) - 1
    for index, life in enumerate(world.lives):
        name, visible = f"shape-{index}", world.in_view(life) & ~world.hidden(index)
        if not visible[frame]:
            continue
        # By `there`, not `visible`: what a wall or the camera reveals does not appear.
        if frame and not life.there[frame - 1]:
            yield Action(subject=name, verb="appear")
        if frame < last and not life.there[frame + 1]:
            yield Action(subject=name, verb="disappear")
        if frame and visible[frame - 1]:
            before, now = life.corners[frame - 1 : frame + 1].tolist()
            if verb := movement(now[0] - before[0], now[1] - before[1]):
                yield Action(subject=name, verb=verb)
            if life.phrases[frame] != life.phrases[frame - 1]:
                yield Action(subject=name, verb=f"turn {life.phrases[frame].split()[0]}")


def _wall_actions(world: World, frame: int) -> Iterator[Action]:
    """Walls come and go."""
    for index, w in enumerate(w for w in world.walls if w.first <= frame <= w.last):
        if frame == w.first:
            yield Action(subject=f"{WALL}-{index}", verb="appear")
        if frame == w.last:
            yield Action(subject=f"{WALL}-{index}", verb="disappear")
