"""Questions over time, their choices, and their answers by what the frames show.

A kind of question is asked of a scene where it has one plain answer, and is answered from any
scene: the annotated one for the label, or one that was read from pixels.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import pairwise, permutations
from typing import NamedTuple

import numpy as np

from cuescope_sdk.grounding import SceneFrame, Thing, box_centre, relation_holds
from cuescope_shape_world.words import COLOURS, FRAME_SECONDS, KINDS, WALL

Scene = Sequence[SceneFrame]
CHOICES = 4  # shapes to choose from
CLEAR = 6.0  # px between two centres along the axis that a question is about
YES_NO = ("yes", "no")
SIDES = ("left", "right")
PLACES = ("left of", "right of", "above", "below")
_PHRASE = rf"(?:{'|'.join(COLOURS)}) (?:{'|'.join(KINDS)})"


class Question(NamedTuple):
    """What is asked, of which kind, among which choices, and the right one."""

    text: str
    kind: str
    choices: tuple[str, ...]
    answer: str


def ask(scene: Scene, rng: np.random.Generator, first: int = 0) -> Question:
    """A question about a scene: of the first kind from the `first` on that has a plain answer."""
    kinds = list(_ASKING)
    start = first % len(kinds)
    for kind in kinds[start:] + kinds[:start]:
        texts = list(_ASKING[kind](scene))
        rng.shuffle(texts)
        for text in texts:
            right = answer(text, scene)
            if right is not None:
                return Question(text, kind, _choices(right, scene, rng), right)
    raise ValueError("a scene in which the camera turns can be asked about")


def answer(text: str, scene: Scene) -> str | None:
    """The right answer to the question within `text`; None where it is none of this world's."""
    for pattern, find in _ANSWERING.items():
        if match := re.search(pattern, text, re.IGNORECASE):
            return find(scene, *(group.lower() for group in match.groups()))
    return None


def phrases_in(text: str) -> tuple[str, ...]:
    """The shapes that a text names, in order, each once."""
    return tuple(dict.fromkeys(re.findall(_PHRASE, text.lower())))


def phrase(thing: Thing) -> str:
    return f"{thing.attributes[0]} {thing.name}"


def shapes(frame: SceneFrame) -> dict[str, Thing]:
    """The shapes that can be seen, by phrase."""
    return {phrase(thing): thing for thing in frame.things if thing.visible and thing.name in KINDS}


def all_shapes(scene: Scene) -> set[str]:
    """The shapes that any frame shows, by phrase."""
    return {name for frame in scene for name in shapes(frame)}


def events(scene: Scene, verb: str) -> list[tuple[int, str]]:
    """When which shape does it, in order of time."""
    events = []
    for index, frame in enumerate(scene):
        doers = {action.subject for action in frame.actions if action.verb == verb}
        events += [(index, name) for name, thing in shapes(frame).items() if thing.id in doers]
    return events


def turns(scene: Scene) -> list[tuple[int, str]]:
    """The frame in which each turn of the camera starts, and its side."""
    motions = [frame.motion for frame in scene]
    starts = zip([None, *motions], motions, strict=False)
    return [
        (index, motion.removeprefix("turn "))
        for index, (before, motion) in enumerate(starts)
        if motion is not None and motion != before
    ]


# ------------------------------------------------------------------------------------ answering


def _extreme(scene: Scene, which: str) -> str | None:
    """The shape that appears first or last; None where two do at once."""
    arrivals = events(scene, "appear")
    times = [index for index, _ in arrivals]
    end = -1 if which == "last" else 0
    return arrivals[end][1] if arrivals and times.count(times[end]) == 1 else None


def _colour(scene: Scene, kind: str) -> str | None:
    """Of the one shape of a kind in the last frame."""
    things = [thing for thing in scene[-1].things if thing.name == kind]
    return things[0].attributes[0] if len(things) == 1 and things[0].visible else None


def _order(scene: Scene, name: str, verb: str, other: str) -> str | None:
    """Whether `name` does it before `other` does the opposite; None where that is hard to say."""
    first_arrival, first_leave = (
        {name: at for at, name in reversed(events(scene, verb))} for verb in ("appear", "disappear")
    )
    comer, goer = (name, other) if verb == "appear" else (other, name)
    if comer not in first_arrival or goer not in first_leave:
        return None
    # A shape disappears in the last frame that shows it: what comes in that frame or in the next
    # comes as the other goes.
    if 0 <= first_arrival[comer] - first_leave[goer] <= 1:
        return None
    return YES_NO[(first_arrival[comer] < first_leave[goer]) != (verb == "appear")]


