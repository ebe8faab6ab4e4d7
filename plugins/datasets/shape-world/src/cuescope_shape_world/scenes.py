"""What each frame shows of a world: the picture, and everything that can be said of it."""

from collections.abc import Iterator, Sequence
from functools import lru_cache, partial
from itertools import permutations

import numpy as np

from cuescope_sdk.grounding import RELATIONS, Action, Relation, SceneFrame, Thing
from cuescope_shape_world.pictures import BLOCK, HORIZON, SIDE, WIDTH, Picture
from cuescope_shape_world.words import HILL, WALL
from cuescope_shape_world.worlds import Wall, World, wall_box

Box = tuple[float, float, float, float]
CLOSED = frozenset(("things", "attributes", "relations", "actions", "motion"))


def pictures(world: World) -> tuple[Picture, ...]:
    """A picture a frame."""
    return tuple(map(partial(_picture, world), range(len(world.camera))))


def scene(world: World) -> tuple[SceneFrame, ...]:
    """A scene graph a frame, whole: what is missing from it is not so.

    What a shape does in a frame it does since the frame before; it disappears in the last frame
    that shows it. What comes into view as the camera turns, or from behind a wall, does not appear.
    """
    shifts = np.diff(world.camera, prepend=world.camera[:1]).tolist()
    graphs = []
    for frame, picture in enumerate(pictures(world)):
        things = _things(world, frame, picture)
        actions = (*_shape_actions(world, frame), *_wall_actions(world, frame))
        graph = SceneFrame(
            things=things,
            relations=tuple(relations(things)),
            actions=actions,
            motion=motion(shifts[frame]),
            closed=CLOSED,
        )
        graphs.append(graph)
    return tuple(graphs)


def motion(shift: int) -> str | None:
    """What the camera does when the view goes so many pixels to the right."""
    if shift == 0:
        return None
    return "turn right" if shift > 0 else "turn left"


def movement(dx: int, dy: int) -> str | None:
    """The verb of a displacement in pixels, by its larger part."""
    if dx == dy == 0:
        return None
    if abs(dx) >= abs(dy):
        return "move right" if dx > 0 else "move left"
    return "move down" if dy > 0 else "move up"


def relations(things: Sequence[Thing]) -> Iterator[Relation]:
    """Of every two things that can be seen, by their boxes; and what is behind a wall."""
    for subject, other in permutations(things, 2):
        if subject.box is None or other.box is None:
            continue
        if subject.visible and other.visible:
            for predicate in _flat_relations(subject.box, other.box):
                yield _relation(subject, predicate, other)
        # pixels show no place of what is hidden, only that something is behind the wall
        elif other.name == WALL and RELATIONS["inside"].holds(subject.box, other.box):
            yield _relation(subject, "behind", other)
            yield _relation(other, "in front of", subject)


def _relation(subject: Thing, predicate: str, other: Thing) -> Relation:
    return Relation(subject=subject.id, predicate=predicate, object=other.id)


# Shapes stand still in most frames: the same two boxes are compared over and over.
@lru_cache(maxsize=65536)
def _flat_relations(box: Box, other: Box) -> tuple[str, ...]:
    # of those in depth boxes tell nothing
    held = (relation for relation in RELATIONS.values() if relation.holds(box, other))
    return tuple(relation.name for relation in held)


def _picture(world: World, frame: int) -> Picture:
    left = int(world.camera[frame])
    skyline = world.skyline[left // BLOCK : (left + WIDTH) // BLOCK]
    shapes = []
    for index, life in enumerate(world.lives):
        if world.visible(index)[frame]:
            x, y = world.corner(index, frame)
            shapes.append((life.phrases[frame], x, y))
    walls = map(partial(wall_box, world), _walls(world, frame))
    return Picture(tuple(shapes), tuple(walls), tuple(skyline.tolist()))


def _walls(world: World, frame: int) -> list[Wall]:
    """The walls that stand in this frame."""
    return [wall for wall in world.walls if wall.first <= frame <= wall.last]


def _things(world: World, frame: int, picture: Picture) -> tuple[Thing, ...]:
    """Shapes, also those behind a wall; the walls; the skyline, as high as its highest part."""
    things = []
    for index, life in enumerate(world.lives):
        if not world.in_view(life)[frame]:
            continue
        colour, kind = life.phrases[frame].split()
        x, y = world.corner(index, frame)
        shape = Thing(
            id=f"shape-{index}",
            name=kind,
            attributes=(colour,),
            box=(x, y, x + SIDE, y + SIDE),
            visible=not world.hidden(index)[frame],
        )
        things.append(shape)
    for index, box in enumerate(picture.walls):
        wall = Thing(id=f"{WALL}-{index}", name=WALL, attributes=("grey",), box=box)
        things.append(wall)
    skyline = (0, HORIZON - max(picture.skyline), WIDTH, HORIZON)
    things.append(Thing(id=HILL, name=HILL, attributes=("black",), box=skyline))
    return tuple(things)


def _shape_actions(world: World, frame: int) -> Iterator[Action]:
    """What the shapes do that can be seen in this frame."""
    last = len(world.camera) - 1
    for index, life in enumerate(world.lives):
        name = f"shape-{index}"
        visible = world.visible(index)
        if not visible[frame]:
            continue
        # By `there`, not `visible`: what a wall or the camera reveals does not appear.
        if frame and not life.there[frame - 1]:
            yield Action(subject=name, verb="appear")
        if frame < last and not life.there[frame + 1]:
            yield Action(subject=name, verb="disappear")
        # a movement is told from the frame before, which must show it too
        if frame and visible[frame - 1]:
            step = life.corners[frame] - life.corners[frame - 1]
            verb = movement(*step.tolist())
            if verb:
                yield Action(subject=name, verb=verb)
            if life.phrases[frame] != life.phrases[frame - 1]:
                colour = life.phrases[frame].split()[0]
                yield Action(subject=name, verb=f"turn {colour}")


def _wall_actions(world: World, frame: int) -> Iterator[Action]:
    """Walls come and go."""
    for index, wall in enumerate(_walls(world, frame)):
        if frame == wall.first:
            yield Action(subject=f"{WALL}-{index}", verb="appear")
        if frame == wall.last:
            yield Action(subject=f"{WALL}-{index}", verb="disappear")
