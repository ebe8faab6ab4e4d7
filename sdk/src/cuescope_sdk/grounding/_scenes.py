"""Facts about each frame of a video: things with boxes, relations, actions, the camera.

A data set that knows it puts it under `SCENE` in a sample's annotations; times under `TIMES`.
"""

from collections.abc import Iterator
from typing import ClassVar

from cuescope_core.types import Value

SCENE = "scene"  # tuple[SceneFrame, ...], one a frame
TIMES = "times"  # seconds of each frame from the start of the video, one a frame


class Thing(Value):
    """A thing in a frame: `id` is the same in all frames; `box` (x0, y0, x1, y1) in pixels.

    `visible` False is there but cannot be seen (occluded); `box` None is seen at no known place.
    """

    id: str
    name: str
    attributes: tuple[str, ...] = ()
    box: tuple[float, float, float, float] | None = None
    visible: bool = True  # a simulator knows what is behind a door


class Relation(Value):
    """Between two things of a frame, by id, in words of `RELATIONS` or the data's own."""

    subject: str
    predicate: str
    object: str


class Action(Value):
    """Action of a thing in a frame: the verb's lemma with its particle ("pick up")."""

    subject: str
    verb: str
    object: str | None = None


class SceneFrame(Value):
    """One frame; its `motion` is one of `MOTIONS`.

    `closed` names the kinds of which everything is told: what is missing is not so. The kinds are
    "things", "attributes", "relations", "actions" and "motion"; of others, nothing follows from
    what is missing.
    """

    # what an agent or camera may do between the frame before and this one
    MOTIONS: ClassVar[tuple[str, ...]] = (
        "turn left",
        "turn right",
        "turn around",
        "look up",
        "look down",
        "move forward",
        "move backward",
        "go up",
        "go down",
        "stop",
    )

    things: tuple[Thing, ...] = ()
    relations: tuple[Relation, ...] = ()
    actions: tuple[Action, ...] = ()
    motion: str | None = None
    # empty: annotators rarely write down everything
    closed: frozenset[str] = frozenset()

    def named(self, name: str) -> Iterator[Thing]:
        """The things of this name."""
        return (item for item in self.things if item.name == name)
