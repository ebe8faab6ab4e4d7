"""A video as a reasoner understands it, from the views of its frames: what stays the same thing,
what moves, comes and goes, and where the camera turns. No annotation is read.
"""

from collections.abc import Iterator, Sequence
from functools import partial

import numpy as np

from cuescope_sdk import Frame, UserError, digest
from cuescope_sdk.grounding import Thing
from cuescope_shape_world.detector import Skyline, View, VisibleThing, read_pixels
from cuescope_shape_world.pictures import HEIGHT, WIDTH
from cuescope_shape_world.questions import Scene, Things, phrase
from cuescope_shape_world.scenes import Shifts, build_graphs

AGREE = 0.75  # share of the skyline that must be the same after a shift
KEPT = 1024  # videos that are remembered: several reasoners are shown the same
_CACHE: dict[tuple[str, ...], tuple[Scene, str]] = {}


def track_frames(frames: Sequence[Frame]) -> tuple[Scene, str]:
    """The scene of a video, and a digest of all that is seen; the last videos are remembered.

    Raises UserError for frames of another size than this world's.
    """
    keys = tuple(frame.key for frame in frames)
    if keys not in _CACHE:
        # a frame that is shown again is read once
        distinct = {frame.key: _view(frame) for frame in frames}
        views = list(map(distinct.__getitem__, keys))
        if len(_CACHE) >= KEPT:
            _CACHE.clear()
        _CACHE[keys] = track(views), _content(views)
    return _CACHE[keys]


def _content(views: Sequence[View]) -> str:
    """A digest of all that is seen."""
    shapes = []
    skylines = []
    for view in views:
        visible = [(item.phrase, item.box) for item in view.things]
        shapes.append(visible)
        skylines.append(view.skyline)
    return digest(shapes, skylines)


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


def track(views: Sequence[View]) -> Scene:
    """A scene a frame, of what can be seen; relations are left to the boxes.

    It says of a video of this world what `scenes.scene` knows of it, but for what is hidden.
    """
    shifts = [0, *map(shift, views, views[1:])]
    things = list(_identify(views, shifts))
    return tuple(build_graphs(things, shifts))


def shift(view: View, later: View) -> int | None:
    """Pixels that the view went to the right between two frames, by the skyline.

    At most half of the width; None where no shift lays one skyline over the other.
    """
    skyline = view.skyline
    other = later.skyline
    width = len(skyline)
    if np.array_equal(skyline, other):
        return 0
    # Hills repeat by chance: of shifts that agree alike, the smallest is what a camera does.
    shifts = sorted(range(-width // 2, width // 2 + 1), key=abs)
    agreement = partial(_agreement, skyline, other)
    best = max(shifts, key=agreement)
    return best if agreement(best) >= AGREE else None


def _agreement(
    skyline: Skyline,
    other: Skyline,
    by: int,
) -> float:
    """Share of columns with equal heights, where the two overlap."""
    # a turn to the left is one to the right, seen backwards
    if by < 0:
        return _agreement(other, skyline, -by)
    equal = skyline[by:] == other[: len(other) - by]
    return float(equal.mean())


def _identify(views: Sequence[View], shifts: Shifts) -> Iterator[Things]:
    """The things of each frame by id; the first of several that have one phrase.

    A phrase keeps its id; a new colour at an old place is a change.
    """
    ids: dict[str, str] = {}
    before: Things = {}
    # strict=False: the first view alone, or none, has a shift too
    for view, step in zip(views, shifts, strict=False):
        phrases = {visible.phrase for visible in view.things}
        now: Things = {}
        for visible in view.things:
            key = ids.get(visible.phrase)
            if key is None:
                # places in the view are those in the panorama only while the camera stands
                former = before if step == 0 else {}
                key = _former_id(visible, former, phrases)
                ids[visible.phrase] = key
            thing = Thing(
                id=key,
                name=visible.name,
                attributes=(visible.colour,),
                box=visible.box,
            )
            now.setdefault(key, thing)
        yield now
        before = now


def _former_id(
    visible: VisibleThing,
    before: Things,
    phrases: set[str],
) -> str:
    """The id of what had another colour here; else the phrase itself."""
    for key, thing in before.items():
        same = thing.name == visible.name and thing.box == visible.box
        if same and phrase(thing) not in phrases:
            return key
    return visible.phrase
