"""A video as a reasoner understands it, from the views of its frames: what stays the same thing,
what moves, comes and goes, and where the camera turns. No annotation is read.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from jaxtyping import Int

from cuescope_sdk import Frame, UserError, digest
from cuescope_sdk.grounding import Action, SceneFrame, Thing, relation_holds
from cuescope_shape_world.detector import View, VisibleThing, read_pixels
from cuescope_shape_world.pictures import HEIGHT, WIDTH
from cuescope_shape_world.scenes import CLOSED, motion, movement
from cuescope_shape_world.words import HILL, WALL

AGREE = 0.75  # share of the skyline that must be the same after a shift
KEPT = 1024  # videos that are remembered: several reasoners are shown the same
_KNOWN: dict[tuple[str, ...], tuple[tuple[SceneFrame, ...], str]] = {}


def track_frames(frames: Sequence[Frame]) -> tuple[tuple[SceneFrame, ...], str]:
    """The scene of a video, and a digest of all that is seen; the last videos are remembered.

    Raises UserError for frames of another size than this world's.
    """
    keys = tuple(frame.key for frame in frames)
    tracked = _KNOWN.get(keys)
    if tracked is None:
        views = {key: _view(frame) for key, frame in zip(keys, frames, strict=True)}
        things = [[(thing.phrase, thing.box) for thing in views[key].things] for key in keys]
        hills = [views[key].skyline for key in keys]
        tracked = track([views[key] for key in keys]), digest(things, hills)
        if len(_KNOWN) >= KEPT:
            _KNOWN.clear()
        _KNOWN[keys] = tracked
    return tracked


def _view(frame: Frame) -> View:
    pixels = np.asarray(frame.load())
    if pixels.shape[:2] != (HEIGHT, WIDTH):
        raise UserError(
            "a frame that is not of shape-world",
            expected=f"{WIDTH} x {HEIGHT} pixels",
            got=f"{pixels.shape[1]} x {pixels.shape[0]}",
            remedy="Audit this model with --data shape-world",
        )
    return read_pixels(pixels)


def track(views: Sequence[View]) -> tuple[SceneFrame, ...]:
    """A scene a frame, of what can be seen; relations are left to the boxes.

    It says of a video of this world what `scenes.scene` knows of it, but for what is hidden.
    """
    shifts = [0, *map(shift, views, views[1:])] if views else []
    identities = _Identities()
    things = [
        identities.assign(view.things, step) for view, step in zip(views, shifts, strict=True)
    ]
    return tuple(
        SceneFrame(
            things=tuple(things[at].values()),
            actions=tuple(_actions(things, shifts, at)),
            motion=motion(shifts[at] or 0),
            closed=CLOSED,
        )
        for at in range(len(views))
    )


def shift(view: View, later: View) -> int | None:
    """Pixels that the view went to the right between two frames, by the skyline.

    At most half of the width; None where no shift lays one skyline over the other.
    """
    skyline, other = view.skyline, later.skyline
    width = len(skyline)
    if np.array_equal(skyline, other):
        return 0
    if len(other) != width:
        return None
    # Hills repeat by chance: of shifts that agree alike, the smallest is what a camera does.
    best = max(
        range(-width // 2, width // 2 + 1),
        key=lambda by: (_agreement(skyline, other, by), -abs(by)),
    )
    return best if _agreement(skyline, other, best) >= AGREE else None


def _agreement(skyline: Int[np.ndarray, " col"], other: Int[np.ndarray, " col"], by: int) -> float:
    """Share of columns with equal heights, where the two overlap."""
    width = len(skyline)
    ours = skyline[max(by, 0) : width + min(by, 0)]
    theirs = other[max(-by, 0) : width + min(-by, 0)]
    return float((ours == theirs).mean())


@dataclass
class _Identities:
    """Gives things their ids: a phrase keeps its id; a new colour at an old place is a change."""

    ids: dict[str, str] = field(default_factory=dict)
    before: dict[str, Thing] = field(default_factory=dict)

    def assign(self, visible: Sequence[VisibleThing], step: int | None) -> dict[str, Thing]:
        """The things of the next frame by id; the first of several that have one phrase."""
        phrases = {thing.phrase for thing in visible}
        now: dict[str, Thing] = {}
        for thing in visible:
            key = self.ids.setdefault(thing.phrase, self._former_id(thing, phrases, step))
            identified = Thing(id=key, name=thing.name, attributes=(thing.colour,), box=thing.box)
            now.setdefault(key, identified)
        self.before = now
        return now

    def _former_id(self, thing: VisibleThing, phrases: set[str], step: int | None) -> str:
        """The id of what had another colour here; else the phrase itself."""
        for key, old in self.before.items():
            same = old.name == thing.name and step == 0 and old.box == thing.box
            if same and f"{old.attributes[0]} {old.name}" not in phrases:
                return key
        return thing.phrase


def _actions(
    things: Sequence[dict[str, Thing]], shifts: Sequence[int | None], at: int
) -> list[Action]:
    """What is done from the frame before to this one, and what is seen here for the last time."""
    actions = []
    for key, thing in things[at].items():
        verbs: list[str | None] = []
        # Only while the camera stands: else things come into view, and leave it, by its turning.
        if at and shifts[at] == 0 and _is_new(thing, things[at - 1]):
            verbs.append("appear")
        if at + 1 < len(things) and shifts[at + 1] == 0 and _is_new(thing, things[at + 1]):
            verbs.append("disappear")
        step, before = shifts[at], things[at - 1].get(key) if at else None
        if before is not None and step is not None and thing.name != HILL:
            if before.box is not None and thing.box is not None:
                dx, dy = (round(thing.box[axis] - before.box[axis]) for axis in (0, 1))
                verbs.append(movement(dx + step, dy))  # in the panorama, not in the view
            if before.attributes != thing.attributes:
                verbs.append(f"turn {thing.attributes[0]}")
        actions += [Action(subject=key, verb=verb) for verb in verbs if verb]
    return actions


def _is_new(thing: Thing, others: dict[str, Thing]) -> bool:
    """Whether it is not among the things of a neighbouring frame, nor behind a wall there."""
    walls = [other.box for other in others.values() if other.name == WALL]
    return thing.id not in others and not any(
        thing.box and wall and relation_holds("inside", thing.box, wall) for wall in walls
    )