def _turn(scene: Scene, which: str) -> str | None:
    sides = [side for _, side in turns(scene)]
    return sides[-1 if which == "last" else 0] if sides else None


def _turn_after(scene: Scene, name: str, verb: str) -> str | None:
    times = [at for at, doer in events(scene, verb.removesuffix("s")) if doer == name]
    return next((side for start, side in turns(scene) if times and start > times[0]), None)


def _place(
    scene: Scene, name: str, relation: str, other: str, minute: str, second: str
) -> str | None:
    """Whether it holds at a time; None where either is out of sight or the two are level."""
    index = round((60 * int(minute) + int(second)) / FRAME_SECONDS)
    visible = shapes(scene[index]) if index < len(scene) else {}
    if name not in visible or other not in visible:
        return None
    ours, theirs = visible[name].box, visible[other].box
    if ours is None or theirs is None:
        return None
    axis = 0 if relation in ("left of", "right of") else 1
    if abs(box_centre(ours)[axis] - box_centre(theirs)[axis]) < CLEAR:
        return None
    return YES_NO[not relation_holds(relation, ours, theirs)]


def _hidden(scene: Scene) -> str | None:
    """The shape before which a wall comes to stand."""
    for before, now in pairwise(scene):
        for wall in (thing.box for thing in now.things if thing.name == WALL):
            for name, thing in shapes(before).items():
                if thing.box and wall and relation_holds("inside", thing.box, wall):
                    return name
    return None


# With a few words that say the same, so that a question may be asked otherwise. They are sought
# within a text, as a prompt may add to the question.
_END = r"(first|initially|last)"
_TURN = r"which way does the camera (?:turn|rotate)"
_ANSWERING: Mapping[str, Callable[..., str | None]] = {
    rf"which shape appears {_END}\?": _extreme,
    rf"(?:what|which) colour is the ({'|'.join(KINDS)}) (?:at|in) the end\?": _colour,
    rf"does the ({_PHRASE}) (appear|disappear) before the ({_PHRASE}) (?:dis)?appears\?": _order,
    rf"{_TURN} {_END}\?": _turn,
    rf"{_TURN} after the ({_PHRASE}) ((?:dis)?appears)\?": _turn_after,
    rf"is the ({_PHRASE}) ({'|'.join(PLACES)}) the ({_PHRASE}) at (\d+):(\d\d)\?": _place,
    r"which shape is hidden by the wall\?": _hidden,
}


# --------------------------------------------------------------------------------------- asking


def _ask_order(scene: Scene) -> Iterator[str]:
    for _, comer in events(scene, "appear"):
        for _, goer in events(scene, "disappear"):
            if comer != goer:
                yield f"Does the {comer} appear before the {goer} disappears?"
                yield f"Does the {goer} disappear before the {comer} appears?"


def _ask_turn(scene: Scene) -> Iterator[str]:
    for verb in ("appear", "disappear"):
        for _, name in events(scene, verb):
            yield f"Which way does the camera turn after the {name} {verb}s?"
    yield "Which way does the camera turn first?"
    yield "Which way does the camera turn last?"


def _ask_place(scene: Scene) -> Iterator[str]:
    """At whole seconds."""
    for second in range(1, int(len(scene) * FRAME_SECONDS)):
        time = f"{second // 60}:{second % 60:02d}"
        for name, other in permutations(shapes(scene[round(second / FRAME_SECONDS)]), 2):
            for relation in PLACES:
                yield f"Is the {name} {relation} the {other} at {time}?"


_ASKING: Mapping[str, Callable[[Scene], Iterator[str]]] = {
    "appearing": lambda scene: (f"Which shape appears {which}?" for which in ("first", "last")),
    "colour": lambda scene: (f"What colour is the {kind} at the end?" for kind in KINDS),
    "order": _ask_order,
    "turn": _ask_turn,
    "place": _ask_place,
    "hidden": lambda scene: iter(("Which shape is hidden by the wall?",)),
}


def _choices(right: str, scene: Scene, rng: np.random.Generator) -> tuple[str, ...]:
    """All answers of the right one's sort; of shapes, a few that are seen, in any order."""
    for known in (YES_NO, SIDES, tuple(COLOURS)):
        if right in known:
            return known
    others = [str(name) for name in rng.permutation(sorted(all_shapes(scene) - {right}))]
    return tuple(map(str, rng.permutation([right, *others[: CHOICES - 1]])))
