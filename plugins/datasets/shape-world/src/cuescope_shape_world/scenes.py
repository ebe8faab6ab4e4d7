"""What each frame shows of a world: the picture, and everything that can be said of it."""

from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import permutations

import numpy as np

from cuescope_sdk.grounding import RELATIONS, Action, Relation, SceneFrame, Thing
from cuescope_shape_world.pictures import HORIZON, SIDE, WIDTH, Picture
from cuescope_shape_world.questions import Scene, Things, stands
from cuescope_shape_world.words import HILL, WALL
from cuescope_shape_world.worlds import World

Box = tuple[float, float, float, float]
# px to the right since the frame before; None is not known
Shifts = Sequence[int | None]
WALL_ID = f"{WALL}-0"  # there is one at most
CLOSED = frozenset(("things", "attributes", "relations", "actions", "motion"))


def pictures(world: World) -> tuple[Picture, ...]:
    """A picture a frame."""
    frames = range(len(world.camera))
    return tuple(_picture(world, frame) for frame in frames)


def scene(world: World) -> Scene:
    """A scene graph a frame, whole: what is missing from it is not so.

    What a shape does in a frame it does since the frame before; it disappears in the last frame
    that shows it. What comes into view as the camera turns, or from behind a wall, does not appear.
    """
    camera = world.camera
    shifts = np.diff(camera, prepend=camera[:1]).tolist()
    things = []
    for frame in range(len(shifts)):
        by_id = {item.id: item for item in _things(world, frame)}
        things.append(by_id)
    graphs = []
    # a reasoner asks the boxes: only the annotated scene compares all pairs beforehand
    for graph in build_graphs(things, shifts):
        related = {"relations": tuple(relations(graph.things))}
        graphs.append(graph.model_copy(update=related))
    return tuple(graphs)


def build_graphs(
    things: Sequence[Things],
    shifts: Shifts,
) -> Iterator[SceneFrame]:
    """A scene graph a frame, of its things by id, and px that the view went to the right before it.

    Relations are left to the boxes.
    """
    for index, by_id in enumerate(things):
        yield SceneFrame(
            things=tuple(by_id.values()),
            actions=tuple(actions(things, shifts, index)),
            motion=motion(shifts[index]),
            closed=CLOSED,
        )


def motion(shift: int | None) -> str | None:
    """What the camera does when the view goes so many pixels to the right."""
    # where no shift fits, no turn is seen
    if not shift:
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
                yield Relation(
                    subject=subject.id,
                    predicate=predicate,
                    object=other.id,
                )
        # pixels show no place of what is hidden, only that something is behind the wall
        elif other.name == WALL and stands(subject, "inside", other):
            yield Relation(
                subject=subject.id,
                predicate="behind",
                object=other.id,
            )
            yield Relation(
                subject=other.id,
                predicate="in front of",
                object=subject.id,
            )


# Shapes stand still in most frames: the same two boxes are compared over and over.
@lru_cache(maxsize=65536)
def _flat_relations(box: Box, other: Box) -> tuple[str, ...]:
    # of those in depth boxes tell nothing
    return tuple(name for name, rule in RELATIONS.items() if rule.holds(box, other))


def _picture(world: World, frame: int) -> Picture:
    shapes = []
    for index, life in enumerate(world.lives):
        if world.is_visible(index, frame):
            x, y = life.places[frame].tolist()
            shapes.append((life.phrases[frame], x, y))
    walls = tuple(wall.box for wall in world.walls_at(frame))
    return Picture(tuple(shapes), walls, world.heights(frame))


def _things(world: World, frame: int) -> Iterator[Thing]:
    """Shapes, also those behind a wall; the walls; the skyline, as high as its highest part."""
    for index, life in enumerate(world.lives):
        if life.in_view[frame]:
            colour, kind = life.phrases[frame].split()
            x, y = life.places[frame].tolist()
            yield Thing(
                id=f"shape-{index}",
                name=kind,
                attributes=(colour,),
                box=(x, y, x + SIDE, y + SIDE),
                visible=world.is_visible(index, frame),
            )
    for wall in world.walls_at(frame):
        yield Thing(
            id=WALL_ID,
            name=WALL,
            attributes=("grey",),
            box=wall.box,
        )
    top = HORIZON - max(world.heights(frame))
    yield Thing(
        id=HILL,
        name=HILL,
        attributes=("black",),
        box=(0, top, WIDTH, HORIZON),
    )


def actions(
    things: Sequence[Things],
    shifts: Shifts,
    index: int,
) -> Iterator[Action]:
    """What is done from the frame before to this one, and what is seen here for the last time."""
    before = things[index - 1] if index else {}
    # Only while the camera stands: else things come into view, and leave it, by its turning.
    stood = index > 0 and shifts[index] == 0
    stands_on = shifts[index + 1 : index + 2] == [0]
    for item in things[index].values():
        if not item.visible:
            continue
        if stood and _is_new(item, before):
            yield Action(subject=item.id, verb="appear")
        if stands_on and _is_new(item, things[index + 1]):
            yield Action(subject=item.id, verb="disappear")
        if item.id in before:
            for verb in _changes(before[item.id], item, shifts[index]):
                yield Action(subject=item.id, verb=verb)


def _changes(
    before: Thing,
    now: Thing,
    step: int | None,
) -> Iterator[str]:
    """What a shape or wall did between two frames, while the view went by `step` px."""
    # the skyline changes as the camera turns: that is no deed of the hill
    if step is None or now.name == HILL:
        return
    if before.box is not None and now.box is not None:
        dx = round(now.box[0] - before.box[0])
        dy = round(now.box[1] - before.box[1])
        verb = movement(dx + step, dy)  # in the panorama, not in the view
        if verb:
            yield verb
    if before.attributes != now.attributes:
        yield f"turn {now.attributes[0]}"


def _is_new(thing: Thing, others: Things) -> bool:
    """Whether it is not among the things of a neighbouring frame, nor behind a wall there."""
    if thing.id in others:
        return False
    for other in others.values():
        if other.name == WALL and stands(thing, "inside", other):
            return False
    return True
